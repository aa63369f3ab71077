import { describe, expect, test } from "vitest";
import { describeStatus } from "../../../scripts/operator/describe-status.ts";
import type { Status } from "../../../src/operator/status/status-answer.ts";

const AT = "2026-11-18T15:00:00.000Z";
const STATUS: Status = {
	at: AT,
	problems: [],
	book: { version: 7, published_at: AT, age_seconds: 60 },
	book_changes_waiting: 0,
	queues: { clicks: null, postbacks: null, callbacks: null },
	callbacks: { undelivered: { count: 0, oldest_at: null, oldest_age_seconds: null }, overdue: 0, exhausted: 0, paused: [] },
	clicks: { since: AT, paid: 1, unpaid: [], dropped: 0 },
	conversions: {
		...{ waiting: 1, unmatched: 0, quarantined: 0, held_for: { no_rate: 0, amount: 0, review: 0, publisher_suspended: 0 } },
		...{ credited_without_rate: 0, unknown_status: { count: 0, words: [] } },
	},
	sums: { compared_at: null, difference_count: 0, differences: [] },
	ledger: { checked_at: null, whole: null, difference_count: 0, differences: [] },
	days: { selected_at: null, without_digest: 0, to_renew: 0, oldest: null },
	cron: [],
	dead_letters: { clicks: 0, postbacks: 0, callbacks: 0 },
	kept: { clicks: 0, dead_letters: 0 },
	database_engine: "d1",
	database_bytes: null,
	database_alert: null,
	products_bytes: null,
	products_alert: null,
	paused_campaigns: { count: 0, campaigns: [] },
};

const digestsOf = (days: Status["days"]) => describeStatus({ ...STATUS, days }).filter((line) => line.startsWith("Day digests"));

describe("unit: the status in words", () => {
	test("problems come last, each with since when, what it is worth, and what mends it", () => {
		const problem = {
			kind: "unmatched",
			text: "conversions without a click",
			count: 3,
			since: AT,
			cost: "4.5000",
			command: "conversions list",
		} as const;
		const other = { kind: "waiting", text: "wait", count: 1, since: null, cost: null, command: null } as const;
		expect(describeStatus({ ...STATUS, problems: [problem, other] }).slice(-2)).toEqual([
			"Problems          3 conversions without a click, since 2026-11-18T15:00:00.000Z, worth 4.5000 USD: `conversions list`",
			"                  1 wait",
		]);
		expect(describeStatus(STATUS).at(-1)).toBe("Problems          none");
		// A state is there or not: a number before it would be one of what its text does not name.
		const state = { kind: "database_filling", text: "the database is full", count: 1, since: null, cost: null, command: null } as const;
		expect(describeStatus({ ...STATUS, problems: [state] }).at(-1)).toBe("Problems          the database is full");
	});

	test("says of one difference that it differs", () => {
		const difference = (count: number) =>
			describeStatus({
				...STATUS,
				sums: { ...STATUS.sums, difference_count: count },
				ledger: { ...STATUS.ledger, difference_count: count },
			}).filter((line) => /^(Counters|Ledger) /.test(line));
		expect(difference(1)).toEqual([
			"Counters          1 sum differs from its rows: `reconcile-sums --repair` writes them right",
			"Ledger            1 thing differs; not all checked yet",
		]);
		expect(difference(2)).toEqual([
			"Counters          2 sums differ from their rows: `reconcile-sums --repair` writes them right",
			"Ledger            2 things differ; not all checked yet",
		]);
	});

	test("says how full each database is", () => {
		const sizesOf = (status: Partial<Status>) => {
			const lines = describeStatus({ ...STATUS, ...status });
			return lines.slice(
				lines.findIndex((line) => line.startsWith("Database")),
				lines.findIndex((line) => line.startsWith("Paused")),
			);
		};
		expect(sizesOf({})).toEqual(["Database          not told", "Products          not told"]);
		expect(sizesOf({ database_engine: "postgres", database_bytes: 2e10, products_bytes: 8.6e9, products_alert: 85 })).toEqual([
			"Database          20000.0 MB in PostgreSQL",
			"Products          8600.0 MB of 10 GB",
			"                  over 85 % full: when it is full no feed is taken over; remove products that are sold no more",
		]);
	});

	test("says when the cron last did its work, and which of its jobs fail", () => {
		const cronOf = (cron: Status["cron"]) => {
			const lines = describeStatus({ ...STATUS, cron });
			return lines.slice(
				lines.findIndex((line) => line.startsWith("Cron")),
				lines.findIndex((line) => line.startsWith("Dead")),
			);
		};
		expect(cronOf([])).toEqual(["Cron              has not run yet"]);
		const later = "2026-11-18T15:20:00.000Z";
		const jobs: Status["cron"] = [
			{ job: "caps", ended_at: later, failing_since: null },
			{ job: "book", ended_at: AT, failing_since: "2026-11-18T15:01:00.000Z" },
		];
		expect(cronOf(jobs)).toEqual([
			`Cron              2 jobs, the last of which came to its end ${later}`,
			`                  book fails since 2026-11-18T15:01:00.000Z; it last came to its end ${AT}`,
		]);
	});

	test("says which closed days wait for their digest", () => {
		expect(digestsOf(STATUS.days)).toEqual(["Day digests       not looked for yet"]);
		expect(digestsOf({ ...STATUS.days, selected_at: AT })).toEqual([`Day digests       all made; looked for at ${AT}`]);
		expect(digestsOf({ selected_at: AT, without_digest: 2, to_renew: 1, oldest: "2026-11-16" })).toEqual([
			`Day digests       2 days without one, 1 to be made again, from 2026-11-16 on; looked for at ${AT}`,
		]);
	});
});
