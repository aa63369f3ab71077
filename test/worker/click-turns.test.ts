/** Batches of clicks that others overtake: decided again where what they rest on has changed, and only there. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import type { TrafficSettings } from "../../src/lib/traffic-rules.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf, takesTurn } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importExactly, NORTHWIND } from "../support/network-import.ts";
import { skipWriteGaps } from "../support/skip-write-gaps.ts";

skipWriteGaps();

beforeAll(() =>
	importExactly({
		platforms: [NORTHWIND],
		publishers: [{ ...ACME, pricing_model: "CPC" }],
		brands: [brandEntry("shoes.example", 5001, {}, { daily_click_cap: null }), brandEntry("boots.example", 5002)],
	}),
);

type Caps = Partial<Record<"daily_click_cap" | "daily_budget_micros" | "total_budget_micros", number | null>>;

/** Without the book that an import publishes: the consumer reads none. */
async function setCaps({
	daily_click_cap: cap = null,
	daily_budget_micros: daily = null,
	total_budget_micros: total = null,
}: Caps): Promise<void> {
	await env.DB.batch([
		env.DB.prepare(
			"UPDATE campaigns SET daily_click_cap = ?1, daily_budget_micros = ?2, total_budget_micros = ?3 WHERE campaign_id = 5001",
		).bind(cap, daily, total),
		env.DB.prepare("DELETE FROM campaign_totals"),
		env.DB.prepare("INSERT INTO campaign_totals (campaign_id) SELECT campaign_id FROM campaigns WHERE total_budget_micros IS NOT NULL"),
	]);
}

async function setTraffic(settings: TrafficSettings | null): Promise<void> {
	await env.DB.batch([
		env.DB.prepare("UPDATE network_settings SET traffic = ?1").bind(settings === null ? null : JSON.stringify(settings)),
		env.DB.prepare("UPDATE catalogue_state SET version = version + 1"),
	]);
}

beforeEach(async () => {
	await forgetTraffic("campaign_pauses");
	await setTraffic(null);
	await setCaps({});
});

/** Counts a batch, between whose deciding and whose first writing something else happens. Returns how often it was decided. */
async function count(batch: readonly ClickMessage[], meanwhile: () => Promise<unknown>): Promise<number> {
	let decisions = 0;
	const db = wrapD1(env.DB, async (texts) => {
		if (takesTurn(texts) && ++decisions === 1) await meanwhile();
	});
	await consumeClicks({ ...capDeps(), db: openDatabase(db) }, letters(...batch));
	await checkCounters();
	return decisions;
}

const clicks = (count: number, fields: Partial<ClickMessage> = {}) => Array.from({ length: count }, () => clickMessage(fields));
const consume = (batch: readonly ClickMessage[]) => consumeClicks(capDeps(), letters(...batch));
const reasons = async (of: readonly ClickMessage[]) => {
	const rows = await rowsOf<{ id: string; reason: string | null }>("SELECT id, reason FROM clicks");
	const byId = new Map(rows.map(({ id, reason }) => [id, reason]));
	return of.map(({ id }) => byId.get(id));
};

const CONNECTION = "0123456789abcdef";
/** A person who clicks once more. */
const SOMEONE = { connection: CONNECTION, userAgentHash: "fedcba9876543210" };

describe("worker: clicks that were decided before others were counted", () => {
	it("stand where others came of other bids and people, also of the same publisher, source and campaign, whose caps have room", async () => {
		await setCaps({ daily_click_cap: 1_000, total_budget_micros: 1_000_000_000 });
		await consume(clicks(1, { texts: { subi: "site" } }));
		const mine = clicks(3, { ...SOMEONE, connection: "1".repeat(16), texts: { subi: "site" } });
		const others = () => consume(clicks(4, { ...SOMEONE, texts: { subi: "site" } }));
		expect(await count(mine, others)).toBe(1);
		// Of each person's clicks on a brand one is paid.
		expect(await rowsOf("SELECT reason, count(*) AS count FROM clicks GROUP BY reason ORDER BY count")).toEqual([
			{ reason: null, count: 3 },
			{ reason: "repeat", count: 5 },
		]);
	});

	it("of the same bid: one is paid", async () => {
		const [mine, other] = clicks(2, { hash: "ab".repeat(16) });
		if (mine === undefined || other === undefined) throw new Error("there are two");
		expect(await count([mine], () => consume([other]))).toBe(2);
		expect(await reasons([mine, other])).toEqual(["duplicate", null]);
	});

	it("the same click, delivered twice at once, is written once", async () => {
		const [mine] = clicks(1);
		if (mine === undefined) throw new Error("there is one");
		expect(await count([mine], () => consume([mine]))).toBe(1);
		expect(await reasons([mine])).toEqual([null]);
	});

	it("of the same person: one is paid", async () => {
		const [mine, other] = clicks(2, SOMEONE);
		if (mine === undefined || other === undefined) throw new Error("there are two");
		expect(await count([mine], () => consume([other]))).toBe(2);
		expect(await reasons([mine, other])).toEqual(["repeat", null]);
	});

	it("of the same connection, unpaid: as many as an hour stores, and the others are only counted", async () => {
		await env.DB.prepare("INSERT INTO unpaid_hours (connection, hour, stored, dropped) VALUES (?1, ?2, 599, 0)")
			.bind(CONNECTION, Math.floor(CLICKED_AT / 3_600_000))
			.run();
		const unpaid = () => clicks(1, { connection: CONNECTION, reason: "bot" });
		expect(await count(unpaid(), () => consume(unpaid()))).toBe(2);
		expect(await rowsOf("SELECT stored, dropped FROM unpaid_hours")).toEqual([{ stored: 600, dropped: 1 }]);
		// Also where both are only counted.
		expect(await count(unpaid(), () => consume(unpaid()))).toBe(2);
		expect(await rowsOf("SELECT stored, dropped FROM unpaid_hours")).toEqual([{ stored: 600, dropped: 3 }]);
	});

	it("of the same IPv6 network: while half of its hour is left they stand, and then no more are paid than that", async () => {
		const ofNetwork = (connection: string) => clicks(1, { ...SOMEONE, connection: connection.repeat(16), ipPrefix: "2001:db8:1::/48" });
		const meanwhile = (connection: string) => () => consume(ofNetwork(connection));
		expect(await count(ofNetwork("1"), meanwhile("2"))).toBe(1);
		const hour = Math.floor(CLICKED_AT / 3_600_000);
		expect(await rowsOf("SELECT publisher_id, network, hour, click_count FROM paid_networks")).toEqual([
			{ publisher_id: "acme", network: "2001:db8:1::/48", hour, click_count: 2 },
		]);
		await env.DB.prepare("UPDATE paid_networks SET click_count = 1199").run();
		const last = ofNetwork("3");
		expect(await count(last, meanwhile("4"))).toBe(2);
		expect(await reasons(last)).toEqual(["velocity"]);
		expect(await rowsOf("SELECT click_count FROM paid_networks")).toEqual([{ click_count: 1_200 }]);
	});

	it("of the same IPv6 network, where nothing is unpaid for it, stand however many there were", async () => {
		const ofNetwork = (connection: string) => clicks(1, { ...SOMEONE, connection: connection.repeat(16), ipPrefix: "2001:db8:1::/48" });
		await consume(ofNetwork("1"));
		await env.DB.prepare("UPDATE paid_networks SET click_count = 50000").run();
		await setTraffic({ modes: { velocity: "off" } });
		expect(await count(ofNetwork("2"), () => consume(ofNetwork("3")))).toBe(1);
		expect(await rowsOf("SELECT click_count FROM paid_networks")).toEqual([{ click_count: 50_002 }]);
	});

	it("of a source that is new to the publisher's day: it is counted once", async () => {
		const ofSource = (subi: string) => clicks(1, { texts: { subi } });
		expect(await count(ofSource("site"), () => consume(ofSource("site")))).toBe(2);
		expect(await count(ofSource("shop"), () => consume(ofSource("blog")))).toBe(2);
		expect(await rowsOf("SELECT source_count FROM daily_publishers")).toEqual([{ source_count: 3 }]);
	});

	it.each<[what: string, caps: Caps, others: number]>([
		["little is left of a daily cap", { daily_click_cap: 10 }, 9],
		["little is left of a daily budget", { daily_budget_micros: 2_000_000 }, 9],
		["little is left of a total budget", { total_budget_micros: 2_000_000 }, 9],
		["much was left of a daily cap, and much was paid for since", { daily_click_cap: 100 }, 99],
		["much was left of a daily budget, and much was paid for since", { daily_budget_micros: 20_000_000 }, 99],
		["much was left of a total budget, and much was paid for since", { total_budget_micros: 20_000_000 }, 99],
	])("of the same campaign, where %s: no cap is passed", async (_, caps, others) => {
		await setCaps(caps);
		const mine = clicks(2);
		expect(await count(mine, () => consume(clicks(others)))).toBe(2);
		const [day] = await rowsOf<{ count: number }>("SELECT click_count AS count FROM campaign_days");
		expect(day?.count).toBe(others + 1);
		expect((await reasons(mine)).filter((reason) => reason === null)).toHaveLength(1);
	});

	it("of the same campaign, where much is left beside them and little beside these: are decided again", async () => {
		await setCaps({ daily_click_cap: 100 });
		expect(await count(clicks(10), () => consume(clicks(1)))).toBe(2);
		expect(await count(clicks(1), () => consume(clicks(10)))).toBe(1);
	});

	it("of another campaign, where little is left of the cap of one: stand", async () => {
		await setCaps({ daily_click_cap: 2 });
		const mine = clicks(1);
		expect(await count(mine, () => consume(clicks(30, { brandId: 2, campaignId: 5002 })))).toBe(1);
		expect(await reasons(mine)).toEqual([null]);
	});

	it("leave some turns, and not ever more of them", async () => {
		await env.DB.batch([
			env.DB.prepare("UPDATE click_sequence SET version = 127"),
			env.DB.prepare("INSERT INTO click_turns (version, click_count, cost_micros, touched) VALUES (64, 1, 1, '[]'), (65, 1, 1, '[]')"),
		]);
		for (let at = 0; at < 3; at++) await consume(clicks(1));
		expect(await rowsOf("SELECT version FROM click_turns ORDER BY version")).toEqual([65, 128, 129, 130].map((version) => ({ version })));
	});

	it("are decided again where something else raised the version: an import, an adjustment, an earlier version of this code", async () => {
		const mine = clicks(1);
		expect(await count(mine, () => env.DB.prepare("UPDATE click_sequence SET version = version + 1").run())).toBe(2);
		// Also where others have come before and after it.
		const others = async () => {
			await consume(clicks(1));
			await env.DB.prepare("UPDATE click_sequence SET version = version + 1").run();
			await consume(clicks(1));
		};
		expect(await count(clicks(1), others)).toBe(2);
	});

	it("are decided again where turns that came since are forgotten", async () => {
		const others = async () => {
			await consume(clicks(1));
			await env.DB.prepare("DELETE FROM click_turns").run();
		};
		expect(await count(clicks(1), others)).toBe(2);
	});
});
