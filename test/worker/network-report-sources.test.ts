/** GET /operator/reports by source with anything else: added up of single clicks and conversions, of a bounded number. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { networkReportSchema } from "../../src/network-reports/report-answer.ts";
import { MAX_SOURCE_ROWS, sourceRows } from "../../src/network-reports/source-rows.ts";
import { postAdjustment } from "../support/adjustments.ts";
import { capDeps, clickMessage, letters } from "../support/click-messages.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { ON_D1 } from "../support/engine.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";
import { importReportNetwork } from "../support/report-rows.ts";

const DAY = "2026-11-18";
const AT = Date.parse(`${DAY}T15:00:00Z`);
const hashOf = (n: number) => `${n}`.repeat(32);

function click(hash: number, source: string | null, fields: Partial<ClickMessage> = {}): ClickMessage {
	const texts = source === null ? {} : { texts: { subi: source } };
	return clickMessage({ at: AT + hash, hash: hashOf(hash), publisher: "identity-pa", campaignId: 11, ...texts, ...fields });
}

/** Three paid clicks, two of them of one source; one by a robot, one of nobody, and one of the day before, whose sale is of this day. */
const CLICKS = [
	click(1, "news"),
	click(2, "news", { brandId: 2, campaignId: 12, country: "GB" }),
	click(3, null, { publisher: "identity-pc", kind: "link" }),
	click(4, "news", { reason: "bot" }),
	click(5, "lost", { publisher: "nobody", reason: "bot" }),
	click(6, "eve", { at: AT - 86_400_000, publisher: "identity-pc" }),
];

async function ask(query: string, accept = "application/json"): Promise<Response> {
	const path = `/operator/reports?${new URLSearchParams({ from: DAY, to: DAY })}&${query}`;
	return exports.default.fetch(`https://base.example${path}`, { headers: { ...OPERATOR_HEADERS, accept } });
}

async function read(query: string) {
	const response = await ask(query);
	expect([query, response.status]).toEqual([query, 200]);
	return v.parse(networkReportSchema, await response.json());
}

const setClicks = (count: number) =>
	env.DB.batch([
		env.DB.prepare("DELETE FROM daily_network WHERE campaign_id = 77"),
		env.DB.prepare(`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count)
			VALUES ('${DAY}', 77, 'pc', 1, 'northwind', 'US', 'link', 'bot', ${count})`),
	]);

beforeAll(async () => {
	await importReportNetwork();
	await consumeClicks(capDeps(), letters(...CLICKS));
	const sale = (txnid: string, hash: number, fields: object = {}) =>
		postbackMessage("northwind", { txnid, cid: hashOf(hash), eventAt: AT, payoutMicros: 10_000_000, ...fields });
	await consume(sale("a", 1), sale("b", 1, { status: "cancelled" }), sale("c", 2, { status: "pending" }), sale("d", 6));
	expect((await postAdjustment({ kind: "amount", publisher: "pa", date: DAY, amount: "-2.5" })).status).toBe(200);
});

describe("worker: the network's report by source and more", () => {
	it("has every figure of each source, with brand, platform, country and kind of link, and amounts of none", async () => {
		const { data, total } = await read("group=source,brand,platform,country,kind");
		const sale = { gross_revenue: "10.0000", conversion_count: 1, reversal_rate: 0 };
		const of = { platform: "northwind", country: "US", kind: "openrtb" };
		expect(data).toMatchObject([
			{ source: null, brand: null, platform: null, publisher_revenue: "-2.5000", clicks_paid: 0, clicks_unpaid: 0 },
			{ source: "", brand: "shoes.example", ...of, kind: "link", clicks_paid: 1, conversion_count: 0 },
			{ source: "eve", brand: "shoes.example", ...of, ...sale, clicks_paid: 0, conversions: { approved: 1, pending: 0, cancelled: 0 } },
			{ source: "lost", brand: "shoes.example", ...of, clicks_paid: 0, clicks_unpaid: 1, unpaid: { bot: 1 } },
			{ source: "news", brand: "hats.example", ...of, ...sale, country: "GB", conversions: { approved: 0, pending: 1, cancelled: 0 } },
			{
				...{ source: "news", brand: "shoes.example", ...of, ...sale, reversal_rate: 0.5, clicks_paid: 1, clicks_unpaid: 1 },
				...{ unpaid: { bot: 1 }, conversions: { approved: 1, pending: 0, cancelled: 1 }, epc_bid: "0.4000" },
			},
		]);
		expect(total).toMatchObject({ clicks_paid: 3, clicks_unpaid: 2, conversions: { approved: 2, pending: 1, cancelled: 1 } });
	});

	it("pages by them, and tells a publisher's", async () => {
		const group = "group=source,brand,kind";
		const { data } = await read(group);
		const paged = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page: Awaited<ReturnType<typeof read>> = await read(`${group}&limit=2&cursor=${cursor}`);
			paged.push(...page.data);
			cursor = page.next_cursor;
		}
		expect(paged).toEqual(data);
		expect((await read(`${group}&publisher=pc`)).data.map(({ source }) => source)).toEqual(["", "eve"]);
	});

	it("has all figures of sources alone where they are asked for, as CSV too", async () => {
		expect((await read("group=source")).data[0]).not.toHaveProperty("unpaid");
		expect((await read("group=source&detail=1")).data).toMatchObject([
			{ source: null, publisher_revenue: "-2.5000" },
			{ source: "", clicks_paid: 1 },
			{ source: "eve", conversion_count: 1 },
			{ source: "lost", unpaid: { bot: 1 } },
			{ source: "news", clicks_paid: 2, unpaid: { bot: 1 }, conversions: { approved: 1, pending: 1, cancelled: 1 } },
		]);
		const csv = await (await ask("group=source&detail=1", "text/csv")).text();
		expect(csv.split("\r\n")[0]?.split(",")).toEqual(expect.arrayContaining(["source", "conversions_cancelled", "unpaid_bot"]));
		expect((await ask("group=source&detail=yes")).status).toBe(422);
	});

	it("refuses more clicks and conversions than it reads, and says what to narrow; sums of sources are there even so", async () => {
		const refusal = async (query: string) => {
			const response = await ask(query);
			const { faults } = await response.json<{ faults?: { path: string; message: string }[] }>();
			return [response.status, faults?.[0]?.path, faults?.[0]?.message];
		};
		await setClicks(MAX_SOURCE_ROWS - 9);
		expect(await refusal("group=source,brand")).toEqual([200, undefined, undefined]);
		await setClicks(MAX_SOURCE_ROWS - 8);
		const message = "source with all figures, or with more than day and publisher, is read of at most 100000 clicks and conversions";
		expect(await refusal("group=source,brand")).toEqual([
			422,
			"group",
			`${message}, and there are 100001: choose a shorter period, or one publisher`,
		]);
		await setClicks(MAX_SOURCE_ROWS);
		expect(await refusal("group=source&detail=1&publisher=pc")).toEqual([
			422,
			"group",
			`${message}, and there are 100002: choose a shorter period`,
		]);
		expect([(await ask("group=source,kind&publisher=pa")).status, (await ask("group=source,day,publisher")).status]).toEqual([200, 200]);
		await setClicks(0);
	});

	it.runIf(ON_D1)("reads no click or conversion but those of its period, each by an index", async () => {
		for (const publisher of [null, "pa"]) {
			const plan = await planOf(sourceRows({ from: DAY, to: DAY, publisher }));
			const steps = plan.filter((step) => /^(SEARCH|SCAN) [cv]\b/.test(step));
			expect(steps).toEqual([
				expect.stringMatching(
					/^SEARCH c USING (COVERING )?INDEX clicks_paid_by_publisher \(publisher_id=\? AND clicked_at>\? AND clicked_at<\?\)/,
				),
				expect.stringMatching(
					/^SEARCH c USING (COVERING )?INDEX clicks_other_by_publisher \(publisher_id=\? AND clicked_at>\? AND clicked_at<\?\)/,
				),
				expect.stringMatching(/^SEARCH v USING INDEX conversions_paid_by_event \(publisher_id=\? AND event_at>\? AND event_at<\?\)/),
				expect.stringMatching(/^SEARCH c USING PRIMARY KEY \(id=\?\)/),
				expect.stringMatching(/^SEARCH v USING INDEX conversions_other_by_publisher \(publisher_id=\? AND event_at>\? AND event_at<\?\)/),
				expect.stringMatching(/^SEARCH c USING PRIMARY KEY \(id=\?\)/),
				...(publisher === null
					? [
							expect.stringMatching(
								/^SEARCH c USING INDEX clicks_other_by_publisher \(publisher_id=\? AND clicked_at>\? AND clicked_at<\?\)/,
							),
						]
					: []),
			]);
		}
	});

	it("keeps what has no row any more under no source, so that all adds up", async () => {
		await env.DB.prepare("DELETE FROM clicks WHERE reason = 'bot'").run();
		const { data, total } = await read("group=source,kind");
		expect(data.filter(({ source }) => source === null)).toMatchObject([
			{ kind: null, clicks_unpaid: 0, publisher_revenue: "-2.5000" },
			{ kind: "openrtb", clicks_paid: 0, clicks_unpaid: 2, unpaid: { bot: 2 } },
		]);
		expect([total.clicks_unpaid, data.reduce((sum, row) => sum + (row.clicks_unpaid ?? 0), 0)]).toEqual([2, 2]);
	});
});
