/** GET /operator/clicks: every click once, whatever is asked for, page by page. */
import { exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { clickPageSchema, type ListedClick } from "../../src/operator/clicks/clicks-answer.ts";
import { readClicksQuery } from "../../src/operator/clicks/clicks-request.ts";
import { lookAtClicks, MAX_LOOKED_AT } from "../../src/operator/clicks/list-clicks.ts";
import { capDeps, clickMessage, letters } from "../support/click-messages.ts";
import { ON_D1 } from "../support/engine.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";
import { importReportNetwork, setPublisher } from "../support/report-rows.ts";

const AT = Date.parse("2026-11-18T10:00:00Z");
const hashOf = (n: number) => n.toString(16).padStart(32, "0");
const COUNT = 60;

/** Several of each kind, two of a millisecond, of two publishers and of nobody. */
const CLICKS = Array.from({ length: COUNT }, (_, n): ClickMessage => {
	const reason = n % 4 === 0 ? ("bot" as const) : n % 4 === 1 ? ("embedded" as const) : undefined;
	return clickMessage({
		...{ at: AT + Math.floor(n / 2) * 1_000, hash: hashOf(n), publisher: n % 3 === 0 ? "identity-pa" : "identity-pc" },
		...{ brandId: 1 + (n % 2), campaignId: 11 + (n % 2), country: n % 5 > 0 ? "US" : n % 2 > 0 ? "GB" : "UK" },
		...(n % 7 === 0 && { kind: "link" as const }),
		...(n === 20 && { publisher: "nobody" }),
		...(n === 21 && { ipPrefix: "203.0.113.0/24", askedFrom: "2001:db8:1::/48", keyword: "boots" }),
		...(reason !== undefined && { reason }),
		texts: { clickid: `click-${n}`, ...(n % 3 === 1 && { subi: "news" }) },
	});
});

const ask = (query: string) => exports.default.fetch(`https://base.example/operator/clicks?${query}`, { headers: OPERATOR_HEADERS });

async function page(query: string) {
	const response = await ask(query);
	expect([query, response.status]).toEqual([query, 200]);
	return v.parse(clickPageSchema, await response.json());
}

async function all(query: string, limit = 7): Promise<ListedClick[]> {
	const clicks: ListedClick[] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const { data, next_cursor }: Awaited<ReturnType<typeof page>> = await page(`${query}&limit=${limit}&cursor=${cursor}`);
		clicks.push(...data);
		cursor = next_cursor;
	}
	return clicks;
}

const FILTERS: Record<string, [query: string, holds: (click: ListedClick) => boolean]> = {
	publisher: ["publisher=pc", ({ publisher }) => publisher === "pc"],
	source: ["source=news", ({ source_id }) => source_id === "news"],
	brand: ["brand=https://www.hats.example/", ({ brand }) => brand === "hats.example"],
	campaign: ["campaign=11", ({ campaign_id }) => campaign_id === 11],
	platform: ["platform=northwind", ({ platform }) => platform === "northwind"],
	country: ["country=uk", ({ country }) => country === "GB" || country === "UK"],
	kind: ["kind=link", ({ kind }) => kind === "link"],
	paid: ["reason=paid", ({ reason }) => reason === null],
	unpaid: ["reason=unpaid", ({ reason }) => reason !== null],
	bot: ["reason=bot", ({ reason }) => reason === "bot"],
	time: [
		"from=2026-11-18T10:00:05Z&to=2026-11-18T10:00:20Z",
		({ clicked_at }) => clicked_at >= "2026-11-18T10:00:05" && clicked_at < "2026-11-18T10:00:20",
	],
	day: ["from=2026-11-18&to=2026-11-18", () => true],
};

beforeAll(async () => {
	await importReportNetwork();
	await setPublisher("pa", "pricing_model", "CPA");
	await consumeClicks(capDeps(), letters(...CLICKS));
});

describe("worker: GET /operator/clicks", () => {
	it("lists every click once, the newest first, whatever is asked for and however it is paged", async () => {
		const everything = await all("", 1_000);
		expect(everything).toHaveLength(COUNT);
		expect(everything.map(({ clicked_at }) => clicked_at)).toEqual(
			everything
				.map(({ clicked_at }) => clicked_at)
				.toSorted()
				.toReversed(),
		);
		expect(new Set(everything.map(({ reason, publisher }) => `${reason} ${publisher}`)).size).toBeGreaterThan(4);
		await fc.assert(
			fc.asyncProperty(
				fc.subarray(Object.keys(FILTERS).filter((name) => !["paid", "unpaid", "bot", "time", "day"].includes(name))),
				fc.constantFrom(null, "paid", "unpaid", "bot"),
				fc.constantFrom(null, "time", "day"),
				fc.integer({ min: 1, max: 25 }),
				async (some, reason, time, limit) => {
					const filters = [...some, ...(reason === null ? [] : [reason]), ...(time === null ? [] : [time])].flatMap((name) => {
						const filter = FILTERS[name];
						return filter === undefined ? [] : [filter];
					});
					const listed = await all(filters.map(([query]) => query).join("&"), limit);
					const meant = everything.filter((click) => filters.every(([, holds]) => holds(click)));
					expect(listed.map(({ id }) => id).toSorted()).toEqual(meant.map(({ id }) => id).toSorted());
					const times = listed.map(({ clicked_at }) => clicked_at);
					expect(times).toEqual(times.toSorted().toReversed());
				},
			),
			{ numRuns: 40 },
		);
	});

	it("finds a click by any of its ids", async () => {
		const [click] = await all("publisher=pa&reason=paid", 1);
		for (const id of [click?.id, click?.click_hash.toUpperCase(), click?.publisher_click_id]) {
			expect([id, (await page(`id=${id}`)).data]).toEqual([id, [click]]);
			expect((await page(`id=${id}&publisher=pc`)).data).toEqual([]);
		}
		expect(await page("id=nothing")).toEqual({ data: [], limit: 100, next_cursor: null });
	});

	it("shows by what a dispute is settled: the keyword of the bid, and the networks that asked and clicked", async () => {
		const networks = { address_prefix: "203.0.113.0/24", asked_from: "2001:db8:1::/48", keyword: "boots" };
		expect((await page("id=click-21")).data).toMatchObject([networks]);
		expect((await page("id=click-22")).data).toMatchObject([{ address_prefix: null, asked_from: null, keyword: null }]);
	});

	it.each([
		["reason=no", "reason"],
		["brand=..", "brand"],
		["campaign=x", "campaign"],
		["country=USA", "country"],
		["from=yesterday", "from"],
		["limit=0", "limit"],
		["cursor=zzz", "cursor"],
		["publisers=pa", "publisers"],
	])("%s: 422", async (query, path) => {
		const response = await ask(query);
		const { faults } = await response.json<{ faults: { path: string }[] }>();
		expect([response.status, faults[0]?.path]).toEqual([422, path]);
	});

	it("answers a cursor, filter and id of any shape with 200 or 422", async () => {
		const text = fc.oneof(
			fc.string({ maxLength: 40 }),
			fc.constantFrom("\0", "%", "9".repeat(15), `${AT}.x`, `999999999999999.${"f".repeat(36)}`),
		);
		const name = fc.constantFrom("id", "publisher", "source", "brand", "campaign", "platform", "country", "from", "to", "cursor", "limit");
		await fc.assert(
			fc.asyncProperty(fc.dictionary(name, text, { maxKeys: 4 }), async (query) => {
				expect([200, 422]).toContain((await ask(String(new URLSearchParams(query)))).status);
			}),
			{ numRuns: 60 },
		);
	});

	it.runIf(ON_D1).each([
		["limit=1", ["SEARCH c USING PRIMARY KEY (id<?)"]],
		[
			"publisher=pc",
			["SEARCH c USING INDEX clicks_paid_by_publisher (publisher_id=?", "SEARCH c USING INDEX clicks_other_by_publisher (publisher_id=?"],
		],
		["publisher=pc&reason=bot", ["SEARCH c USING INDEX clicks_other_by_publisher (publisher_id=?"]],
	])("%s looks at a bounded number of clicks, in the order of an index", async (query, wanted) => {
		const looked = lookAtClicks(
			readClicksQuery({ ...Object.fromEntries(new URLSearchParams(query)), cursor: `${AT}.${hashOf(1)}` }),
			MAX_LOOKED_AT,
		);
		const steps = (await planOf(looked)).map((detail) => detail.replace("COVERING ", ""));
		const searches = steps.filter((detail) => /^(SEARCH|SCAN) c\b/.test(detail));
		expect(searches).toEqual(wanted.map((step) => expect.stringContaining(step)));
		// Of two indexes, the bounded part that each gives is merged in order.
		expect(steps.filter((detail) => /TEMP B-TREE/.test(detail)).length).toBeLessThanOrEqual(searches.length > 1 ? 2 : 0);
	});
});
