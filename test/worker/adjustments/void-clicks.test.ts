/** Clicks that are taken back, and given back: every counter follows, whatever happens meanwhile. */

import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { restoreClicks, voidClicks } from "../../../src/adjustments/move-clicks.ts";
import { sweepCaps } from "../../../src/clicks/consumer/caps.ts";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { OvertakenError } from "../../../src/db/overtaken.ts";
import { removeOld } from "../../../src/retention/remove-old.ts";
import { adjust, listAdjustments, postAdjustment, preview } from "../../support/adjustments.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../../support/click-messages.ts";
import { ON_D1 } from "../../support/engine.ts";
import { failWrites, stopFailing } from "../../support/fail-writes.ts";
import { forgetTraffic, TRAFFIC_TABLES } from "../../support/forget-traffic.ts";
import { keepRows } from "../../support/kept-rows.ts";
import { ACME, brandEntry, importExactly, importFile, NORTHWIND } from "../../support/network-import.ts";
import { skipWriteGaps } from "../../support/skip-write-gaps.ts";

skipWriteGaps();

const CPC = {
	...ACME,
	id: "cpc",
	publisher_id: "1002",
	publisher_identity: "cpc_rtb",
	access_key: "access-key-cpc",
	publisher_key: "publisher-key-cpc",
	pricing_model: "CPC",
};
const DAY_MS = 86_400_000;
const BID_MICROS = 200_000;

const clickOf = (fields: Partial<ClickMessage> = {}) => clickMessage({ publisher: "cpc_rtb", ...fields });
const consume = (...messages: ClickMessage[]) => consumeClicks(capDeps(), letters(...messages));
const reasons = async () => (await rowsOf("SELECT reason FROM clicks ORDER BY clicked_at, id")).map(({ reason }) => reason);
const spent = () =>
	rowsOf("SELECT day, click_count AS clicks, spend_micros AS micros FROM campaign_days WHERE click_count <> 0 ORDER BY day");

async function faultOf(body: object, query = ""): Promise<string> {
	const response = await postAdjustment(body, query);
	expect(response.status).toBe(422);
	const { faults } = await response.json<{ faults: { path: string; message: string }[] }>();
	return faults.map(({ path, message }) => `${path}: ${message}`).join("; ");
}

function setCaps(caps: object) {
	return importExactly({
		brands: [
			brandEntry("shoes.example", 5001, {}, { timezone: "America/New_York", daily_click_cap: null, ...caps }),
			brandEntry("boots.example", 5002),
		],
	});
}

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME, CPC], brands: [brandEntry("boots.example", 5002)] });
	await setCaps({});
});

beforeEach(async () => {
	await forgetTraffic("campaign_pauses");
});

describe("worker: clicks are voided", () => {
	it("leave every counter, stay as rows that say so, and the answer says how many and how much", async () => {
		const [a, b, c] = [clickOf({ texts: { subi: "a" } }), clickOf({ texts: { subi: "b" } }), clickOf({ texts: { subi: "b" } })];
		await consume(a, b, c);
		expect(await preview({ kind: "void_clicks", publisher: "cpc", source: "b" })).toEqual({
			...{ id: null, kind: "void_clicks", clicks: 2, conversions: 0, publisher_revenue: "-0.4000", gross_revenue: "0.0000" },
			...{ complete: true, alike: null, dry_run: true },
		});
		expect(await checkCounters()).toBe(3);
		const done = await adjust({ kind: "void_clicks", publisher: "cpc", source: "b", text: " not people " });
		expect(done).toMatchObject({ clicks: 2, publisher_revenue: "-0.4000", complete: true, dry_run: false });
		expect(await checkCounters()).toBe(1);
		expect(await rowsOf("SELECT id, reason, voided_by, revenue_micros FROM clicks ORDER BY id")).toEqual(
			[a, b, c]
				.map(({ id }) => ({
					id,
					reason: id === a.id ? null : "voided",
					voided_by: id === a.id ? null : done.id,
					revenue_micros: BID_MICROS,
				}))
				.sort((one, other) => (one.id < other.id ? -1 : 1)),
		);
		expect((await listAdjustments()).data).toMatchObject([
			{ id: done.id, actor: "operator", text: "not people", request: { publisher: "cpc", source: "b" }, undone_by: null },
		]);
	});

	it("of an earlier version, whose rows do not tell what they cost: their bids are taken back, as they were counted", async () => {
		await env.DB.prepare(
			"INSERT INTO campaign_totals (campaign_id) SELECT campaign_id FROM campaigns WHERE true ON CONFLICT DO NOTHING",
		).run();
		await consume(clickOf({ grossMicros: 2 * BID_MICROS }), clickOf());
		await env.DB.batch([
			env.DB.prepare("UPDATE clicks SET gross_micros = NULL"),
			...["campaign_days", "campaign_totals"].map((table) => env.DB.prepare(`UPDATE ${table} SET gross_micros = spend_micros`)),
		]);
		const counted = () =>
			rowsOf("SELECT d.gross_micros AS day, t.gross_micros AS ever FROM campaign_days d JOIN campaign_totals t USING (campaign_id)");
		const { id } = await adjust({ kind: "void_clicks", publisher: "cpc" });
		expect(await counted()).toEqual([{ day: 0, ever: 0 }]);
		await adjust({ kind: "undo", adjustment: id });
		expect(await counted()).toEqual([{ day: 2 * BID_MICROS, ever: 2 * BID_MICROS }]);
	});

	it.each<[string, object, Partial<ClickMessage>]>([
		["publisher", { publisher: "cpc" }, { publisher: "acme_rtb" }],
		["source", { source: "farm" }, { texts: { subi: "other" } }],
		["the empty source", { source: "", publisher: "cpc" }, { texts: { subi: "other" } }],
		["address prefix", { address_prefix: "203.0.113.0/24" }, { ipPrefix: "203.0.114.0/24" }],
		["an address, by the network it is in", { address_prefix: "203.0.113.77" }, { ipPrefix: "203.0.114.0/24" }],
		["brand", { brand: "Boots.example" }, { brandId: 2, campaignId: 5001 }],
		["campaign", { campaign: 5002 }, { campaignId: 5001 }],
		["from", { from: "2026-11-18T15:00:00Z" }, { at: CLICKED_AT - 1 }],
		["to", { to: "2026-11-18T15:00:00.001Z" }, { at: CLICKED_AT + 1 }],
		["a day, which is included", { from: "2026-11-18", to: "2026-11-18" }, { at: CLICKED_AT + DAY_MS }],
		["the rule that flagged them", { reason: "other_device" }, { flags: ["data_centre"] }],
	])("by %s, and by nothing else", async (_, selection, other) => {
		const [boots] = await rowsOf<{ id: number }>("SELECT id FROM brands WHERE domain = 'boots.example'");
		const sound: Partial<ClickMessage> = {
			...{ brandId: boots?.id ?? 0, campaignId: 5002, ipPrefix: "203.0.113.0/24", flags: ["bot", "other_device"] },
			...("source" in selection && selection.source === "" ? {} : { texts: { subi: "farm" } }),
		};
		const brandId = other.brandId === undefined ? sound.brandId : (boots?.id ?? 0) + 1;
		await consume(clickOf(sound), clickOf({ ...sound, ...other, ...(brandId !== undefined && { brandId }) }));
		expect(await preview({ kind: "void_clicks", ...selection })).toMatchObject({ clicks: 1 });
		const { id } = await adjust({ kind: "void_clicks", ...selection });
		expect(await checkCounters()).toBe(1);
		expect(await rowsOf("SELECT count(*) AS clicks FROM clicks WHERE voided_by = ?", id ?? "")).toEqual([{ clicks: 1 }]);
	});

	it("unpaid clicks and those that are voided already stay as they are", async () => {
		await consume(clickOf({ reason: "bot" }), clickOf());
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		expect(await adjust({ kind: "void_clicks", publisher: "cpc" })).toMatchObject({ clicks: 0, publisher_revenue: "0.0000" });
		expect((await reasons()).sort()).toEqual(["bot", "voided"]);
	});

	it("those that are made later stay, however late the selection ends", async () => {
		await consume(clickOf(), clickOf({ at: Date.now() + DAY_MS / 24 }));
		expect(await adjust({ kind: "void_clicks", publisher: "cpc", to: "2099-12-31" })).toMatchObject({ clicks: 1 });
		expect(await reasons()).toEqual(["voided", null]);
	});

	it("of a campaign that is no more in the network file", async () => {
		await consume(clickOf({ campaignId: 7001 }));
		expect(await preview({ kind: "void_clicks", campaign: 7001 })).toMatchObject({ clicks: 1 });
	});

	it("are counted out of the day on the campaign's clocks", async () => {
		const night = Date.parse("2026-11-18T03:00:00Z");
		await consume(clickOf({ at: night }), clickOf({ at: night + DAY_MS }));
		expect(await spent()).toEqual([
			{ day: "2026-11-17", clicks: 1, micros: BID_MICROS },
			{ day: "2026-11-18", clicks: 1, micros: BID_MICROS },
		]);
		await adjust({ kind: "void_clicks", campaign: 5001, to: "2026-11-18T12:00:00Z" });
		expect(await spent()).toEqual([{ day: "2026-11-18", clicks: 1, micros: BID_MICROS }]);
	});

	it("a budget that was full has room again, the campaign bids again, and an undo closes it", async () => {
		await setCaps({ total_budget: "0.40" });
		try {
			const now = Date.now() - 1_000;
			const deps = capDeps(() => now);
			const click = () => consumeClicks(deps, letters(clickOf({ at: now })));
			for (let count = 0; count < 3; count++) await click();
			await sweepCaps(deps);
			expect((await reasons()).sort()).toEqual([null, null, "over_budget"].sort());
			expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([{ cap: "total_budget" }]);
			const { id } = await adjust({ kind: "void_clicks", campaign: 5001 });
			expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([]);
			await click();
			expect(await checkCounters()).toBe(1);
			await adjust({ kind: "undo", adjustment: id });
			expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([{ cap: "total_budget" }]);
			await click();
			expect(await checkCounters()).toBe(3);
		} finally {
			await setCaps({});
		}
	});

	it("the same visitor's next click is no repeat of a voided one, and is one again once that is given back", async () => {
		const visitor = { connection: "connection-1", userAgentHash: "agent-1" };
		const later = (minutes: number) => clickOf({ ...visitor, at: CLICKED_AT + minutes * 60_000 });
		await consume(later(0), later(1));
		const { id } = await adjust({ kind: "void_clicks", publisher: "cpc" });
		await consume(later(2));
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		await adjust({ kind: "undo", adjustment: id });
		await consume(later(3));
		expect(await reasons()).toEqual([null, "repeat", "voided", "repeat"]);
	});

	it("a visitor's hour has room for no more clicks for those that are voided in it, and as many once they are given back", async () => {
		const paidOf = async (minutes: number) => {
			const visitor = { connection: "connection-2", userAgentHash: "agent-2" };
			// Each for another brand: none repeats another.
			const clicks = Array.from({ length: 15 }, (_, at) =>
				clickOf({ ...visitor, brandId: 2000 + minutes * 20 + at, at: CLICKED_AT + minutes * 60_000 }),
			);
			await consume(...clicks);
			const [row] = await rowsOf<{ paid: number }>("SELECT count(*) AS paid FROM clicks WHERE reason IS NULL");
			return row?.paid ?? 0;
		};
		expect(await paidOf(0)).toBe(15);
		const { id } = await adjust({ kind: "void_clicks", publisher: "cpc" });
		expect(await paidOf(1)).toBe(5);
		await adjust({ kind: "undo", adjustment: id });
		expect(await paidOf(2)).toBe(20);
		// The first ones are an hour old.
		expect(await paidOf(60)).toBe(35);
	});

	it("its hash stays used: what comes by it later is a duplicate", async () => {
		const click = clickOf();
		await consume(click);
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		await consume(clickOf({ hash: click.hash, at: CLICKED_AT + 1 }));
		expect(await reasons()).toEqual(["voided", "duplicate"]);
	});

	it("a decision that was on its way is overtaken: what it rested on has changed", async () => {
		await consume(clickOf());
		const version = async () => (await rowsOf<{ version: number }>("SELECT version FROM click_sequence"))[0]?.version ?? 0;
		const before = await version();
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		expect(await version()).toBeGreaterThan(before);
	});

	it("clicks that are counted meanwhile, and other adjustments of the same clicks, leave every counter right", async () => {
		await consume(...Array.from({ length: 300 }, (_, at) => clickOf({ at: CLICKED_AT - at })));
		const [one, other] = await Promise.all([
			adjust({ kind: "void_clicks", publisher: "cpc" }),
			adjust({ kind: "void_clicks", campaign: 5001, to: "2026-11-18" }),
			...Array.from({ length: 5 }, () => consume(...Array.from({ length: 20 }, () => clickOf({ at: CLICKED_AT + DAY_MS })))),
		]);
		const billed = await checkCounters();
		expect((one?.clicks ?? 0) + (other?.clicks ?? 0) + billed).toBe(400);
	});

	// On PostgreSQL all clicks are kept as long.
	it.runIf(ON_D1)("are kept as long as billed ones", async () => {
		await consume(clickOf(), clickOf({ reason: "bot" }));
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		const db = openDatabase(env.DB);
		await removeOld({ db, now: () => CLICKED_AT + 200 * DAY_MS, clickDays: 400, archive: undefined });
		expect(await reasons()).toEqual(["voided"]);
	});
});

describe("worker: a void is undone", () => {
	it("every counter is as before", async () => {
		await consume(clickOf({ texts: { subi: "a" } }), clickOf(), clickOf({ publisher: "nobody" }), clickOf({ publisher: "acme_rtb" }));
		const { id } = await adjust({ kind: "void_clicks", campaign: 5001 });
		expect(await checkCounters()).toBe(0);
		expect(await preview({ kind: "undo", adjustment: id })).toMatchObject({ clicks: 4, publisher_revenue: "0.4000" });
		const undone = await adjust({ kind: "undo", adjustment: id });
		expect(undone).toMatchObject({ kind: "undo", clicks: 4, publisher_revenue: "0.4000", complete: true });
		expect(await checkCounters()).toBe(4);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks WHERE voided_by IS NOT NULL")).toEqual([{ count: 0 }]);
		expect((await listAdjustments()).data.map(({ undone_by }) => undone_by)).toEqual(expect.arrayContaining([undone.id, null]));
	});

	it("gives back what it took alone", async () => {
		await consume(clickOf({ texts: { subi: "a" } }), clickOf({ texts: { subi: "b" } }));
		const { id } = await adjust({ kind: "void_clicks", source: "a" });
		await adjust({ kind: "void_clicks", publisher: "cpc" });
		await adjust({ kind: "undo", adjustment: id });
		expect(await rowsOf("SELECT source_id FROM clicks WHERE reason IS NULL")).toEqual([{ source_id: "a" }]);
		expect(await checkCounters()).toBe(1);
	});

	it("not twice, and an undo never", async () => {
		await consume(clickOf());
		const { id } = await adjust({ kind: "void_clicks", publisher: "cpc" });
		const undone = await adjust({ kind: "undo", adjustment: id });
		expect(await faultOf({ kind: "undo", adjustment: id })).toBe(`adjustment: is undone already, by ${undone.id}`);
		expect(await faultOf({ kind: "undo", adjustment: id }, "?dry_run=1")).toContain("is undone already");
		expect(await faultOf({ kind: "undo", adjustment: undone.id })).toBe("adjustment: is an undo, which cannot be undone");
		expect(await faultOf({ kind: "undo", adjustment: "none" })).toBe("adjustment: is no adjustment's id");
	});
});

describe("worker: a void that is cut off", () => {
	const MANY = 2_300;
	const BODY = { id: "cut-off-1", kind: "void_clicks", publisher: "cpc" };

	/** This many chunks come through; the next one fails. */
	async function cutOffAfter(chunks: number, body: object): Promise<void> {
		await failWrites("UPDATE OF clicks ON adjustments", `old.clicks >= ${chunks * 1_000}`);
		try {
			expect((await postAdjustment(body)).status).toBe(500);
		} finally {
			await stopFailing();
		}
	}

	let restore: () => Promise<void>;

	beforeAll(async () => {
		await forgetTraffic("campaign_pauses");
		for (let start = 0; start < MANY; start += 460) {
			await consume(...Array.from({ length: 460 }, (_, at) => clickOf({ at: CLICKED_AT - start - at })));
		}
		restore = await keepRows(TRAFFIC_TABLES);
	});

	beforeEach(() => restore());

	it("has done whole chunks, and goes on where it is asked again: nothing twice", async () => {
		await cutOffAfter(1, BODY);
		expect(await checkCounters()).toBe(MANY - 1_000);
		expect((await listAdjustments()).data).toMatchObject([{ id: "cut-off-1", clicks: 1_000, complete: false }]);
		const all = { id: "cut-off-1", clicks: MANY, publisher_revenue: "-460.0000", complete: true };
		expect(await adjust(BODY)).toMatchObject(all);
		await consume(clickOf({ at: CLICKED_AT - 5 }));
		expect(await adjust(BODY)).toMatchObject(all);
		expect(await checkCounters()).toBe(1);
	});

	it("can be undone as it is, and the undo too is cut off and goes on; what was cut off does not begin again", async () => {
		await cutOffAfter(2, BODY);
		const undo = { id: "undo-it-1", kind: "undo", adjustment: "cut-off-1" };
		await cutOffAfter(1, undo);
		expect(await checkCounters()).toBe(MANY - 1_000);
		// Asked without its id it is the same.
		expect(await adjust({ kind: "undo", adjustment: "cut-off-1" })).toMatchObject({ id: "undo-it-1", clicks: 2_000, complete: true });
		expect(await adjust(BODY)).toMatchObject({ clicks: 2_000, complete: true });
		expect(await checkCounters()).toBe(MANY);
	});

	it("an id stands for one request", async () => {
		await adjust(BODY);
		const response = await postAdjustment({ ...BODY, source: "a" });
		expect([response.status, await response.json()]).toEqual([
			412,
			{ error: "Conflict", message: "The id cut-off-1 is of another adjustment." },
		]);
	});
});

describe("worker: one chunk", () => {
	it("of an adjustment that has ended is not moved", async () => {
		const click = clickOf();
		await consume(click);
		await adjust({ id: "ended-001", kind: "void_clicks", source: "none" });
		const db = openDatabase(env.DB);
		const move = {
			adjustmentId: "ended-001",
			voidId: "ended-001",
			chunk: [{ id: click.id, publisherId: null, date: "2026-11-18", day: "2026-11-18" }],
			cursor: "",
		};
		await expect(voidClicks(db, move)).rejects.toBeInstanceOf(OvertakenError);
		await expect(restoreClicks(db, move)).rejects.toBeInstanceOf(OvertakenError);
		expect(await checkCounters()).toBe(1);
	});
});

describe("worker: what is refused", () => {
	it.each<[string, object, string]>([
		["no selection", { kind: "void_clicks" }, ": must name clicks by publisher, source, address_prefix, brand, campaign, from, to, reason"],
		["another field", { kind: "void_clicks", publisher: "cpc", country: "US" }, "country: is not a known field"],
		["an unknown publisher", { kind: "void_clicks", publisher: "cpx" }, "publisher: is no publisher's id"],
		["an unknown brand", { kind: "void_clicks", brand: "none.example" }, "brand: is no brand's domain"],
		["an unknown campaign", { kind: "void_clicks", campaign: 99_999 }, "campaign: is no campaign's id"],
		["a network of another size", { kind: "void_clicks", address_prefix: "203.0.0.0/16" }, "address_prefix: must be an address, or"],
		["a time that is none", { kind: "void_clicks", from: "2026-13-01" }, "from: must be a time of the calendar"],
		["a time of no day", { kind: "void_clicks", from: "2026-02-30" }, "from: must be a time of the calendar"],
		["a time of no hour", { kind: "void_clicks", to: "2026-02-28T25:00Z" }, "to: must be a time of the calendar"],
		["a time without end", { kind: "void_clicks", from: "2026-11-02", to: "2026-11-01" }, "to: must be after from"],
		["an unknown rule", { kind: "void_clicks", reason: "luck" }, "reason: must be one of"],
		["a blank text", { kind: "void_clicks", publisher: "cpc", text: " " }, "text: must not be blank"],
		["a text of what shows nothing", { kind: "void_clicks", publisher: "cpc", text: "\u200b\u2060" }, "text: must not be blank"],
		["half a surrogate pair", { kind: "void_clicks", publisher: "cpc", text: "x\ud800" }, "text: must be Unicode text without NUL"],
		["a NUL in a text", { kind: "void_clicks", publisher: "cpc", text: "x\0y" }, "text: must be Unicode text without NUL"],
		["an unknown kind", { kind: "delete" }, "kind: must be void_clicks"],
	])("%s", async (_, body, fault) => {
		expect(await faultOf(body)).toContain(fault);
		expect((await listAdjustments()).data).toEqual([]);
	});

	it("a mistyped dry_run, so that it does not do what it was to preview", async () => {
		expect(await faultOf({ kind: "void_clicks", publisher: "cpc" }, "?dryrun=1")).toBe(
			"dryrun: is not a known field; did you mean `dry_run`?",
		);
		expect((await listAdjustments()).data).toEqual([]);
	});
});

describe("worker: any history of clicks, voids and undos", () => {
	it("property: counters say what the rows say", async () => {
		const click = fc.record({
			kind: fc.constant("click" as const),
			publisher: fc.constantFrom("acme_rtb", "cpc_rtb", "nobody"),
			campaignId: fc.constantFrom(5001, 5002, 9999),
			hash: fc.constantFrom(...["1", "2", "3", "4", "5", "6"].map((digit) => digit.repeat(32))),
			at: fc.integer({ min: CLICKED_AT - 2 * DAY_MS, max: CLICKED_AT }),
			subi: fc.constantFrom(undefined, "a", "b"),
		});
		const selection = fc.constantFrom<object>(
			{ publisher: "cpc" },
			{ publisher: "acme" },
			{ source: "a" },
			{ source: "" },
			{ campaign: 5001 },
			{ from: "2026-11-17" },
			{ to: "2026-11-17T12:00:00Z" },
		);
		const step = fc.oneof(
			{ weight: 4, arbitrary: click },
			{ weight: 2, arbitrary: fc.record({ kind: fc.constant("void" as const), selection }) },
			{ weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const), which: fc.nat({ max: 5 }) }) },
		);
		await fc.assert(
			fc
				.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
					const voids: (string | null)[] = [];
					for (const one of steps) {
						if (one.kind === "click") {
							const { subi, kind: _, ...fields } = one;
							await consume(clickMessage({ ...fields, ...(subi !== undefined && { texts: { subi } }) }));
						} else if (one.kind === "void") {
							const body = { kind: "void_clicks", ...one.selection };
							const expected = await preview(body);
							const done = await adjust(body);
							expect(done).toEqual({ ...expected, id: done.id, dry_run: false });
							voids.push(done.id);
						} else {
							const id = voids[one.which % Math.max(1, voids.length)];
							if (id !== undefined && id !== null) await (await postAdjustment({ kind: "undo", adjustment: id })).body?.cancel();
						}
						await checkCounters();
					}
				})
				.beforeEach(async () => {
					await forgetTraffic();
				}),
			{ numRuns: 15 },
		);
	}, 120_000);
});
