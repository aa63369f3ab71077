import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VALUES } from "../../../scripts/scale/assumptions.ts";
import { bookOf } from "../../../scripts/scale/book.ts";
import { charge, cloudflareTotal, costsOf } from "../../../scripts/scale/costs.ts";
import { batchesOf, d1Gb, daysToFill, MONTH_SECONDS, needsOf, postgresSize, rowsOf } from "../../../scripts/scale/model.ts";
import { PRICES } from "../../../scripts/scale/prices.ts";
import { WALLS, wallsInOrder } from "../../../scripts/scale/walls.ts";

/** Values that can be reckoned in the head. */
const ROUND = {
	...VALUES,
	clickShare: 0.01,
	conversionShare: 0.1,
	postbacksPerConversion: 2,
	callbacksPerConversion: 1,
	campaigns: 1_000,
	bidCpu: 1_000,
	clickCpu: 2_000,
	postbackCpu: 0,
	callbackCpu: 0,
	clickBatchMs: 10,
	settledPerSecond: 1_000,
	clickRows: 10,
	clickRowsByTen: 10,
	clickRemovalRows: 2,
	conversionRows: 40,
	callbackRows: 5,
	clickBytes: 500,
	visitBytes: 0,
	conversionBytes: 4_500,
	conversionDays: 100,
};

const loads = fc.double({ min: 1, max: 5_000_000, noNaN: true });

describe("unit: what a load needs", () => {
	it("is what can be reckoned by hand", () => {
		const needs = needsOf({ bidsPerSecond: 10_000 }, ROUND);
		expect(needs).toMatchObject({ clicks: 100, conversions: 10, postbacks: 20, callbacks: 10 });
		// A full batch a second; the others go unfilled once a second.
		expect(needs).toMatchObject({ clickBatches: 1, postbackBatches: 1, callbackBatches: 1 });
		expect(needs.requests).toBe(10_000 + 100 + 20 + 3);
		expect(needs.cpuMs).toBeCloseTo(10_000 + 200 + 10 + 20);
		expect(needs.queueOperations).toBe(3 * 130);
		expect(needs.rowsWritten).toBeCloseTo(100 * 12 + 10 * 40 + 10 * 5);
		// 8.64 million clicks a day for thirty days, and 864,000 conversions a day, each with its click, for a hundred.
		expect(d1Gb(needs, 30, ROUND)).toBeCloseTo(8.64e6 * 30 * 500e-9 + 0.864e6 * 100 * 5_000e-9);
		expect(daysToFill(needs, ROUND)).toBeCloseTo(10e9 / (8.64e6 * 500 + 0.864e6 * 4_500));
	});

	it("writes the rows that were measured, in batches of ten and of a hundred", () => {
		const { perClick, perBatch } = rowsOf(VALUES);
		expect(perClick + perBatch / 100).toBeCloseTo(VALUES.clickRows);
		expect(perClick + perBatch / 10).toBeCloseTo(VALUES.clickRowsByTen);
	});

	it.each([
		[0.1, 0.1],
		[5, 0.5],
		[50, 0.5],
		[51, 0.51],
		[500, 5],
	])("takes %d messages a second in %d batches", (messages, batches) => {
		expect(batchesOf(messages, 100, 2)).toBeCloseTo(batches);
	});

	it("never falls where the load grows, nor does what it costs", () => {
		fc.assert(
			fc.property(loads, loads, (one, other) => {
				const [small, large] = [Math.min(one, other), Math.max(one, other)].map((bidsPerSecond) => needsOf({ bidsPerSecond }, VALUES));
				if (small === undefined || large === undefined) throw new Error("two loads are needed");
				for (const [name, need] of Object.entries(small)) {
					expect(need, name).toBeLessThanOrEqual(large[name as keyof typeof large]);
				}
				const [costs, costsOfMore] = [small, large].map((needs) => costsOf(needs, 400, VALUES));
				if (costs === undefined || costsOfMore === undefined) throw new Error("two loads are needed");
				for (const [name, cost] of Object.entries(costs))
					expect(cost, name).toBeLessThanOrEqual(costsOfMore[name as keyof typeof costsOfMore]);
				const [size, larger] = [small, large].map((needs) => postgresSize(needs, 400, VALUES));
				if (size === undefined || larger === undefined) throw new Error("two loads are needed");
				for (const [name, part] of Object.entries(size)) expect(part, name).toBeLessThanOrEqual(larger[name as keyof typeof larger]);
				for (const { name, use } of WALLS) expect(use(small, VALUES), name).toBeLessThanOrEqual(use(large, VALUES));
			}),
		);
	});
});

describe("unit: what the book needs", () => {
	it("reads nothing more where it fits into an isolate, and what was measured where it does not", () => {
		expect(bookOf(100_000, VALUES)).toMatchObject({ residentShare: 1, waitedShare: 0 });
		expect(bookOf(1_000_000, VALUES).waitedShare).toBeCloseTo(VALUES.largeWaitedShare);
		// As many as `npm run bench -- --only publish` writes.
		expect(bookOf(1_000_000, VALUES).shards).toBe(4_096);
	});

	it("never has more of the bids wait than all", () => {
		expect(bookOf(1e9, { ...VALUES, largeWaitedShare: 0.99 }).waitedShare).toBe(1);
	});
});

describe("unit: what a load costs", () => {
	it("is free as far as the plan goes", () => {
		expect(charge(9, PRICES.requests)).toBe(0);
		expect(charge(12, PRICES.requests)).toBeCloseTo(0.6);
	});

	it("is what can be reckoned by hand", () => {
		const costs = costsOf(needsOf({ bidsPerSecond: 10_000 }, ROUND), 30, ROUND);
		const seconds = MONTH_SECONDS / 1e6;
		expect(costs.requests).toBeCloseTo((10_123 * seconds - 10) * 0.3);
		expect(costs.cpu).toBeCloseTo((10_230 * seconds - 30) * 0.02);
		expect(costs.queues).toBeCloseTo((390 * seconds - 1) * 0.4);
		expect(cloudflareTotal(costs)).toBeCloseTo(5 + costs.requests + costs.cpu + costs.kv + costs.queues + costs.logs);
	});
});

describe("unit: walls", () => {
	it("stand where a load begins to take more than their limit, in that order", () => {
		const walls = wallsInOrder(VALUES);
		expect(walls).toHaveLength(WALLS.length);
		for (const [at, { name, use, bidsPerSecond }] of walls.entries()) {
			expect(bidsPerSecond, name).toBeGreaterThanOrEqual(walls[at - 1]?.bidsPerSecond ?? 0);
			expect(use(needsOf({ bidsPerSecond: bidsPerSecond * 1.0001 }, VALUES), VALUES), name).toBeGreaterThan(1);
			expect(use(needsOf({ bidsPerSecond: bidsPerSecond * 0.9999 }, VALUES), VALUES), name).toBeLessThanOrEqual(1);
		}
	});

	it("are never reached where nothing is clicked", () => {
		expect(wallsInOrder({ ...VALUES, clickShare: 0 }).every(({ bidsPerSecond }) => bidsPerSecond === Number.POSITIVE_INFINITY)).toBe(true);
	});
});
