/** Budgets hold to the micro-dollar: whatever was hoarded, and however many consumers count at once. */
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sweepImportedCaps } from "../../src/clicks/consumer/caps.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { OvertakenError } from "../../src/db/overtaken.ts";
import worker from "../../src/worker.ts";
import { capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { clickUrlFor } from "../support/clicks.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { brandEntry, importExactly, NORTHWIND } from "../support/network-import.ts";
import { skipWriteGaps } from "../support/skip-write-gaps.ts";
import { CPC, callMany, linkTo, outcomes, person } from "../support/traffic.ts";

const SHOES = "shoes.example";
const DOLLAR = 1_000_000;

/** A zone of whole hours in which it is about noon now: no day of a cap ends while these tests run, at whatever time they do. */
const AHEAD = 12 - new Date().getUTCHours();
const TIMEZONE = `Etc/GMT${AHEAD > 0 ? "-" : "+"}${Math.abs(AHEAD)}`;

/** A campaign that bids a dollar a click. */
const setCaps = (caps: object) =>
	importExactly({
		platforms: [NORTHWIND],
		publishers: [CPC],
		brands: [brandEntry(SHOES, 5001, {}, { epc: "2.00", daily_click_cap: null, timezone: TIMEZONE, ...caps })],
	});

async function forgetClicks(): Promise<void> {
	await forgetTraffic("campaign_pauses");
}

/** Ends the pauses that earlier tests have brought about, in this isolate too. */
const resume = () => worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);

async function paidMicros(): Promise<number> {
	const [row] = await rowsOf<{ micros: number }>("SELECT coalesce(sum(revenue_micros), 0) AS micros FROM clicks");
	return row?.micros ?? 0;
}

skipWriteGaps();
beforeAll(() => setCaps({}));
beforeEach(forgetClicks);

describe("worker: 60 hoarded bids and 40 clicks of a link, at a dollar each", () => {
	it.each<[what: string, caps: object, paid: number, reason: string]>([
		["a daily budget of $10", { daily_budget: "10.00" }, 10, "over_budget"],
		["a total budget of $10", { total_budget: "10.00" }, 10, "over_budget"],
		["a budget of $10.99, which no eleventh click fits into", { total_budget: "10.99" }, 10, "over_budget"],
		["ten clicks a day", { daily_click_cap: 10 }, 10, "over_cap"],
	])("%s: never passed by a click", async (_, caps, paid, reason) => {
		await setCaps(caps);
		await resume();
		const hoarded: string[] = [];
		for (let at = 0; at < 60; at++) hoarded.push(await clickUrlFor(SHOES));
		const link = await linkTo(SHOES);
		await callMany(100, (at) => [hoarded[at] ?? link, person(at)]);
		expect(await outcomes(100)).toEqual({ paid, [reason]: 100 - paid });
		expect(await paidMicros()).toBe(paid * DOLLAR);
		await checkCounters();
	});
});

describe("worker: what a budget counts", () => {
	const spend = (bid: number, gross: number) => ({ spend_micros: bid * DOLLAR, gross_micros: gross * DOLLAR });
	const clicks = (count: number) =>
		letters(...Array.from({ length: count }, () => clickMessage({ bidMicros: DOLLAR, sharePpm: 500_000, grossMicros: 2 * DOLLAR })));
	const paid = async () => (await rowsOf("SELECT id FROM clicks WHERE reason IS NULL")).length;

	it("gross: of a budget of $100 and a share of one half $100 is spent before the share, and not by one click more", async () => {
		await setCaps({ total_budget: "100.00", budget_basis: "gross" });
		await resume();
		const hoarded: string[] = [];
		for (let at = 0; at < 40; at++) hoarded.push(await clickUrlFor(SHOES));
		const link = await linkTo(SHOES);
		await callMany(70, (at) => [hoarded[at] ?? link, person(at)]);
		expect(await outcomes(70)).toEqual({ paid: 50, over_budget: 20 });
		expect(await rowsOf("SELECT spend_micros, gross_micros FROM campaign_totals")).toEqual([spend(50, 100)]);
		expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([{ cap: "total_budget" }]);
		await checkCounters();
	});

	it.each([
		["daily_budget", { daily_budget: "10.00" }],
		["total_budget", { total_budget: "10.00" }],
	])("a basis that is changed later counts what was spent before: %s", async (cap, budget) => {
		await setCaps({ ...budget, budget_basis: "publisher" });
		await consumeClicks(capDeps(), clicks(6));
		expect(await paid()).toBe(6);
		// Six clicks have cost $12: met, and the import itself pauses the campaign.
		await setCaps({ ...budget, budget_basis: "gross" });
		await sweepImportedCaps(capDeps());
		expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([{ cap }]);
		await consumeClicks(capDeps(), clicks(3));
		expect(await paid()).toBe(6);
		// Publishers were paid $6: four more clicks fit.
		await setCaps({ ...budget, budget_basis: "publisher" });
		await sweepImportedCaps(capDeps());
		expect(await rowsOf("SELECT cap FROM campaign_pauses")).toEqual([]);
		await consumeClicks(capDeps(), clicks(6));
		expect(await paid()).toBe(10);
		await checkCounters();
	});
});

describe("worker: several consumers at once", () => {
	/** A delivery comes again until it is written, as the queue brings it. */
	async function deliver(batch: readonly unknown[]): Promise<void> {
		for (;;) {
			try {
				return await consumeClicks(capDeps(), letters(...batch));
			} catch (error) {
				if (!(error instanceof OvertakenError)) throw error;
			}
		}
	}

	it("property: no budget is passed, no hash nor visitor is billed twice, no click is lost, and counters equal the rows", async () => {
		const campaign = { epc: "2.00", daily_click_cap: null, timezone: TIMEZONE };
		// One of little room; one of so much that batches rest on what others paid for in all; one that is never near its end.
		const budgets: readonly [brandId: number, campaignId: number, budget: string | null][] = [
			[1, 5001, "10.00"],
			[2, 5002, "100.00"],
			[3, 5003, null],
		];
		await importExactly({
			platforms: [NORTHWIND],
			publishers: [CPC],
			brands: budgets.map(([, id, budget]) =>
				brandEntry(id === 5001 ? SHOES : `brand-${id}.example`, id, {}, { ...campaign, daily_budget: budget }),
			),
		});
		const click = fc.record({
			hash: fc.nat({ max: 29 }),
			visitor: fc.nat({ max: 19 }),
			bidMicros: fc.integer({ min: 1, max: 3 * DOLLAR }),
			of: fc.nat({ max: 2 }),
			source: fc.nat({ max: 5 }),
		});
		const deliveries = fc.array(click, { minLength: 20, maxLength: 60 }).chain((clicks) =>
			fc.tuple(
				fc.constant(clicks),
				// Each consumer takes a few of the clicks: some are delivered twice at the same time.
				fc.array(fc.array(fc.nat({ max: clicks.length - 1 }), { minLength: 1, maxLength: 25 }), { minLength: 2, maxLength: 6 }),
			),
		);
		await fc.assert(
			fc
				.asyncProperty(deliveries, async ([clicks, batches]) => {
					const messages = clicks.map(({ hash, visitor, bidMicros, of, source }, at) =>
						clickMessage({
							id: `click-${String(at).padStart(3, "0")}`,
							hash: hash.toString(16).padStart(2, "0").padEnd(32, "0"),
							connection: `${visitor}`.padStart(2, "0").padEnd(16, "0"),
							userAgentHash: "u",
							brandId: budgets[of]?.[0] ?? 0,
							campaignId: budgets[of]?.[1] ?? 0,
							bidMicros,
							texts: { subi: `source-${source}` },
						}),
					);
					await Promise.all(batches.map((batch) => deliver(batch.map((at) => messages[at]))));
					await deliver(messages);
					const rows = await rowsOf<{ id: string; reason: string | null }>("SELECT id, reason FROM clicks");
					expect(rows).toHaveLength(messages.length);
					const paid = new Set(rows.filter(({ reason }) => reason === null).map(({ id }) => id));
					const billed = messages.filter(({ id }) => paid.has(id));
					const repeated = (names: readonly string[]) => names.filter((name, at) => names.indexOf(name) !== at);
					expect(repeated(billed.map(({ hash }) => hash))).toEqual([]);
					expect(repeated(billed.map(({ connection, brandId }) => `${connection} ${brandId}`))).toEqual([]);
					for (const [, id, budget] of budgets) {
						const spent = billed.filter(({ campaignId }) => campaignId === id).reduce((sum, { bidMicros }) => sum + (bidMicros ?? 0), 0);
						if (budget !== null) expect(spent).toBeLessThanOrEqual(Number(budget) * DOLLAR);
					}
					expect(
						await rowsOf(`SELECT p.source_count - (SELECT count(*) FROM daily_sources s
							WHERE s.publisher_id = p.publisher_id AND s.date = p.date) AS missed FROM daily_publishers p`),
					).toEqual(billed.length === 0 ? [] : [{ missed: 0 }]);
					await checkCounters();
				})
				.beforeEach(forgetClicks),
			{ numRuns: 25 },
		);
	});

	it("60 clicks of a dollar, ten consumers, a budget of ten: ten dollars are paid", async () => {
		await setCaps({ daily_budget: "10.00" });
		const batches = Array.from({ length: 10 }, () => Array.from({ length: 6 }, () => clickMessage({ bidMicros: DOLLAR })));
		await Promise.all(batches.map(deliver));
		expect(await outcomes(60)).toEqual({ paid: 10, over_budget: 50 });
		expect(await paidMicros()).toBe(10 * DOLLAR);
		await checkCounters();
	});
});
