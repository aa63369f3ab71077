/** How a publisher sees a conversion and what happened to it. Pure. */
import type { ConversionHold, ConversionStatus, PricingModel } from "../lib/enums.ts";
import { parseJson } from "../lib/json.ts";
import { formatUsd } from "../lib/money.ts";
import { isoTime } from "../lib/time.ts";
import type { ConversionHistory, HistoryCause, Hold, PublisherConversion } from "./conversions-answer.ts";

/** What of a conversion its publisher may see; amounts in micro-dollars. */
export type Viewer = { publisherId: string; pricingModel: PricingModel; salesDataEnabled: boolean; campaignIdEnabled: boolean };

export type ConversionState = {
	stage: string;
	status: ConversionStatus;
	heldFor: ConversionHold | null;
	test: boolean | number;
	revenueMicros: number | null;
	grossMicros: number | null;
	salesUsdMicros: number | null;
};

export type EventRow = { at: number; kind: string; details: string };

type ShownState = Pick<PublisherConversion, "status" | "held" | "revenue" | "gross_revenue" | "sales_amount">;

/** A conversion adds what it earns while it is settled, not cancelled, and of no test. */
export function showState(state: ConversionState, { pricingModel, salesDataEnabled }: Viewer): ShownState {
	const counts = state.status !== "cancelled" && holdOf(state) === null;
	const shown = (micros: number | null) => formatUsd(counts ? (micros ?? 0) : 0);
	return {
		status: state.status,
		held: state.status === "cancelled" ? null : holdOf(state),
		revenue: shown(state.revenueMicros),
		...(pricingModel === "CPA" && { gross_revenue: shown(state.grossMicros) }),
		...(salesDataEnabled && { sales_amount: shown(state.salesUsdMicros) }),
	};
}

/** Neither what a review looks for nor any ceiling is told. */
function holdOf({ stage, heldFor, test }: ConversionState): Hold | null {
	if (test === true || test === 1) return "test";
	if (stage === "settled") return null;
	if (heldFor === "publisher_suspended") return "account_suspended";
	return heldFor === "no_rate" ? "no_exchange_rate" : "review";
}

const CAUSES: Record<string, HistoryCause> = {
	received: "reported",
	changed: "reported",
	late: "reported",
	attributed: "matched",
	quarantined: "held",
	released: "released",
	judged: "reviewed",
	revalued: "revalued",
	attached: "matched",
	detached: "matched",
};

/**
 * What its publisher saw of it, change by change: what it was before it was found to be the publisher's is not told.
 * @param events all of the conversion's, in order: each sets fields, and together they give its state
 */
export function showHistory(events: readonly EventRow[], viewer: Viewer): ConversionHistory {
	const state: Partial<ConversionState> & { publisherId?: string | null } = {};
	const history: ConversionHistory = [];
	let before = "";
	for (const { at, kind, details } of events) {
		const { set } = parseJson(details) as { set: typeof state };
		Object.assign(state, set);
		if (state.publisherId !== viewer.publisherId || state.status === undefined) {
			// What was taken away, and its credit with it, is told of when it comes back, even as it was.
			before = "";
			continue;
		}
		const { stage = "", status, heldFor = null, test = false, revenueMicros = null, grossMicros = null, salesUsdMicros = null } = state;
		// It is found and held in two events at once: between them it is neither settled nor held.
		if (stage !== "settled" && stage !== "quarantined") continue;
		const shown = showState({ stage, status, heldFor, test, revenueMicros, grossMicros, salesUsdMicros }, viewer);
		const text = JSON.stringify(shown);
		if (text === before) continue;
		before = text;
		history.push({ at: isoTime(at), cause: CAUSES[kind] ?? "reported", ...shown });
	}
	return history;
}
