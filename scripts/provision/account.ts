/** What is asked of a Cloudflare account, through wrangler: find or create, never remove; of what is there, only a queue's retention is set. */
import { Failure } from "../local/failure.ts";

export type RunWrangler = (arguments_: readonly string[], input?: string) => Promise<{ code: number; output: string }>;
/** Where D1 can be asked to keep a database; it cannot be moved afterwards. */
export const LOCATIONS = ["wnam", "enam", "weur", "eeur", "apac", "oc"] as const;
export type Location = (typeof LOCATIONS)[number];

export function locationOptions(location: Location | undefined): string[] {
	return location === undefined ? [] : ["--location", location];
}

export type Say = (text: string) => void;

/** @throws Failure that says how to log in, or that Cloudflare cannot be reached */
export async function checkLogin(run: RunWrangler): Promise<void> {
	const command = ["whoami", "--json"];
	const { code, output } = await run(command);
	if (code !== 0 && /fetch failed|connectivity/i.test(output)) throw failed(command, output);
	if (code !== 0)
		throw new Failure(
			"Not logged in to Cloudflare. Run `node scripts/run.mjs wrangler login`, or set CLOUDFLARE_API_TOKEN (with CLOUDFLARE_ACCOUNT_ID where the token has several), then run this again.",
		);
}

/** @param location where D1 is to keep a new one; undefined: near whoever creates it */
export async function findOrCreateDatabase(run: RunWrangler, name: string, location: Location | undefined, say: Say): Promise<string> {
	return findOrCreate(say, `database ${name}`, {
		find: async () =>
			(await list<{ uuid: string; name: string }>(run, ["d1", "list", "--json"])).find((found) => found.name === name)?.uuid,
		create: () => succeed(run, ["d1", "create", name, ...locationOptions(location)]),
	});
}

export async function findOrCreateNamespace(run: RunWrangler, title: string, say: Say): Promise<string> {
	return findOrCreate(say, `KV namespace ${title}`, {
		find: async () =>
			(await list<{ id: string; title: string }>(run, ["kv", "namespace", "list"])).find((found) => found.title === title)?.id,
		create: () => succeed(run, ["kv", "namespace", "create", title]),
	});
}

/** The longest that a queue keeps a message: that is how long the database may be away, or full, before anything is lost. */
const QUEUE_RETENTION_SECONDS = 14 * 24 * 3_600;
export const RETENTION_OPTIONS = ["--message-retention-period-secs", String(QUEUE_RETENTION_SECONDS)];

/** Finds or creates a queue, and has it keep messages for as long as any does. */
export async function findOrCreateQueue(run: RunWrangler, name: string, say: Say): Promise<void> {
	let isNew = false;
	await findOrCreate(say, `queue ${name}`, {
		async find() {
			const { code, output } = await run(["queues", "info", name]);
			if (code === 0) return name;
			if (/does not exist|not found/i.test(output)) return undefined;
			throw failed(["queues", "info", name], output);
		},
		create: () => {
			isNew = true;
			return succeed(run, ["queues", "create", name, ...RETENTION_OPTIONS]);
		},
	});
	if (!isNew) await succeed(run, ["queues", "update", name, ...RETENTION_OPTIONS]);
}

/** Names of the secrets a Worker has; none where it was never deployed. */
export async function listSecrets(run: RunWrangler, worker: string): Promise<string[]> {
	const command = ["secret", "list", "--name", worker, "--format", "json"];
	const { code, output } = await run(command);
	if (code === 0) return parseList<{ name: string }>(command, output).map(({ name }) => name);
	// Nothing else means that: what has secrets that were not listed would be given others in their place.
	if (output.includes(`Worker "${worker}" not found`)) return [];
	throw failed(command, output);
}

/** Sets secrets through standard input: arguments can be seen by other users of the machine. */
export async function setSecrets(run: RunWrangler, worker: string, secrets: Readonly<Record<string, string>>): Promise<void> {
	await succeed(run, ["secret", "bulk", "--name", worker], JSON.stringify(secrets));
}

export async function succeed(run: RunWrangler, arguments_: readonly string[], input?: string): Promise<string> {
	const { code, output } = await run(arguments_, input);
	if (code !== 0) throw failed(arguments_, output);
	return output;
}

async function findOrCreate(
	say: Say,
	what: string,
	{ find, create }: { find: () => Promise<string | undefined>; create: () => Promise<unknown> },
): Promise<string> {
	const found = await find();
	if (found !== undefined) {
		say(`found     ${what}`);
		return found;
	}
	await create();
	const created = await find();
	if (created === undefined)
		throw new Failure(`The ${what} was created and is not listed yet. Run this again in a minute: it goes on from here.`);
	say(`created   ${what}`);
	return created;
}

async function list<Entry>(run: RunWrangler, arguments_: readonly string[]): Promise<Entry[]> {
	return parseList(arguments_, await succeed(run, arguments_));
}

/** wrangler may say something before the JSON. */
function parseList<Entry>(arguments_: readonly string[], output: string): Entry[] {
	const start = output.search(/^\[/m);
	try {
		const value: unknown = JSON.parse(output.slice(Math.max(0, start)));
		if (Array.isArray(value)) return value;
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
	}
	throw new Failure(`wrangler ${arguments_.join(" ")} did not answer a list:\n${output.trim()}`);
}

function failed(arguments_: readonly string[], output: string): Failure {
	return new Failure(
		`${output.trim()}\n\nwrangler ${arguments_.join(" ")} failed: see above. Once that is mended run this again: it goes on from here.`,
	);
}
