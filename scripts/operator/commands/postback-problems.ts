import { formatUsd, parseMicros } from "../../../src/lib/money.ts";
import {
	type Problem,
	problemsSchema,
	type ReplayedPostbacks,
	replayedPostbacksSchema,
} from "../../../src/operator/postback-problems/problems-answers.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { eachOnce } from "../each-once.ts";
import { namesOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { saySought } from "../say-none.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const FILTERS = ["platform", "from", "limit", "cursor"] as const;

type ListOptions = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;
type ReplayOptions = ServerOptions & { map: readonly string[]; from?: string; until?: string; dryRun?: boolean };

/** `postback-problems …`: what arrived and needs a person, and what is sent through again once that is mended. */
export const command: OperatorCommand = {
	name: "postback-problems",
	add(program) {
		const problems = program
			.command("postback-problems")
			.description("list postbacks that need a person, and replay them once they are mended");
		withServerOptions(problems.command("list", { isDefault: true }))
			.description("by platform and cause, with what mends it")
			.option("--platform <id>", "of this platform alone")
			.option("--from <time>", "received at or after this time (otherwise in the last 30 days)")
			.option("--limit <count>", "problems a page, at most 1000 (otherwise 100)")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
		withServerOptions(problems.command("replay"))
			.description("read refused postbacks again, and look again at conversions without a click")
			.argument("<platform>", "its id in the network file")
			.option(
				"--map <field=parameter>",
				"our field, and the parameter that it came in; edate=@received_at for the time of receipt, where a date cannot be read",
				collect,
				[],
			)
			.option("--from <time>", "received at or after this time (otherwise in the last 30 days)")
			.option("--until <time>", "received before this time; a date is included")
			.option("--dry-run", "only say what would change")
			.action(replay);
	},
};

function collect(value: string, previous: readonly string[]): string[] {
	return [...previous, value];
}

async function list(options: ListOptions): Promise<void> {
	const answer = await readPage(options, "/operator/problems/postbacks", FILTERS, problemsSchema);
	if (options.json) console.log(JSON.stringify(answer, null, 2));
	if (answer.data.length === 0) await refuseUnknown(options, { platform: options.platform });
	if (options.json) return;
	if (answer.data.length === 0) console.log(`Nothing that arrived${saySought(FILTERS, options)} needs a person.`);
	for (const problem of answer.data) console.log(describe(problem).join("\n"));
	if (answer.next_cursor !== null) console.log(`There are more: --cursor ${answer.next_cursor}`);
	if (!answer.complete) console.log("There is more than was looked at: --platform looks at one alone.");
}

function describe({ platform, cause, field, sent, count, since, examples, fix }: Problem): string[] {
	const what = `${cause.replaceAll("_", " ")}${field === null ? "" : ` of ${field}`}${sent === null ? "" : `: ${sent}`}`;
	const [example] = examples;
	const shown =
		example === undefined ? [] : [`    such as ${example.txnid ?? ""} ${example.query ?? ""} (${example.request_id ?? "unknown request"})`];
	return [
		`${platform ?? "unknown key"}  ${count} × ${what}, since ${since}`,
		...shown,
		`    ${fix.text}`,
		...(fix.source === null ? [] : [`    see ${fix.source}`]),
		...(fix.command === null ? [] : [`    ${fix.command}`]),
	];
}

const TELLING = {
	stands: "What was replayed is kept: give the command again for the rest.",
	names: { mapping: "--map", ...namesOf(["from", "until"]) },
};

/** A request looks at some hundred: asks until all were looked at. */
async function replay(platform: string, { map, from, until = new Date().toISOString(), dryRun, ...options }: ReplayOptions): Promise<void> {
	const mapping = eachOnce(map.map(readPair), "--map");
	const total = { looked_at: 0, accepted: 0, still_refused: 0, conversions: 0 };
	let publisherMicros = 0;
	let grossMicros = 0;
	for (let cursor: string | null | undefined; cursor !== null; ) {
		const body = JSON.stringify({ platform, mapping, from, until, cursor });
		const path = `/operator/problems/postbacks/replay${dryRun ? "?dry_run=1" : ""}`;
		const telling = { ...TELLING, isBegun: cursor !== undefined };
		const answer: ReplayedPostbacks = take(replayedPostbacksSchema, await callOperator(targetOf(options), path, body), telling);
		total.looked_at += answer.looked_at;
		total.accepted += answer.accepted;
		total.still_refused += answer.still_refused;
		total.conversions += answer.conversions;
		publisherMicros += readMicros(answer.publisher_revenue);
		grossMicros += readMicros(answer.gross_revenue);
		cursor = answer.next_cursor;
	}
	const money = { publisher_revenue: formatUsd(publisherMicros), gross_revenue: formatUsd(grossMicros) };
	if (options.json) return console.log(JSON.stringify({ ...total, ...money, dry_run: dryRun === true }, null, 2));
	const [would, did] = dryRun ? ["would be", "would change"] : ["were", "changed"];
	console.log(
		`Looked at ${total.looked_at}: refused postbacks that ${would} taken: ${total.accepted}; at fault still: ${total.still_refused}; conversions that ${did}: ${total.conversions}.\n` +
			`Publisher revenue ${did} by ${money.publisher_revenue} USD, gross by ${money.gross_revenue} USD.`,
	);
}

function readMicros(amount: string): number {
	const micros = parseMicros(amount);
	if (micros === null) throw new Failure(`The server's answer names ${JSON.stringify(amount)}, which is no amount.`);
	return micros;
}

function readPair(text: string): [string, string] {
	const [field = "", from = "", ...more] = text.split("=");
	if (field === "" || from === "" || more.length > 0)
		throw new Failure(`--map is ${JSON.stringify(text)}, but must be such as txnid=order_id.`);
	return [field, from];
}
