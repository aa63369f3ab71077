/** How D1 answers the reports: from indexes, so that other days' and publishers' rows cost nothing. */

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { readNetworkReport } from "../../src/network-reports/read-report.ts";
import { readNetworkReportQuery } from "../../src/network-reports/report-request.ts";
import { clickLevel } from "../../src/reports/click-level.ts";
import { clickidLevel } from "../../src/reports/clickid-level.ts";
import { daywise } from "../../src/reports/daywise.ts";
import { sourceLevel } from "../../src/reports/source-level.ts";
import { ON_D1 } from "../support/engine.ts";
import { planOf } from "../support/plan-of.ts";

const QUERY = {
	period: { startDate: "2026-11-01", endDate: "2026-11-02", startAt: 1, endAt: 2 },
	paging: { page: 2, limit: 1000 },
	asOf: null,
	detail: false,
};
const REPORTS = { daywise, sourceLevel, clickidLevel, clickLevel };

async function planOfReport(
	report: keyof typeof REPORTS,
	question: "count" | "page",
	asOf: number | null = null,
	detail = false,
): Promise<string[]> {
	const steps = await planOf(REPORTS[report][question]("p", { ...QUERY, asOf, detail }));
	return steps.filter((detail) => /^(SEARCH|SCAN) (?!page|CONSTANT|\(subquery)/.test(detail));
}

const PAID_CLICKS = "SEARCH clicks USING COVERING INDEX clicks_paid_by_publisher (publisher_id=? AND clicked_at>? AND clicked_at<?)";
const VOIDED_CLICKS = "SEARCH clicks USING COVERING INDEX clicks_voided_by_publisher (publisher_id=? AND clicked_at>? AND clicked_at<?)";
const AMOUNTS = "INDEX adjustments_by_publisher (publisher_id=? AND date>? AND date<?)";
const BY_EVENT = "SEARCH conversions USING COVERING INDEX conversions_paid_by_event (publisher_id=? AND event_at>? AND event_at<?)";
const BY_CLICK_DATE =
	"SEARCH conversions USING COVERING INDEX conversions_paid_by_click_date (publisher_id=? AND clicked_at>? AND clicked_at<?)";
const OF_ONE_CLICK = "SEARCH conversions USING INDEX conversions_by_click (click_id=?)";

describe.runIf(ON_D1)("worker: plans of the reports", () => {
	it.each(["count", "page"] as const)("daywise and source_level read the publisher's days of the daily sums (%s)", async (question) => {
		expect(await planOfReport("daywise", question)).toEqual([
			"SEARCH daily_publishers USING PRIMARY KEY (publisher_id=? AND date>? AND date<?)",
		]);
		expect(await planOfReport("sourceLevel", question)).toEqual([
			"SEARCH daily_sources USING PRIMARY KEY (publisher_id=? AND date>? AND date<?)",
			"SEARCH daily_publishers USING PRIMARY KEY (publisher_id=? AND date>? AND date<?)",
		]);
	});

	it("counts read indexes of the publisher's own days, and no row of the tables", async () => {
		expect(await planOfReport("clickidLevel", "count")).toEqual([
			PAID_CLICKS,
			VOIDED_CLICKS,
			BY_EVENT,
			`SEARCH adjustments USING COVERING ${AMOUNTS}`,
		]);
		expect(await planOfReport("clickLevel", "count")).toEqual([PAID_CLICKS, OF_ONE_CLICK, VOIDED_CLICKS, OF_ONE_CLICK, BY_CLICK_DATE]);
	});

	it("pages are found in those indexes, and only their own rows are looked up", async () => {
		const byKey = /^SEARCH [abcv] USING (PRIMARY KEY|INTEGER PRIMARY KEY|INDEX sqlite_autoindex_(conversions|adjustments)_1) /;
		const clickid = await planOfReport("clickidLevel", "page");
		expect(clickid.filter((step) => !byKey.test(step))).toEqual([
			...[PAID_CLICKS, VOIDED_CLICKS, BY_EVENT, `SEARCH adjustments USING ${AMOUNTS}`],
			...[OF_ONE_CLICK, OF_ONE_CLICK],
		]);
		const click = await planOfReport("clickLevel", "page");
		expect(click.filter((step) => !byKey.test(step))).toEqual([...[PAID_CLICKS, OF_ONE_CLICK, VOIDED_CLICKS, OF_ONE_CLICK], BY_CLICK_DATE]);
	});

	it("what was credited is looked up for the records of the page alone", async () => {
		const ofOne = "INDEX callbacks_in_order (platform=? AND txnid=?)";
		const details = async (report: "clickidLevel" | "clickLevel") => {
			const plain = await planOfReport(report, "page");
			const detailed = await planOfReport(report, "page", null, true);
			return [...new Set(detailed.filter((step) => !plain.includes(step)))];
		};
		expect(await details("clickidLevel")).toEqual([`SEARCH k USING ${ofOne}`]);
		expect(await details("clickLevel")).toEqual(["SEARCH v USING INDEX conversions_by_click (click_id=?)", `SEARCH k USING ${ofOne}`]);
		expect(await planOfReport("clickidLevel", "count", null, true)).toEqual(await planOfReport("clickidLevel", "count"));
	});

	it("as of a moment, the same indexes and what was replaced since: no row of the tables is read to count", async () => {
		const REPLACED_CLICKS = "SEARCH click_history USING INDEX click_history_by_publisher (publisher_id=? AND until_sequence>?)";
		const REPLACED = "SEARCH conversion_history USING INDEX conversion_history_by_publisher (publisher_id=? AND until_sequence>?)";
		const REPLACED_OF_ONE_CLICK = "SEARCH conversion_history USING INDEX conversion_history_by_click (click_id=? AND until_sequence>?)";
		expect(await planOfReport("clickidLevel", "count", 1)).toEqual([
			...[PAID_CLICKS, VOIDED_CLICKS, BY_EVENT, `SEARCH adjustments USING COVERING ${AMOUNTS}`],
			...[REPLACED_CLICKS, REPLACED],
		]);
		const ofOneClick = [OF_ONE_CLICK, REPLACED_OF_ONE_CLICK];
		expect(await planOfReport("clickLevel", "count", 1)).toEqual([
			...[PAID_CLICKS, ...ofOneClick, VOIDED_CLICKS, ...ofOneClick, REPLACED_CLICKS, ...ofOneClick],
			...[BY_CLICK_DATE, REPLACED],
		]);
	});

	it.each(["day", "source,day", "source,brand"])("the network's by %s read the days of each publisher's sums", async (group) => {
		const run: [text: string, values: unknown[]][] = [];
		const prepare = (text: string) => {
			const statement = env.DB.prepare(text);
			const bind = (...values: unknown[]) => {
				run.push([text, values]);
				return statement.bind(...values);
			};
			return new Proxy(statement, { get: (target, name) => (name === "bind" ? bind : Reflect.get(target, name)) });
		};
		const noting = openDatabase({ prepare, batch: (some: D1PreparedStatement[]) => env.DB.batch(some) } as D1Database);
		const query = { group, from: "2026-11-01", to: "2026-11-02" };
		await readNetworkReport(noting, readNetworkReportQuery(query, Date.parse("2026-11-03")));
		const steps: string[] = [];
		for (const [text, values] of run) {
			const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${text}`)
				.bind(...values)
				.all<{ detail: string }>();
			steps.push(...results.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) (n|d|c|a|daily_network)\b/.test(detail)));
		}
		const ofAll = "SEARCH n USING PRIMARY KEY (publisher_id=? AND date>? AND date<?)";
		// Once for page and total; of single rows their number is asked before.
		expect(steps.filter((step) => step === ofAll)).toHaveLength(group === "source,brand" ? 2 : 1);
		expect(steps.filter((step) => step.startsWith("SCAN"))).toEqual([]);
	});
});
