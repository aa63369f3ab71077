/** `products FILE` and `seller-products FILE`: sends a feed in parts, so that neither its size nor a broken line costs more than a part. */
import { randomUUID } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createGunzip, gzip } from "node:zlib";
import type { Command } from "commander";
import { isEncoding } from "../../src/operator/feeds/decode-feed.ts";
import { CUT_OFF, type FeedReport, feedReportSchema } from "../../src/operator/feeds/feed-answer.ts";
import type { ReplaceScope } from "../../src/operator/feeds/feed-options.ts";
import { errorCode, Failure } from "../local/failure.ts";
import { callOperator, type Target } from "./call-operator.ts";
import { type ServerOptions, withServerOptions } from "./command.ts";
import { eachOnce } from "./each-once.ts";
import { addReports, describeFeed } from "./feed-report.ts";
import { namesOf } from "./option-names.ts";
import { type Progress, showProgress } from "./progress.ts";
import { readAnswer } from "./read-answer.ts";
import { type FeedPart, splitFeed } from "./split-feed.ts";
import { type Names, type Telling, take } from "./take-answer.ts";
import { targetOf } from "./target.ts";

type FeedCommandOptions = ServerOptions & {
	mapping?: string;
	set: string[];
	idPrefix?: string;
	encoding?: string;
	replace?: boolean;
	replaceAll?: boolean;
	yes?: boolean;
	dryRun?: boolean;
};

/** Characters of a part: some ten thousand products, a second or two of the server's time. */
const PART_SIZE = 8_000_000;
const RETRY_AFTER_MS = [1_000, 5_000, 15_000];
const compress = promisify(gzip);

export function addFeedCommand(program: Command, name: "products" | "seller-products", description: string): void {
	withServerOptions(program.command(name))
		.description(description)
		.argument("<file>", "feed: CSV with a header line or one JSON object a line, gzip or not; - for standard input")
		.option("--mapping <file>", 'JSON file of columns and the fields they fill: {"Item name": "name"}')
		.option("--set <field=value>", "value of a field for the whole feed; may be given several times", collect, [])
		.option("--id-prefix <text>", "put before every id, where ids of several feeds are alike")
		.option("--encoding <name>", "what the feed's text is in, such as windows-1252, where it is neither UTF-8 nor UTF-16")
		.option("--replace", "then remove what the feed no longer has, of the brands in it")
		.option("--replace-all", "then remove what the feed does not have, of all brands")
		.option(
			"--yes",
			"also where more go than the feed has, of a brand or of all, and more than a hundred, or the feed ends within a record",
		)
		.option("--dry-run", "only say what would be accepted, and what not")
		.addHelpText("after", "\nProducts are matched by id. The same feed may be sent again at any time; a record at fault is rejected alone.")
		.action((file: string, options: FeedCommandOptions) => sendFeed(name, file, options));
}

function collect(value: string, before: string[]): string[] {
	return [...before, value];
}

async function sendFeed(name: string, file: string, options: FeedCommandOptions): Promise<void> {
	const target = targetOf(options);
	const query = readQuery(options);
	if (options.encoding !== undefined && !isEncoding(options.encoding))
		throw new Failure(`--encoding is ${JSON.stringify(options.encoding)}, but must name an encoding, such as windows-1252 or shift_jis.`);
	// What would be removed is known once the feed is written.
	const scope = options.dryRun ? null : options.replaceAll ? "all" : options.replace ? "domains" : null;
	const startedAt = Date.now();
	const { chunks, size, progress } = openFeed(name, file);
	let report: FeedReport;
	try {
		const names = namesOfSent(options);
		report = await sendParts(
			{ target, path: `/operator/${name}`, query, names, scope, isConfirmed: options.yes === true, progress },
			splitFeed(chunks, PART_SIZE, options.encoding ?? null),
		);
	} catch (error) {
		throw describeReading(error, file);
	} finally {
		progress.end();
	}
	if (options.json) console.log(JSON.stringify(report, null, 2));
	else console.log(describeFeed(report));
	if (report.message !== undefined)
		throw new Failure(`${report.message}\nCorrect the feed and send it again${report.dry_run ? "" : "; what was accepted stays"}.`);
	if (report.accepted === 0 && report.rejected > 0) {
		throw new Failure(
			"No product was accepted. See the reasons above: a mapping (--mapping) or values for the whole feed (--set) may help.",
		);
	}
	if (options.dryRun) {
		if (!options.json)
			console.log(`Nothing was written.${options.replace || options.replaceAll ? " What would be removed is known once it is." : ""}`);
		return;
	}
	if (!options.json) console.log(`Done in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s.${size === 0 ? " The feed is empty." : ""}`);
}

/** What goes with every part. @throws Failure where an option is at fault */
function readQuery({ mapping, set, idPrefix, dryRun }: FeedCommandOptions): URLSearchParams {
	const fields = set.map((assignment): [string, string] => {
		const at = assignment.indexOf("=");
		if (at < 1) throw new Failure(`--set is ${JSON.stringify(assignment)}, but must be FIELD=VALUE, such as --set domain=shoes.example`);
		return [assignment.slice(0, at), assignment.slice(at + 1)];
	});
	const query = new URLSearchParams(eachOnce(fields, "--set"));
	if (dryRun) query.set("dry_run", "1");
	if (idPrefix !== undefined) query.set("id_prefix", idPrefix);
	if (mapping !== undefined) query.set("mapping", readMapping(mapping));
	return query;
}

/** The options by their parameters. Whatever is none of these is sent as a field of `--set`. */
function namesOfSent({ set }: FeedCommandOptions): Names {
	const fields = set.map((assignment) => assignment.slice(0, assignment.indexOf("=")));
	return { ...Object.fromEntries(fields.map((field) => [field, `--set ${field}`])), ...namesOf(["mapping", "idPrefix", "dryRun"]) };
}

function readMapping(file: string): string {
	try {
		return JSON.stringify(JSON.parse(readFileSync(file, "utf8")));
	} catch (error) {
		const why =
			error instanceof SyntaxError ? `is not valid JSON: ${error.message}` : `cannot be read (${errorCode(error) ?? String(error)})`;
		throw new Failure(`The mapping file ${file} ${why}. It should be an object such as {"Item name": "name"}.`);
	}
}

/** The bytes of a feed, unpacked where they are gzip, and their progress. */
function openFeed(name: string, file: string): { chunks: AsyncIterable<Uint8Array>; size: number | null; progress: Progress } {
	const isStandardInput = file === "-";
	const size = isStandardInput ? null : statSync(file, { throwIfNoEntry: false })?.size;
	if (size === undefined) throw new Failure(`${file} cannot be read: there is no such file. Name a feed, or - for standard input.`);
	const progress = showProgress(`Sending ${name} of ${isStandardInput ? "standard input" : file}`, size);
	const source = isStandardInput ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
	return { chunks: unpack(source, progress), size, progress };
}

async function* unpack(source: AsyncIterable<Buffer>, progress: Progress): AsyncGenerator<Uint8Array> {
	const metered = meter(source, progress);
	const { value: first } = await metered.next();
	if (first === undefined) return;
	if (first[0] !== 0x1f || first[1] !== 0x8b) {
		yield first;
		yield* metered;
		return;
	}
	const packed = (async function* () {
		yield first;
		yield* metered;
	})();
	const gunzip = createGunzip();
	Readable.from(packed)
		.on("error", (error) => gunzip.destroy(error))
		.pipe(gunzip);
	yield* gunzip as AsyncIterable<Buffer>;
}

async function* meter(source: AsyncIterable<Buffer>, progress: Progress): AsyncGenerator<Buffer> {
	let read = 0;
	for await (const chunk of source) {
		yield chunk;
		read += chunk.length;
		progress.sent(read);
	}
}

type Sending = {
	target: Target;
	path: string;
	query: URLSearchParams;
	names: Names;
	scope: ReplaceScope | null;
	isConfirmed: boolean;
	progress: Progress;
};

const NOTHING: FeedReport = { feed: "", accepted: 0, rejected: 0, rejected_lines: [], unknown_domains: [], removed: null, dry_run: false };

/** Sends the parts under one feed id, and at last has the others removed. Ends early where a part cannot be read. */
async function sendParts(
	{ target, path, query, names, scope, isConfirmed, progress }: Sending,
	parts: AsyncIterable<FeedPart>,
): Promise<FeedReport> {
	const common = new URLSearchParams(query);
	if (scope !== null) common.set("feed", randomUUID());
	let sum = NOTHING;
	for await (const { text, line } of parts) {
		const wanted = new URLSearchParams([...common, ["line", String(line)]]);
		const telling = { names, stands: AGAIN, isBegun: sum !== NOTHING };
		sum = addReports(sum, await send(target, `${path}?${wanted}`, await compress(text, { level: 1 }), telling));
		progress.note(`${sum.accepted} accepted, ${sum.rejected} rejected`);
		if (sum.incomplete) return sum;
	}
	if (scope === null) return sum;
	if (sum.rejected > sum.accepted) return { ...sum, message: "Nothing was removed, because most records were rejected." };
	if (sum.cut_off && !isConfirmed) return { ...sum, message: `Nothing was removed: ${CUT_OFF} by --yes.` };
	progress.note("removing what the feed no longer has");
	const last = `${path}?${new URLSearchParams([...common, ["replace", scope], ...(isConfirmed ? [["yes", "1"]] : [])])}`;
	return addReports(sum, await send(target, last, Buffer.alloc(0), { names, stands: AGAIN, isBegun: true }));
}

const AGAIN = "See the server's log. Send the same feed again: what was taken over already does no harm.";

/** Sends one request; again, after a while, where the server failed: a part may be taken over twice. */
async function send(target: Target, path: string, body: Buffer, telling: Telling, attempt = 0): Promise<FeedReport> {
	const wait = RETRY_AFTER_MS[attempt];
	try {
		const answer = await callOperator(target, path, body);
		if (answer.status === 422 && isReport(answer.body)) return readAnswer(feedReportSchema, answer.body);
		if (answer.status < 500 || wait === undefined) return take(feedReportSchema, answer, telling);
	} catch (error) {
		// The first request that cannot be sent at all has the wrong address; a later one, a server that is busy restarting.
		if (wait === undefined || !(error instanceof Failure) || !/cannot be reached/.test(error.message) || attempt > 1) throw error;
	}
	await sleep(wait);
	return send(target, path, body, telling, attempt + 1);
}

function isReport(answer: unknown): boolean {
	return typeof answer === "object" && answer !== null && "accepted" in answer;
}

function describeReading(error: unknown, file: string): unknown {
	const code = errorCode(error);
	if (error instanceof Failure || code === undefined) return error;
	const why = code.startsWith("Z_") ? "its gzip is broken or ends too early" : code === "EISDIR" ? "it is a folder" : code;
	return new Failure(`${file} cannot be read: ${why}.\nCorrect it and send it again; what was taken over already does no harm.`);
}
