/** A batch asks what is not kept of its campaigns and brands beside all else: what comes of its clicks is the same. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { HOUR_MS } from "../../src/lib/time.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { skipWriteGaps } from "../support/skip-write-gaps.ts";
import { forgetStops } from "../support/stops.ts";

skipWriteGaps();

const KNOWN = { campaignId: 5001, brandId: 1 };
const VISITOR = { connection: "a-connection", userAgentHash: "browser" };

/** @param shoes what 5002 has beside the ordinary; its brand is unknown to whoever knows 5001 */
async function importCampaigns(shoes: object, brand: object = {}): Promise<number> {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [brandEntry("boots.example", 5001), brandEntry("shoes.example", 5002, brand, { daily_click_cap: null, ...shoes })],
	});
	const [found] = await rowsOf<{ id: number }>("SELECT id FROM brands WHERE domain = 'shoes.example'");
	return found?.id ?? 0;
}

/** Consumes clicks of 5002 one after another, each by somebody who knows its publisher and nothing of its campaign. Returns reasons. */
async function consumeUnknown(brandId: number, ...clicks: Partial<ClickMessage>[]): Promise<unknown[]> {
	const messages = clicks.map((fields) => clickMessage({ campaignId: 5002, brandId, ...fields }));
	for (const message of messages) {
		const facts = new KeptFacts();
		const batches: number[] = [];
		const { db } = capDeps();
		const counting = wrapD1(db.$client, ({ length }) => {
			if (length > 1) batches.push(length);
		});
		const deps = { ...capDeps(() => message.at), facts, db: openDatabase(counting) };
		await consumeClicks(deps, letters(clickMessage({ ...KNOWN, at: message.at })));
		batches.length = 0;
		await consumeClicks(deps, letters(message));
		// One that reads, one that writes.
		if (clicks.every(({ connection }) => connection === undefined)) expect(batches).toHaveLength(2);
	}
	const rows = await rowsOf<{ id: string; reason: string | null }>("SELECT id, reason FROM clicks WHERE campaign_id = 5002");
	return messages.map(({ id }) => rows.find((row) => row.id === id)?.reason);
}

describe("worker: what is not kept is asked in the same round trip", () => {
	beforeEach(async () => {
		await forgetTraffic();
		await forgetStops();
	});

	it.each(["America/New_York", "Pacific/Kiritimati", "Etc/GMT+12"])("a cap of a day holds on the clocks of %s", async (timezone) => {
		const brandId = await importCampaigns({ daily_click_cap: 2, timezone });
		const times = [0, 1, 2, 24, 25, 26].map((hours) => ({ at: CLICKED_AT + (hours - 3) * HOUR_MS }));
		expect(await consumeUnknown(brandId, ...times)).toEqual([null, null, "over_cap", null, null, "over_cap"]);
		await checkCounters();
	});

	it("a budget of all days holds on all days", async () => {
		const brandId = await importCampaigns({ total_budget: "0.4000" });
		const days = [0, 1, 2].map((day) => ({ at: CLICKED_AT + day * 24 * HOUR_MS }));
		expect(await consumeUnknown(brandId, ...days)).toEqual([null, null, "over_budget"]);
	});

	it("a campaign that looks further around its clicks than others finds what is there", async () => {
		const brandId = await importCampaigns({ traffic: { repeat: { minutes: 1_440 } } });
		const clicks = [0, 10, 30].map((hours) => ({ ...VISITOR, at: CLICKED_AT + hours * HOUR_MS }));
		expect(await consumeUnknown(brandId, ...clicks)).toEqual([null, "repeat", null]);
	});

	it("stops of a brand, and a publisher's of it, are found though its domain is not known", async () => {
		const brandId = await importCampaigns({}, { active: false });
		expect(await consumeUnknown(brandId, { at: Date.now() + HOUR_MS })).toEqual(["brand_stopped"]);
		await forgetStops();
		await importFile({
			publishers: [{ ...ACME, blocked_brands: [{ domain: "shoes.example" }] }],
			brands: [brandEntry("shoes.example", 5002, { active: true })],
		});
		expect(await consumeUnknown(brandId, { at: Date.now() + HOUR_MS })).toEqual(["blocked"]);
	});
});

describe("worker: what an isolate keeps of sources", () => {
	it("is known to a batch until it is written, though so much is kept that another batch begins anew", async () => {
		await forgetTraffic();
		await importCampaigns({});
		const deps = { ...capDeps(), facts: new KeptFacts() };
		const ofSite = () => clickMessage({ ...KNOWN, texts: { subi: "site-7" } });
		for (let batch = 0; batch < 2; batch++) await consumeClicks(deps, letters(ofSite()));
		const { sources } = (await deps.facts.read(deps.db, [ofSite()], CLICKED_AT)).facts;
		expect(sources.size).toBe(1);
		const meanwhile = async () => {
			for (let source = 0; source < 50_000; source++) sources.add(String(source));
			await consumeClicks(deps, letters(clickMessage(KNOWN)));
		};
		let isFirst = true;
		const db = wrapD1(env.DB, async ([text]) => {
			if (!isFirst || !text?.startsWith("SELECT 'version'")) return;
			isFirst = false;
			await meanwhile();
		});
		await consumeClicks({ ...deps, db: openDatabase(db) }, letters(ofSite()));
		expect(isFirst).toBe(false);
		expect(await rowsOf("SELECT click_count, source_count FROM daily_publishers")).toEqual([{ click_count: 4, source_count: 1 }]);
	});
});
