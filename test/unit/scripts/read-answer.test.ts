/** What the CLI makes of an answer that is not quite the one it knows. */
import { describe, expect, it } from "vitest";
import { Failure } from "../../../scripts/local/failure.ts";
import { readAnswer } from "../../../scripts/operator/read-answer.ts";
import { type Explanation, explanationSchema } from "../../../src/bidding/explain-answer.ts";
import { type Status, statusSchema } from "../../../src/operator/status/status-answer.ts";

const backlog = { messages: 3, oldest_at: "2026-11-18T15:00:00.000Z" };
const STATUS: Status = {
	at: "2026-11-18T15:00:00.000Z",
	problems: [],
	book: { version: 7, published_at: "2026-11-18T14:59:00.000Z", age_seconds: 60 },
	book_changes_waiting: 0,
	queues: { clicks: backlog, postbacks: null, callbacks: null },
	callbacks: {
		undelivered: { count: 0, oldest_at: null, oldest_age_seconds: null },
		overdue: 0,
		exhausted: 0,
		paused: [{ publisher: "acme", since: "2026-11-18T14:00:00.000Z", failures_in_a_row: 20, next_probe_at: null }],
	},
	conversions: {
		...{ waiting: 1, unmatched: 0, quarantined: 0, held_for: { no_rate: 0, amount: 0, review: 0, publisher_suspended: 0 } },
		...{ credited_without_rate: 0, unknown_status: { count: 0, words: [] } },
	},
	clicks: { since: "2026-11-18T15:00:00.000Z", paid: 1, unpaid: [], dropped: 0 },
	sums: { compared_at: null, difference_count: 0, differences: [] },
	ledger: { checked_at: null, whole: null, difference_count: 0, differences: [] },
	days: { selected_at: null, without_digest: 0, to_renew: 0, oldest: null },
	cron: [{ job: "book", ended_at: "2026-11-18T15:00:00.000Z", failing_since: null }],
	dead_letters: { clicks: 0, postbacks: 0, callbacks: 2 },
	kept: { clicks: 0, dead_letters: 0 },
	database_engine: "d1",
	database_bytes: null,
	database_alert: null,
	products_bytes: null,
	products_alert: null,
	paused_campaigns: { count: 1, campaigns: [5001] },
};
const EXPLANATION: Explanation = {
	endpoint: "openrtb",
	decision: { outcome: "no-bid", reason: "cap_met", condition: 7, code: 506, explanation: "a cap is met" },
	privacy: "gdpr",
	candidates: [
		{
			...{ domain: "shoes.example", campaign_id: 5001, link: "homepage", eligible: false, won: false },
			...{ reason: "cap_met", explanation: "a cap is met", price: null },
		},
	],
};

/** The value with a field that nobody knows in each of its objects. */
function withMore(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withMore);
	if (typeof value !== "object" || value === null) return value;
	return { ...Object.fromEntries(Object.entries(value).map(([name, of]) => [name, withMore(of)])), added_later: { by: "a newer server" } };
}

describe("unit: answers as the CLI reads them", () => {
	it("fields that a newer server has added, at any depth, are left out", () => {
		expect(readAnswer(statusSchema, withMore(STATUS))).toEqual(STATUS);
		expect(readAnswer(explanationSchema, withMore(EXPLANATION))).toEqual(EXPLANATION);
	});

	it("a time in another notation is no reason to show nothing", () => {
		expect(readAnswer(statusSchema, { ...STATUS, at: "yesterday" }).at).toBe("yesterday");
	});

	it.each([
		["that lacks a field", { ...STATUS, conversions: { waiting: 1 } }],
		["that lacks a field and has another", { ...STATUS, conversions: { waiting: 1, unmatched: 0, unsettled: 0 } }],
		["with a value of another type", { ...STATUS, book_changes_waiting: "0" }],
		["that is no object", []],
	])("an answer %s is refused, and shown", (_, body) => {
		expect(() => readAnswer(statusSchema, body)).toThrow(Failure);
		expect(() => readAnswer(statusSchema, body)).toThrow(JSON.stringify(body).slice(0, 500));
	});
});
