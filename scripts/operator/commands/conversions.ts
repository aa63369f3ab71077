import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { segmentOf } from "../../../src/lib/path-segment.ts";
import {
	type Candidate,
	type ConversionPage,
	candidatesSchema,
	conversionPageSchema,
	type Judged,
	judgedSchema,
	shownConversionSchema,
} from "../../../src/operator/conversions/conversions-answers.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeTrace } from "../describe-trace.ts";
import { flagOf, namesOf, parametersOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";
import { type AdjustOptions, askUnderId, describeAdjusted, withAdjustOptions } from "../send-adjustment.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const FILTERS = {
	stage: "waiting, unmatched, quarantined or settled",
	status: "approved, pending or cancelled",
	platform: "of this platform (its id in the network file)",
	publisher: "of this publisher",
	brand: "of this brand (its domain)",
	reason: "why it is quarantined or has no click: no_rate, amount, review, no_click, other_platform, ambiguous …",
	by: "what --from and --to are of: report (when it was first reported, the default) or event (by which reports count)",
	from: "at or after this time (ISO 8601, UTC)",
	to: "before this time; a date is included",
	minAmount: "least payout, USD",
	limit: "conversions a page, at most 1000",
	cursor: "where the page before ended",
} as const;

type Filter = keyof typeof FILTERS;
const NAMED = Object.keys(FILTERS) as Filter[];
const CLICK = ["click", "brand", "from", "to"] as const;

type ListOptions = ServerOptions & Partial<Record<Filter, string>>;
type ClickOptions = Partial<Record<(typeof CLICK)[number], string>>;

const VERBS = {
	release: "let a conversion that is kept back count",
	void: "take a conversion back: it counts as cancelled, whatever its platform says",
	restore: "let a conversion that was voided or released be what its platform says",
} as const;

/** `conversions …`: finds those that need a person, and settles them. */
export const command: OperatorCommand = {
	name: "conversions",
	add(program) {
		const conversions = program.command("conversions").description("list and show conversions, and settle those that need a person");
		const listing = withServerOptions(conversions.command("list")).description("list conversions, the newest first");
		for (const name of NAMED) listing.option(`${flagOf(name)} <${name === "minAmount" ? "amount" : name}>`, FILTERS[name]);
		listing.action(list);
		withServerOptions(ofOne(conversions.command("show")))
			.description("show a conversion with its history")
			.action(show);
		withClickOptions(withServerOptions(ofOne(conversions.command("clicks"))))
			.description("list the clicks that a conversion may be attached to")
			.action(listClicks);
		withClickOptions(withAdjustOptions(ofOne(conversions.command("attach"))))
			.description("attach a conversion that has no click to one, as if the postback had named it")
			.action((platform: string, txnid: string, options: AdjustOptions & ClickOptions) =>
				judge(platform, txnid, "attach", options, parametersOf(CLICK, options)),
			);
		for (const [verb, description] of Object.entries(VERBS)) {
			const judging = withAdjustOptions(ofOne(conversions.command(verb))).description(description);
			if (verb === "release") judging.option("--up-to <amount>", "what it was seen to be worth, USD: not if it is worth more by now");
			judging.action((platform: string, txnid: string, { upTo, ...options }: AdjustOptions & { upTo?: string }) =>
				judge(platform, txnid, verb, options, upTo === undefined ? {} : { up_to: upTo }),
			);
		}
	},
};

function ofOne(command: Command): Command {
	return command.argument("<platform>", "its platform (the id in the network file)").argument("<txnid>", "its transaction");
}

function withClickOptions(command: Command): Command {
	return command
		.option("--click <id>", "the click's hash, its id, or the publisher's click id")
		.option("--brand <domain>", "else its brand, with --from and --to")
		.option("--from <time>", "made at or after this time (ISO 8601, UTC)")
		.option("--to <time>", "made before this time, 72 hours later at most; a date is included");
}

function pathOf(platform: string, txnid: string, verb = ""): string {
	return `/operator/conversions/${segmentOf(platform)}/${segmentOf(txnid)}${verb === "" ? "" : `/${verb}`}`;
}

async function list(options: ListOptions): Promise<void> {
	const page = await readPage(options, "/operator/conversions", NAMED, conversionPageSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, options);
	if (options.json) return;
	for (const conversion of page.data) console.log(describeListed(conversion));
	if (page.data.length === 0)
		console.log(page.next_cursor === null ? sayNone("conversions", NAMED, options) : "None among those that were looked at.");
	if (page.next_cursor !== null) console.log(`There may be more: --cursor ${page.next_cursor}`);
}

/** @example "2026-11-21T09:00:00.000Z  northwind T-1001  unmatched (no click), approved  of 2026-11-20T18:30:00.000Z  12.0000 USD  cid abc" */
function describeListed(conversion: ConversionPage["data"][number]): string {
	const { first_received_at, platform, txnid, stage, why, status, verdict, event_at, payout, currency, publisher, brand, cid } = conversion;
	const reason = why === null ? "" : ` (${why.replaceAll("_", " ")})`;
	const whose = publisher === null ? `cid ${cid}` : `${publisher}${brand === null ? "" : `, ${brand}`}`;
	const standing = `${stage}${reason}, ${status}${verdict === null ? "" : `, ${verdict}`}`;
	return `${first_received_at}  ${platform} ${txnid}  ${standing}  of ${event_at}  ${payout} ${currency}  ${whose}`;
}

async function show(platform: string, txnid: string, options: ServerOptions): Promise<void> {
	const shown = take(shownConversionSchema, await callOperator(targetOf(options), pathOf(platform, txnid), null));
	if (options.json) return console.log(JSON.stringify(shown, null, 2));
	const { conversion, click, postbacks, adjustments } = shown;
	console.log(describeTrace({ id: txnid, truncated: false, clicks: click === null ? [] : [click], postbacks, conversions: [conversion] }));
	for (const { at, actor, kind, id, text, undone_by } of adjustments) {
		console.log(`${at}  ${actor}: ${kind.replaceAll("_", " ")} (${id}${undone_by === null ? "" : `, undone by ${undone_by}`}): ${text}`);
	}
}

async function listClicks(platform: string, txnid: string, options: ServerOptions & ClickOptions): Promise<void> {
	const candidates = await readPage(options, pathOf(platform, txnid, "clicks"), CLICK, candidatesSchema);
	if (options.json) return console.log(JSON.stringify(candidates, null, 2));
	if (candidates.data.length === 0) console.log(sayNone("clicks", CLICK, options));
	for (const candidate of candidates.data) console.log(describeCandidate(candidate));
	if (!candidates.complete) console.log("There are more: name the click, or a shorter time.");
}

function describeCandidate(candidate: Candidate): string {
	const { clicked_at, click_hash, publisher, publisher_click_id, brand, reason, unfit, conversions } = candidate;
	const notes = [
		...(reason === null ? [] : [`not billed: ${reason}`]),
		...(unfit === null ? [] : [`cannot be attached to: ${unfit.replaceAll("_", " ")}`]),
		...(conversions === 0 ? [] : [`has ${conversions} already`]),
	];
	const whose = `${publisher ?? "unknown"}${publisher_click_id === null ? "" : ` ${publisher_click_id}`}`;
	return `${clicked_at}  ${click_hash}  ${whose}, ${brand ?? "unknown brand"}${notes.length === 0 ? "" : `  (${notes.join("; ")})`}`;
}

async function judge(
	platform: string,
	txnid: string,
	verb: string,
	{ text, dryRun, id = randomUUID(), ...options }: AdjustOptions,
	fields: Readonly<Record<string, string>>,
): Promise<void> {
	const path = `${pathOf(platform, txnid, verb)}${dryRun ? "?dry_run=1" : ""}`;
	const answer = await askUnderId(judgedSchema, targetOf(options), {
		path,
		fields: { ...fields, text },
		id,
		names: namesOf([...CLICK, "upTo"]),
	});
	console.log(options.json ? JSON.stringify(answer, null, 2) : describeJudged(answer));
}

function describeJudged(answer: Judged): string {
	const { stage, status, why, publisher } = answer.conversion;
	const held = why === null ? "" : ` (${why.replaceAll("_", " ")})`;
	const told = answer.callbacks.map(
		(callback) => `${callback.publisher} ${answer.dry_run ? "would be" : "is"} told: ${callback.status}, ${callback.payout} USD.`,
	);
	return [
		describeAdjusted(answer),
		`${answer.dry_run ? "Then it would be" : "It is"} ${stage}${held}, ${status}${publisher === null ? "" : `, of ${publisher}`}.`,
		...told,
	].join("\n");
}
