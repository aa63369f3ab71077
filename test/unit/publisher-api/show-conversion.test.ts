import { describe, expect, test } from "vitest";
import { type EventRow, showHistory } from "../../../src/publisher-api/show-conversion.ts";

const VIEWER = { publisherId: "acme", pricingModel: "CPC", salesDataEnabled: false, campaignIdEnabled: false } as const;
const event = (kind: string, set: Record<string, unknown>, at = 0): EventRow => ({ at, kind, details: JSON.stringify({ set }) });
const shown = (...events: EventRow[]) => showHistory(events, VIEWER).map(({ cause, status, revenue }) => [cause, status, revenue]);

const RECEIVED = event("received", { status: "approved", stage: "waiting", publisherId: null });
const SETTLED = { publisherId: "acme", stage: "settled", revenueMicros: 8_000_000 };
const GONE = { publisherId: null, stage: "unmatched", revenueMicros: null };

describe("unit: how a publisher sees what happened to a conversion", () => {
	test("one that an operator gave its click was matched: its platform has reported nothing then", () => {
		expect(shown(RECEIVED, event("attached", SETTLED))).toEqual([["matched", "approved", "8.0000"]]);
		expect(shown(RECEIVED, event("attributed", { ...SETTLED, publisherId: "other" }), event("detached", SETTLED))).toEqual([
			["matched", "approved", "8.0000"],
		]);
	});

	test("one that was taken away and given back is told of again, though it is what it was", () => {
		const back = event("attached", SETTLED, 86_400_000);
		expect(showHistory([RECEIVED, event("attached", SETTLED), event("detached", GONE), back], VIEWER).map(({ at }) => at)).toEqual([
			"1970-01-01T00:00:00.000Z",
			"1970-01-02T00:00:00.000Z",
		]);
		const theirs = event("attached", { ...SETTLED, publisherId: "other" });
		expect(shown(RECEIVED, event("attributed", SETTLED), event("detached", GONE), theirs, event("detached", GONE), back)).toHaveLength(2);
	});
});
