/** Brings an account and wrangler.toml to where `wrangler deploy` works. Every step finds what is there before it creates anything. */
import { randomBytes } from "node:crypto";
import { Failure } from "../local/failure.ts";
import { faultOfSecret, type SecretName } from "../local/secrets.ts";
import {
	checkLogin,
	findOrCreateDatabase,
	findOrCreateNamespace,
	findOrCreateQueue,
	type Location,
	listSecrets,
	locationOptions,
	RETENTION_OPTIONS,
	type RunWrangler,
	type Say,
	setSecrets,
	succeed,
} from "./account.ts";
import { readNames, type Workers, writeConfig } from "./write-config.ts";

export const URLS = ["RTB_URL", "CLICK_URL", "TRACKER_URL", "BASE_URL"] as const;

const SECRET_NAMES = ["TOKEN_KEYS", "OPERATOR_KEY"] as const satisfies readonly SecretName[];

export type ProvisionOptions = {
	/** Edge and origin instead of one Worker. */
	split: boolean;
	/** Where D1 is to keep new databases. */
	location?: Location | undefined;
	/** Variables to write. */
	variables: Readonly<Record<string, string>>;
	/** Secrets to use instead of new ones; one that is empty is none. */
	given: Readonly<Partial<Record<SecretName, string | undefined>>>;
};

export type ProvisionDeps = {
	run: RunWrangler;
	say: Say;
	readConfig: () => Promise<string>;
	writeConfig: (toml: string) => Promise<void>;
	/** Told of secrets that are made, before any is set: what breaks off afterwards loses none. */
	showSecrets: (made: Made) => void;
};

/** Secrets that were made. */
export type Made = Record<string, string>;

/** @throws Failure that says what to do next; what was done until then stays, and is found by the next run */
export async function provision(deps: ProvisionDeps, options: ProvisionOptions): Promise<Made> {
	const { run, say } = deps;
	const given = readGiven(options.given);
	await checkLogin(run);
	const toml = await deps.readConfig();
	const names = readNames(toml);
	const databases = new Map<string, string>();
	for (const name of names.databases) databases.set(name, await findOrCreateDatabase(run, name, options.location, say));
	const book = await findOrCreateNamespace(run, namespaceOf(names.workers.all), say);
	for (const queue of names.queues) await findOrCreateQueue(run, queue, say);

	const written = writeConfig(toml, { databases, book, variables: options.variables });
	if (written === toml) say("unchanged wrangler.toml");
	else {
		await deps.writeConfig(written);
		say("wrote     wrangler.toml");
	}
	const environment = options.split ? ["--env", "origin"] : ["--env", ""];
	for (const binding of names.migrated) {
		await succeed(run, ["d1", "migrations", "apply", binding, "--remote", ...environment]);
		say(`migrated  ${binding}`);
	}
	return secure(deps, { split: options.split, given }, names.workers);
}

/** @throws Failure where a Worker could not run with one of them */
function readGiven(given: ProvisionOptions["given"]): ProvisionOptions["given"] {
	return Object.fromEntries(
		SECRET_NAMES.flatMap((name) => {
			const value = given[name]?.trim();
			if (!value) return [];
			const fault = faultOfSecret(name, value);
			if (fault !== null) throw new Failure(`${name} in the environment ${fault}. Change it, or unset it to get a fresh one.`);
			return [[name, value]];
		}),
	);
}

function namespaceOf(worker: string): string {
	return `${worker}-book`;
}

/** Which Worker needs which secret. Edge and origin must have the same TOKEN_KEYS: one mints what the other opens. */
function wantedSecrets(split: boolean, workers: Workers): [worker: string, secrets: string[]][] {
	if (!split) return [[workers.all, ["TOKEN_KEYS", "OPERATOR_KEY"]]];
	return [
		[workers.edge, ["TOKEN_KEYS"]],
		[workers.origin, ["TOKEN_KEYS", "OPERATOR_KEY"]],
	];
}

async function secure(
	{ run, say, showSecrets }: ProvisionDeps,
	options: Pick<ProvisionOptions, "split" | "given">,
	workers: Workers,
): Promise<Made> {
	const wanted = wantedSecrets(options.split, workers);
	const present = new Map<string, string[]>();
	for (const [worker] of wanted) present.set(worker, await listSecrets(run, worker));
	const made: Made = {};
	const values: Record<string, string> = {};
	for (const name of SECRET_NAMES) {
		const needing = wanted.filter(([, secrets]) => secrets.includes(name)).map(([worker]) => worker);
		const lacking = needing.filter((worker) => present.get(worker)?.includes(name) !== true);
		if (lacking.length === 0) continue;
		const given = options.given[name];
		if (given === undefined && name === "TOKEN_KEYS") await refuseOtherKeys(run, options.split, workers);
		if (given === undefined && lacking.length < needing.length)
			throw new Failure(
				`${lacking.join(", ")} has no ${name}, and the one that ${needing.filter((worker) => !lacking.includes(worker)).join(", ")} has cannot be read back. Set ${name} in the environment to that same value and run this again.`,
			);
		values[name] = given ?? randomBytes(32).toString("base64url");
		if (given === undefined) made[name] = values[name];
	}
	if (Object.keys(made).length > 0) showSecrets(made);
	for (const [worker, names] of wanted) {
		const lacking = names.filter((name) => present.get(worker)?.includes(name) !== true);
		if (lacking.length === 0) say(`found     secrets of ${worker}`);
		else {
			await setSecrets(run, worker, Object.fromEntries(lacking.map((name) => [name, values[name] ?? ""])));
			say(`set       ${lacking.join(", ")} of ${worker}`);
		}
	}
	return made;
}

/**
 * One Worker and two are of the same network: what the ones have minted the others are to open.
 * @throws Failure where a Worker that is not provisioned now has TOKEN_KEYS
 */
async function refuseOtherKeys(run: RunWrangler, split: boolean, workers: Workers): Promise<void> {
	const holders: string[] = [];
	for (const [worker] of wantedSecrets(!split, workers)) if ((await listSecrets(run, worker)).includes("TOKEN_KEYS")) holders.push(worker);
	if (holders.length === 0) return;
	throw new Failure(
		`TOKEN_KEYS are set already for ${holders.join(" and ")}. If that is what you deploy, run this ${split ? "without" : "with"} --split. To go from there to ${split ? "two Workers" : "one Worker"}, set TOKEN_KEYS in the environment to that same value and run this again: with others, links that are out would stop working.`,
	);
}

/** What a first run would do, without asking any account. */
export function describePlan(toml: string, { split, variables, location }: ProvisionOptions): string[] {
	const names = readNames(toml);
	const environment = split ? "--env origin" : '--env ""';
	return [
		...names.databases.map(
			(name) => `find or create the database ${name}:  ${["wrangler d1 create", name, ...locationOptions(location)].join(" ")}`,
		),
		`find or create the KV namespace ${namespaceOf(names.workers.all)}:  wrangler kv namespace create ${namespaceOf(names.workers.all)}`,
		...names.queues.map((name) => `find or create the queue ${name}:  wrangler queues create ${name} ${RETENTION_OPTIONS.join(" ")}`),
		"write the ids into wrangler.toml",
		...Object.entries(variables).map(([name, value]) => `write ${name} = "${value}" into wrangler.toml`),
		...names.migrated.map((binding) => `migrate ${binding}:  wrangler d1 migrations apply ${binding} --remote ${environment}`),
		...wantedSecrets(split, names.workers).map(
			([worker, secrets]) => `set ${secrets.join(" and ")} where ${worker} has none:  wrangler secret bulk --name ${worker}`,
		),
	];
}
