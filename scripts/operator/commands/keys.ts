import type { Command } from "commander";
import { KEY_KINDS, NAME_KINDS, OPERATOR_ROLES, SIGNING_KINDS } from "../../../src/lib/access-enums.ts";
import {
	type CredentialState,
	credentialsSchema,
	issuedSchema,
	type KeysPreview,
	keysPreviewSchema,
	revokedSchema,
} from "../../../src/operator/keys/keys-answers.ts";
import type { KeyVerb } from "../../../src/operator/keys/keys-request.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { readAnswer } from "../read-answer.ts";
import { sayNone } from "../say-none.ts";
import { type Names, take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const KINDS = `${oneOf(KEY_KINDS)}; ${oneOf(NAME_KINDS)}; ${oneOf(SIGNING_KINDS)}`;

const PUBLISHER_KEYS: ReadonlySet<string> = new Set(KEY_KINDS.filter((kind) => kind !== "platform_key" && kind !== "operator_key"));

type RunOptions = ServerOptions & { dryRun?: boolean };
type RotateOptions = RunOptions & { overlap: string; value?: string; expires?: string };

/** `keys`: issues, rotates, revokes and lists the credentials of publishers, platforms and operators. */
export const command: OperatorCommand = {
	name: "keys",
	add(program) {
		const keys = program
			.command("keys")
			.description("issue, rotate, revoke and list keys, publisher ids and identities, and secrets of callbacks")
			.addHelpText(
				"after",
				"\nExamples:\n  keys list --owner acme-media\n  keys issue access_key acme-media\n  keys rotate publisher_key acme-media --overlap 48\n" +
					"  keys rotate publisher_identity acme-media --value acme_2027\n  keys revoke access_key acme-media --id 3f2a91c07b4e\n  keys issue operator_key ada --role manager --expires 2027-01-01T00:00:00Z",
			);
		owned(keys.command("issue"))
			.description("make a further key; those there are stay valid")
			.option("--role <role>", `of an operator key: ${oneOf(OPERATOR_ROLES)}`)
			.option("--expires <time>", "of an operator key: when it ends (otherwise never)")
			.action((kind: string, owner: string, { role, expires, ...options }: RunOptions & { role?: string; expires?: string }) =>
				run("issue", { kind, owner, ...(role !== undefined && { role }), ...(expires !== undefined && { expires }) }, options),
			);
		owned(keys.command("rotate"))
			.description("make a new one; those there are stay valid for the overlap")
			.option("--overlap <hours>", "hours for which the old ones stay valid; 0 ends them at once", "24")
			.option("--value <name>", "the new publisher id or identity (otherwise one is made up)")
			.option("--expires <time>", "of an operator key: when the new one ends (otherwise when the present one was to)")
			.action((kind: string, owner: string, { overlap, value, expires, ...options }: RotateOptions) =>
				run(
					"rotate",
					{
						kind,
						owner,
						overlap_hours: readHours(overlap),
						...(value !== undefined && { value }),
						...(expires !== undefined && { expires }),
					},
					options,
				),
			);
		owned(keys.command("revoke"))
			.description("end keys now: one, or all of the kind")
			.option("--id <id>", "which key, as `keys list` shows it; of a publisher id or identity, the former name")
			.action(async (kind: string, owner: string, { id, ...options }: RunOptions & { id?: string }) => {
				await run("revoke", { kind, owner, ...(id !== undefined && { id }) }, options);
				if (!options.json && options.dryRun !== true && PUBLISHER_KEYS.has(kind)) await warnOfPay(owner, options);
			});
		withServerOptions(keys.command("list"))
			.description("list what was issued, with the day of last use; never a key itself")
			.option("--owner <id>", "one publisher's or platform's")
			.option("--kind <kind>", KINDS)
			.action(({ owner, kind, ...options }: ServerOptions & { owner?: string; kind?: string }) =>
				run("list", { ...(owner !== undefined && { owner }), ...(kind !== undefined && { kind }) }, options),
			);
	},
};

function owned(command: Command): Command {
	return withServerOptions(command)
		.option("--dry-run", "only say what would be made, and what would end")
		.argument("<kind>", KINDS)
		.argument("<owner>", "the publisher's id in the network file; the platform's for a platform_key, a person's name for an operator_key");
}

function readHours(text: string): number {
	const hours = Number(text);
	if (text.trim() === "" || !Number.isFinite(hours))
		throw new Failure(`--overlap is ${JSON.stringify(text)}, but must be a number of hours.`);
	return hours;
}

/** Whoever revokes a publisher's last key may take it for what ends its pay. */
async function warnOfPay(owner: string, options: ServerOptions): Promise<void> {
	const { status, body } = await callOperator(targetOf(options), "/operator/keys/list", JSON.stringify({ owner }));
	if (status !== 200) return;
	const { keys } = readAnswer(credentialsSchema, body);
	if (keys.some(({ kind, state }) => PUBLISHER_KEYS.has(kind) && state !== "ended")) return;
	console.log(`${owner} has no valid key any more. Clicks on its bids and links are still paid: "status": "suspended" ends that.`);
}

/** Options of each verb: `--kind` and `--owner` are of the list alone. */
const NAMES: Readonly<Record<KeyVerb, Names>> = {
	issue: namesOf(["role", "expires"]),
	rotate: { ...namesOf(["value", "expires"]), overlap_hours: "--overlap" },
	revoke: namesOf(["id"]),
	list: namesOf(["owner", "kind"]),
};

type Asked = Partial<Record<"kind" | "owner" | "id" | "role" | "value" | "expires", string>> & { overlap_hours?: number };

async function run(verb: KeyVerb, body: Asked, options: RunOptions): Promise<void> {
	const query = options.dryRun === true ? "?dry_run=1" : "";
	const answer = await callOperator(targetOf(options), `/operator/keys/${verb}${query}`, JSON.stringify(body));
	if (options.json) console.log(JSON.stringify(answer.body, null, 2));
	const isRead = verb === "list" || options.dryRun === true;
	const telling = { names: NAMES[verb], stands: `${isRead ? "" : "`keys list` shows whether it was done. "}See the server's log.` };
	if (verb === "list") {
		const { keys } = take(credentialsSchema, answer, telling);
		if (keys.length === 0 && body.owner !== undefined)
			throw new Failure(`There is nothing of ${body.owner}: is it a publisher's or platform's id in the network file?`);
		if (!options.json) console.log(keys.length === 0 ? sayNone("keys", ["owner", "kind"], body) : describeList(keys));
		return;
	}
	if (options.dryRun === true) {
		const preview = take(keysPreviewSchema, answer, telling);
		return options.json ? undefined : console.log(describePreview(preview));
	}
	if (verb === "revoke") {
		const { revoked, published } = take(revokedSchema, answer, telling);
		if (options.json) return;
		return console.log(`Ended ${revoked}. ${whenItHolds(body, published)}`);
	}
	const { issued, published } = take(issuedSchema, answer, telling);
	if (options.json) return;
	const isKey = !issued.kind.startsWith("publisher_i");
	console.log(`${issued.owner}  ${issued.kind.replaceAll("_", " ")}: ${issued.value}`);
	console.log(isKey ? "It is shown only this once." : whenItHolds(body, published));
}

function describePreview({ issued, ending }: KeysPreview): string {
	const kind = issued?.kind.replaceAll("_", " ");
	const made =
		issued === null
			? []
			: [`Would make: ${issued.owner}  ${kind}${issued.value === undefined ? "" : ` ${issued.value}`}${grantOf(issued)}`];
	const ended = ending.map(({ id, ends_at }) => `Would end: ${id} at ${ends_at}`);
	return [...made, ...(ended.length === 0 ? ["Nothing would end."] : ended)].join("\n");
}

/** Of an operator key: what it allows, and how long. */
function grantOf({ role, ends_at }: NonNullable<KeysPreview["issued"]>): string {
	return role === undefined ? "" : ` (${role}, ${ends_at == null ? "without an end" : `until ${ends_at}`})`;
}

function whenItHolds({ kind = "" }: Asked, published: boolean): string {
	if (kind === "callback_secret") return "It holds from the next callback on.";
	const isKey = kind.endsWith("key");
	if (isKey) return "It holds everywhere within 30 seconds.";
	return published ? "The edge learns of it within a minute or so." : "The edge could not be told yet: that is tried again every minute.";
}

function describeList(keys: readonly CredentialState[]): string {
	const rows = keys.map(({ owner, kind, id, state, ends_at, last_used_on, role, last_used_at }) => [
		owner,
		role === undefined ? kind : `${kind} (${role})`,
		id,
		ends_at === null ? state : `${state} ${ends_at}`,
		last_used_on === undefined ? "" : `last used ${last_used_at ?? last_used_on ?? "never"}`,
	]);
	const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
	return rows
		.map((row) =>
			row
				.map((cell, at) => cell.padEnd(widths[at] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}
