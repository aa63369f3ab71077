import type { Command } from "commander";
import {
	callbackPageSchema,
	type ListedCallback,
	MAX_REPLAYED,
	type ReplayReport,
	replayReportSchema,
	testReportSchema,
} from "../../../src/callbacks/operator-answers.ts";
import { CALLBACK_STATES } from "../../../src/lib/enums.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf, parametersOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const SELECTION = ["id", "publisher", "platform", "txnid", "state", "from", "to"] as const;
const FILTERS = [...SELECTION, "limit", "cursor"] as const;

type Selection = Partial<Record<(typeof SELECTION)[number], string>>;
type ListOptions = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;
type ReplayOptions = ServerOptions & Selection & { dryRun?: boolean };
type TestOptions = ServerOptions & { publisher?: string; address?: string };

/** `callbacks list|replay|test`: what publishers were told, and telling them again. */
export const command: OperatorCommand = {
	name: "callbacks",
	add(program) {
		const callbacks = program
			.command("callbacks")
			.description("conversion callbacks to publishers: list them, replay them, test an address");
		withSelection(withServerOptions(callbacks.command("list")))
			.description("list callbacks with their attempts, the newest first")
			.option("--limit <count>", "callbacks a page, at most 1,000", "100")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
		withSelection(withServerOptions(callbacks.command("replay")))
			.description("send callbacks again, with all later ones of the same transactions to the same publisher")
			.option("--dry-run", "only count them")
			.addHelpText(
				"after",
				"\nDelivered ones are sent again too, under the same Idempotency-Key; --state exhausted limits it to those that failed.",
			)
			.action(replay);
		withServerOptions(callbacks.command("test"))
			.description("send one test callback, marked as such, and report what came of it")
			.option("--publisher <id>", "to the address of this publisher")
			.option("--address <url>", "to this address")
			.addHelpText("after", "\nEnds with 1 where a callback would not count as delivered.")
			.action(test);
	},
};

function withSelection(command: Command): Command {
	return command
		.option("--publisher <id>", "of this publisher (its id in the network file)")
		.option("--txnid <id>", "of this transaction")
		.option("--platform <id>", "reported by this platform")
		.option("--id <id>", "this one")
		.option("--state <state>", oneOf(CALLBACK_STATES))
		.option("--from <time>", "created at or after this time (ISO 8601, UTC)")
		.option("--to <time>", "created before this time; a date is included");
}

async function list(options: ListOptions): Promise<void> {
	const answer = await readPage(options, "/operator/callbacks", FILTERS, callbackPageSchema);
	if (options.json) console.log(JSON.stringify(answer, null, 2));
	const isNone = answer.data.length === 0 && answer.next_cursor === null;
	if (isNone) await refuseMissing(options);
	if (options.json) return;
	if (isNone) return console.log(sayNone("callbacks", FILTERS, options));
	for (const callback of answer.data) console.log(describe(callback));
	if (answer.next_cursor !== null) console.log(`There are more: --cursor ${answer.next_cursor}`);
}

function describe({
	id,
	publisher,
	platform,
	txnid,
	seq,
	status,
	payout,
	state,
	held_for,
	created_at,
	next_attempt_at,
	attempts,
}: ListedCallback): string {
	const waits = held_for === "order" ? ", waits for an earlier one" : held_for === "pause" ? ", the address is paused" : "";
	const next = state === "due" && next_attempt_at !== null ? `, next attempt ${next_attempt_at}` : "";
	return [
		`${created_at}  ${publisher}  ${platform} ${txnid} #${seq}  ${status} ${payout} USD  ${state}${waits}${next}  (${id})`,
		...attempts.map((attempt) => `    ${attempt.at}  ${attempt.http_status ?? "no answer"}  ${attempt.latency_ms} ms  ${attempt.answer}`),
	].join("\n");
}

async function replay(options: ReplayOptions): Promise<void> {
	const body = { ...parametersOf(SELECTION, options), ...(options.dryRun ? { dry_run: true } : {}) };
	const answer: ReplayReport = { replayed: 0, dry_run: options.dryRun === true };
	for (let isOver = false; !isOver; ) {
		const part = take(replayReportSchema, await callOperator(targetOf(options), "/operator/callbacks/replay", JSON.stringify(body)), {
			names: { "": "the selection", ...namesOf(SELECTION) },
			stands: "See the server's log. The same may be given again: each callback keeps its Idempotency-Key.",
		});
		answer.replayed += part.replayed;
		// Of exhausted ones each takes the oldest, which are exhausted no more.
		isOver = options.state !== "exhausted" || answer.dry_run || part.replayed < MAX_REPLAYED;
		if (!isOver) console.error(`${answer.replayed} so far`);
	}
	if (options.json) console.log(JSON.stringify(answer, null, 2));
	if (answer.replayed === 0) await refuseMissing(options);
	if (options.json) return;
	const count = `${answer.replayed} ${answer.replayed === 1 ? "callback" : "callbacks"}`;
	console.log(answer.dry_run ? `${count} would be sent again.` : `${count} will be sent again, from now on.`);
}

/** Nothing may be found by a state or a time; what is named should be there. @throws Failure */
async function refuseMissing({ id, txnid, publisher, platform, ...options }: ServerOptions & Selection): Promise<void> {
	await refuseUnknown(options, { publisher, platform });
	if (id !== undefined) throw new Failure(`There is no callback ${id} in this selection. \`callbacks list\` shows those there are.`);
	if (txnid !== undefined) throw new Failure(`There is no callback of transaction ${txnid}. \`trace ${txnid}\` says what is known of it.`);
}

/** Exit code 1 where a callback would not count as delivered. */
async function test(options: TestOptions): Promise<void> {
	const { publisher, address } = options;
	if ((publisher === undefined) === (address === undefined))
		throw new Failure("Give --publisher for its own address, or --address for any other.");
	const body = publisher === undefined ? { url: address } : { publisher };
	const answer = take(testReportSchema, await callOperator(targetOf(options), "/operator/callbacks/test", JSON.stringify(body)), {
		names: { publisher: "--publisher", url: "--address" },
	});
	if (!answer.confirmed) process.exitCode = 1;
	if (options.json) return console.log(JSON.stringify(answer, null, 2));
	console.log(`GET ${answer.called}`);
	// Where there was no status, the answer says what there was instead.
	console.log(`${answer.http_status ?? "Ended"} after ${answer.latency_ms} ms: ${answer.answer}`);
	console.log(answer.confirmed ? "Confirmed: a callback would count as delivered." : "Not confirmed: a callback would be tried again.");
}
