/** What prices are learned from, as the consumers write it on a real database. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { MAX_SOURCES } from "../../src/learning/sources.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { CLICKED_AT, capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const DAY = Math.floor(CLICKED_AT / DAY_MS);
const LONG_KEYWORD = "red running shoes for wide feet with laces that never come undone again";

const consume = (...messages: ClickMessage[]) => consumeClicks(capDeps(), letters(...messages));
const learnable = (fields: Partial<ClickMessage> = {}) => clickMessage({ link: "homepage", ...fields });
const ofSource = (subi: string, fields: Partial<ClickMessage> = {}) => learnable({ texts: { subi }, ...fields });
const sources = () => rowsOf("SELECT source, from_day, last_day FROM learning_sources ORDER BY source");

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [brandEntry("shoes.example", 5001, {}, { keyword_epc: { "red shoes": "0.5", [LONG_KEYWORD]: "0.6" } })],
	});
});

beforeEach(async () => {
	await forgetTraffic();
});

describe("worker: paid clicks by what prices are learned by", () => {
	it("are summed by campaign, publisher, source, class of keyword, link and day; others are not learned from", async () => {
		await consume(
			ofSource("a", { keyword: "red shoes", grossMicros: 400_000 }),
			ofSource("a", { keyword: "red shoes", grossMicros: 500_000 }),
			learnable({ keyword: "blue shoes", link: "deeplink" }),
			learnable({ keyword: LONG_KEYWORD.slice(0, 64), at: CLICKED_AT - DAY_MS }),
			learnable({ reason: "bot" }),
			learnable({ publisher: "nobody" }),
			learnable({ campaignId: 404 }),
			clickMessage(),
		);
		expect(await rowsOf("SELECT source, keyword, link, day, clicks, gross_micros FROM learning_clicks ORDER BY source, keyword")).toEqual([
			{ source: "", keyword: "*", link: "deeplink", day: DAY, clicks: 1, gross_micros: expect.any(Number) },
			{ source: "", keyword: LONG_KEYWORD, link: "homepage", day: DAY - 1, clicks: 1, gross_micros: expect.any(Number) },
			{ source: "a", keyword: "red shoes", link: "homepage", day: DAY, clicks: 2, gross_micros: 900_000 },
		]);
		expect(await rowsOf("SELECT keyword_class, count(*) AS n FROM clicks GROUP BY keyword_class ORDER BY n, keyword_class")).toEqual([
			{ keyword_class: "*", n: 1 },
			{ keyword_class: LONG_KEYWORD, n: 1 },
			{ keyword_class: "red shoes", n: 2 },
			{ keyword_class: null, n: 4 },
		]);
		expect(await sources()).toEqual([
			{ source: "", from_day: 0, last_day: DAY },
			{ source: "a", from_day: 0, last_day: DAY },
		]);
	});

	it("a publisher's sources beyond 200 are one, and one that gets a place later counts singly from the next day on", async () => {
		const names = Array.from({ length: 350 }, (_, at) => `tag-${String(at).padStart(3, "0")}`);
		for (let start = 0; start < names.length; start += 70) await consume(...names.slice(start, start + 70).map((name) => ofSource(name)));
		const known = await sources();
		expect(known).toHaveLength(MAX_SOURCES + 1);
		expect(known[0]).toEqual({ source: "*other", from_day: null, last_day: DAY });
		const clicksOf = (source: string) => rowsOf("SELECT day, clicks FROM learning_clicks WHERE source = ? ORDER BY day", source);
		expect(await clicksOf("*other")).toEqual([{ day: DAY, clicks: 150 }]);
		await rowsOf("DELETE FROM learning_sources WHERE source = 'tag-007'");
		// One of today's is late, and was with the others when it was made.
		await consume(ofSource("tag-349", { at: CLICKED_AT + DAY_MS }), ofSource("tag-349"));
		expect(await clicksOf("tag-349")).toEqual([{ day: DAY + 1, clicks: 1 }]);
		expect(await clicksOf("*other")).toEqual([{ day: DAY, clicks: 151 }]);
		// What calls itself like the others is one of them.
		await consume(ofSource("*other"));
		expect(await clicksOf("*other")).toEqual([{ day: DAY, clicks: 152 }]);
	});
});
