/** Histories of a publisher network, any that there may be: what is clicked, reported and decided, and how it is put to the real consumers. */
import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect } from "vitest";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { judgeConversion } from "../../src/conversions/judge-conversion.ts";
import { openDatabase } from "../../src/db/client.ts";
import { leastIdAt } from "../../src/lib/ids.ts";
import worker from "../../src/worker.ts";
import { postAdjustment, postVerb } from "./adjustments.ts";
import { consume, postbackMessage } from "./conversions.ts";
import { importExactly, importFile, NORTHWIND } from "./network-import.ts";
import { CPA_KEY, CPC_KEY, setPublisher } from "./report-rows.ts";
import { postRevalue } from "./revalue.ts";

export const FIRST_DAY = Date.parse("2026-11-10T00:00:00Z");
export const DAY_MS = 86_400_000;
export const PUBLISHERS = { pa: CPA_KEY, pc: CPC_KEY };
export type PublisherId = keyof typeof PUBLISHERS;

/** A click of a pool so small that hashes repeat. */
const click = fc.record({
	kind: fc.constant("click" as const),
	publisher: fc.constantFrom<PublisherId>("pa", "pc"),
	hash: fc.nat({ max: 9 }),
	// In few steps, so that some are of the same millisecond.
	at: fc.nat({ max: 20 }).map((step) => step * 13_000_000),
	bidMicros: fc.integer({ min: 1, max: 20_000 }).map((price) => price * 100),
	reason: fc.constantFrom(undefined, undefined, undefined, undefined, "bot" as const, "test" as const, "embedded" as const),
	source: fc.constantFrom(undefined, "a", "b"),
	/** What it was made under; an earlier version's message does not tell. */
	terms: fc.constantFrom(
		undefined,
		{ pricingModel: "CPA" as const, sharePpm: 373_737 },
		{ pricingModel: "CPC" as const, sharePpm: 900_001 },
	),
});

/** A postback about one of few transactions: most say again, or otherwise, what another one said. */
const postback = fc.record({
	kind: fc.constant("postback" as const),
	txnid: fc.nat({ max: 7 }).map((n) => `t-${n}`),
	publisher: fc.constantFrom<PublisherId>("pa", "pa", "pc"),
	hash: fc.nat({ max: 10 }),
	upperCase: fc.boolean(),
	eventAt: fc.integer({ min: -2 * DAY_MS, max: 9 * DAY_MS }),
	payoutMicros: fc.oneof(
		fc.integer({ min: 0, max: 30_000_000 }),
		fc.constantFrom(50, 49, 1_000_000, -5_000_000, 20_000_000_000, 9_000_000_000_000_000),
	),
	salesMicros: fc.option(fc.nat({ max: 900_000_000 })),
	currency: fc.constantFrom(null, "USD", "EUR", "XXX"),
	status: fc.constantFrom(null, "approved", "pending", "cancelled", "reversed", "whatever"),
});

/** The delivery of an earlier step's message, again. */
const replay = fc.record({ kind: fc.constant("replay" as const), of: fc.nat({ max: 60 }) });

/** An operator takes back, gives back, adds or takes. */
const adjustment = fc.record({
	kind: fc.constant("adjust" as const),
	body: fc.oneof(
		fc.record({
			kind: fc.constant("void_clicks"),
			publisher: fc.constantFrom<PublisherId>("pa", "pc"),
			source: fc.constantFrom("", "a", "b"),
			from: fc.constantFrom("2026-11-10", "2026-11-11T12:00:00Z"),
		}),
		fc.record({
			kind: fc.constantFrom("void_conversion", "restore_conversion", "release_conversion"),
			platform: fc.constant("northwind"),
			txnid: fc.nat({ max: 7 }).map((n) => `t-${n}`),
		}),
		fc.record({
			kind: fc.constant("amount"),
			publisher: fc.constantFrom<PublisherId>("pa", "pc"),
			date: fc.nat({ max: 9 }).map((day) => `2026-11-${10 + day}`),
			amount: fc.constantFrom("-3.5", "2", "0.0001", "-2"),
		}),
	),
});

/** An operator attaches a conversion to a click by its hash; it is refused where it has one, or there is none. */
const attachment = fc.record({
	kind: fc.constant("attach" as const),
	txnid: fc.nat({ max: 7 }).map((n) => `t-${n}`),
	publisher: fc.constantFrom<PublisherId>("pa", "pc"),
	hash: fc.nat({ max: 9 }),
});

/** An earlier adjustment is undone. */
const undo = fc.record({ kind: fc.constant("undo" as const), which: fc.nat({ max: 9 }) });

/** The publisher is paid otherwise from here on. */
const change = fc.record({
	kind: fc.constant("change" as const),
	publisher: fc.constantFrom<PublisherId>("pa", "pc"),
	model: fc.constantFrom("CPA", "CPC"),
});

/** From here on the publisher is suspended, or active again. */
const suspension = fc.record({
	kind: fc.constant("suspension" as const),
	publisher: fc.constantFrom<PublisherId>("pa", "pc"),
	status: fc.constantFrom("active", "suspended"),
});

/** An import: another share of a publisher, other meanings of what a platform says, a rate that was missing or wrong. */
const networkChange = fc.record({
	kind: fc.constant("import" as const),
	brings: fc.oneof(
		fc.record({ publisher: fc.constantFrom<PublisherId>("pa", "pc"), sharePpm: fc.constantFrom(500_000, 123_456, 1_000_000, 0) }),
		fc.record({ amendmentsOf: fc.constantFrom<PublisherId>("pa", "pc"), amendments: fc.constantFrom("none", "pair") }),
		fc.record({
			currency: fc.constantFrom("USD", "EUR", "XXX"),
			negative_payout: fc.constantFrom("cancel", "adjust"),
			status_map: fc.constantFrom({}, { whatever: "approved", pending: "approved" }, { approved: "cancelled", reversed: "pending" }),
		}),
		fc.record({
			rates: fc.constantFrom("EUR", "XXX"),
			from: fc.nat({ max: 11 }),
			usd: fc.constantFrom("1.0837", "0.912345678", "3"),
		}),
	),
});

/** Publishers confirm all that they are owed. */
const hearing = fc.constant({ kind: "hear" as const });

/** Corrected rates are to hold for what is settled. */
const revaluation = fc.record({
	kind: fc.constant("revalue" as const),
	currency: fc.constantFrom("EUR", "EUR", "XXX"),
	from: fc.constantFrom("2026-11-05", "2026-11-12"),
	to: fc.constantFrom("2026-11-14", "2026-11-25"),
});

/** An operator's word. */
const verdict = fc.record({
	kind: fc.constant("verdict" as const),
	txnid: fc.nat({ max: 7 }).map((n) => `t-${n}`),
	verdict: fc.constantFrom("voided", "released", null),
});

export const history = fc.array(
	fc.oneof(
		{ weight: 8, arbitrary: click },
		{ weight: 8, arbitrary: postback },
		{ weight: 4, arbitrary: replay },
		{ weight: 1, arbitrary: change },
		{ weight: 1, arbitrary: suspension },
		{ weight: 2, arbitrary: networkChange },
		{ weight: 2, arbitrary: revaluation },
		{ weight: 2, arbitrary: hearing },
		{ weight: 3, arbitrary: verdict },
		{ weight: 3, arbitrary: adjustment },
		{ weight: 3, arbitrary: attachment },
		{ weight: 2, arbitrary: undo },
	),
	{
		minLength: 1,
		maxLength: 60,
	},
);

type Step = typeof history extends fc.Arbitrary<(infer Of)[]> ? Of : never;
type Intervention = Extract<
	Step,
	{ kind: "change" | "suspension" | "import" | "revalue" | "hear" | "verdict" | "adjust" | "attach" | "undo" }
>;
type Delivery =
	| { queue: "clicks"; body: ClickMessage }
	| { queue: "postbacks"; body: ReturnType<typeof postbackMessage> }
	| { queue: null; body: Intervention };

export const hashOf = (publisher: PublisherId, n: number) => `${publisher === "pa" ? "a" : "c"}${n.toString(16)}`.padEnd(32, "0");

export function deliveriesOf(steps: readonly Step[]): Delivery[] {
	const deliveries: Delivery[] = [];
	for (const [serial, step] of steps.entries()) {
		if (step.kind === "replay") {
			const again = deliveries[step.of % Math.max(1, deliveries.length)];
			if (again !== undefined) deliveries.push(again);
		} else if (step.kind === "click") deliveries.push({ queue: "clicks", body: clickMessage(step, serial) });
		else if (step.kind === "postback") deliveries.push({ queue: "postbacks", body: toPostbackMessage(step) });
		else deliveries.push({ queue: null, body: step });
	}
	return deliveries;
}

function clickMessage(step: Extract<Step, { kind: "click" }>, serial: number): ClickMessage {
	const { publisher, hash, at, bidMicros, reason, source, terms } = step;
	const time = FIRST_DAY + at;
	return {
		format: 1,
		id: `${leastIdAt(time)}-${serial}`,
		at: time,
		hash: hashOf(publisher, hash),
		kind: hash % 3 === 0 ? "link" : "openrtb",
		...(reason !== undefined && { reason }),
		publisher: `identity-${publisher}`,
		// Of two brands.
		brandId: 1 + (hash % 2),
		campaignId: 11 + (hash % 2),
		bidMicros: reason === "test" ? 0 : bidMicros,
		...terms,
		texts: { clickid: `click-${publisher}-${hash}`, ...(source !== undefined && { subi: source }) },
		country: hash % 4 === 0 ? "GB" : "US",
	};
}

function toPostbackMessage({ publisher, hash, upperCase, eventAt, kind: _, ...fields }: Extract<Step, { kind: "postback" }>) {
	const cid = hashOf(publisher, hash);
	return postbackMessage("northwind", { ...fields, cid: upperCase ? cid.toUpperCase() : cid, eventAt: FIRST_DAY + eventAt });
}

/** What operators ask for; some of that is refused, as there is nothing to undo, to judge or to attach to. */
async function adjustAs(step: Extract<Intervention, { kind: "adjust" | "attach" | "undo" }>, made: string[]): Promise<void> {
	const isOfNothing = step.kind === "attach" && !(await isReported(step.txnid));
	const response = await askFor(step, made);
	const { id } = await response.json<{ id?: string }>();
	expect(response.status).toBe(isOfNothing ? 404 : id === undefined ? 422 : 200);
	if (id !== undefined && step.kind !== "undo") made.push(id);
}

async function isReported(txnid: string): Promise<boolean> {
	const found = await env.DB.prepare("SELECT txnid FROM conversions WHERE platform = 'northwind' AND txnid = ?").bind(txnid).first();
	return found !== null;
}

function askFor(step: Extract<Intervention, { kind: "adjust" | "attach" | "undo" }>, made: readonly string[]): Promise<Response> {
	if (step.kind === "adjust") return postAdjustment(step.body);
	if (step.kind === "undo") return postAdjustment({ kind: "undo", adjustment: made[step.which % Math.max(1, made.length)] ?? "none" });
	const { txnid, publisher, hash } = step;
	return postVerb("northwind", txnid, "attach", { click: hashOf(publisher, hash) });
}

/** Gives the deliveries to the real consumers, in batches of one queue each; what people do comes before its batch. */
export async function deliver(deliveries: readonly Delivery[], batchSize: number, made: string[] = []): Promise<void> {
	for (let start = 0; start < deliveries.length; start += batchSize) {
		const batch = deliveries.slice(start, start + batchSize);
		for (const { queue, body } of batch) if (queue === null) await intervene(body, made);
		await consumeClicks(batch.flatMap(({ queue, body }) => (queue === "clicks" ? [body] : [])));
		const postbacks = batch.flatMap(({ queue, body }) => (queue === "postbacks" ? [body] : []));
		if (postbacks.length > 0) expect(await consume(...postbacks)).toEqual({ acked: postbacks.length, retried: 0 });
	}
	// Conversions that outran their click are looked at again, as the sweep does.
	const { results } = await env.DB.prepare("SELECT platform, txnid FROM conversions").all<{ platform: string; txnid: string }>();
	if (results.length > 0) await consume(...results.map((key) => ({ format: 1, kind: "look_again", ...key })));
}

/** @param made ids of adjustments that may be undone */
export async function intervene(step: Intervention, made: string[]): Promise<void> {
	if (step.kind === "change") return setPublisher(step.publisher, "pricing_model", step.model);
	if (step.kind === "suspension") return setPublisher(step.publisher, "status", step.status);
	if (step.kind === "import") return importAs(step.brings);
	if (step.kind === "revalue") return revalueAs(step);
	if (step.kind === "hear") {
		await env.DB.prepare(
			"UPDATE callbacks SET state = 'delivered', exposures = 1, next_attempt_at = NULL WHERE state <> 'delivered'",
		).run();
		return;
	}
	if (step.kind === "adjust" || step.kind === "attach" || step.kind === "undo") return adjustAs(step, made);
	const deps = { db: openDatabase(env.DB), callbacks: undefined, now: () => Date.now() };
	await judgeConversion(deps, { platform: "northwind", txnid: step.txnid }, step.verdict, "adjustment");
}

/** Refused where there is no rate of these days. */
async function revalueAs({ currency, from, to }: Extract<Step, { kind: "revalue" }>): Promise<void> {
	const response = await postRevalue({ currency, from, to });
	const { complete } = await response.json<{ complete?: boolean }>();
	expect([response.status, complete]).toEqual(response.status === 200 ? [200, true] : [422, undefined]);
}

async function importAs(brings: Extract<Step, { kind: "import" }>["brings"]): Promise<void> {
	if ("rates" in brings) {
		const { rates: currency, from, usd } = brings;
		const dates = Array.from({ length: 6 }, (_, day) => new Date(FIRST_DAY + (from + day - 5) * DAY_MS).toISOString().slice(0, 10));
		await importFile({ exchange_rates: dates.map((date) => ({ currency, date, usd })) });
	} else if ("currency" in brings) await importExactly({ platforms: [{ ...NORTHWIND, ...brings }] });
	else {
		if ("publisher" in brings) await setPublisher(brings.publisher, "revenue_share_ppm", brings.sharePpm);
		else await setPublisher(brings.amendmentsOf, "amendments", brings.amendments);
		await importFile({ exchange_rates: [] });
	}
}

async function consumeClicks(bodies: readonly ClickMessage[]): Promise<void> {
	if (bodies.length === 0) return;
	const messages = bodies.map((body, at) => ({ id: `c-${at}`, timestamp: new Date(), attempts: 1, body }));
	const batch = createMessageBatch("clickbourse-clicks", messages);
	const ctx = createExecutionContext();
	await worker.queue(batch, env, ctx);
	const { retryMessages } = await getQueueResult(batch, ctx);
	await waitOnExecutionContext(ctx);
	expect(retryMessages).toEqual([]);
}
