/** Whatever the batches, their order, splitting and repetition: what is paid keeps within every bound, and counters equal the rows. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_UNPAID_PER_HOUR } from "../../../src/clicks/consumer/batch-bounds.ts";
import type { Decided, DecidedClick } from "../../../src/clicks/consumer/click-state.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { DEFAULT_POLICY, layPolicies } from "../../../src/lib/traffic-rules.ts";
import { campaignFacts, click, DecidedLedger, facts, NOON, publisherFacts } from "../../support/click-decisions.ts";

const VISITOR_PER_HOUR = 3;
const ADDRESS_PER_HOUR = 5;
const NETWORK_PER_HOUR = 7;
const CAPS = [
	campaignFacts({ campaignId: 1, dailyClickCap: 4, timezone: "America/New_York" }),
	campaignFacts({ campaignId: 2, dailyBudgetMicros: 900_000 }),
	campaignFacts({ campaignId: 3, totalBudgetMicros: 1_000_000, dailyBudgetMicros: 700_000 }),
];
const FACTS = facts({
	campaigns: new Map(CAPS.map((campaign) => [campaign.campaignId, campaign])),
	publishers: new Map([
		["acme_rtb", publisherFacts()],
		["other_rtb", publisherFacts({ id: "other", pricingModel: "CPA" })],
	]),
	traffic: layPolicies(DEFAULT_POLICY, {
		visitorPerHour: VISITOR_PER_HOUR,
		addressPerHour: ADDRESS_PER_HOUR,
		networkPerHour: NETWORK_PER_HOUR,
		repeatMinutes: 30,
	}),
});

const message = fc.record({
	at: fc.integer({ min: NOON, max: NOON + 26 * HOUR_MS }),
	hash: fc.nat({ max: 60 }).map((hash) => hash.toString(16).padStart(32, "0")),
	publisher: fc.constantFrom("acme_rtb", "acme_rtb", "other_rtb", "nobody"),
	brandId: fc.nat({ max: 4 }),
	campaignId: fc.constantFrom(1, 2, 3, 9),
	bidMicros: fc.integer({ min: 1, max: 500_000 }),
	connection: fc.constantFrom("a", "b", undefined),
	userAgentHash: fc.constantFrom("u", "v", undefined),
	ipPrefix: fc.constantFrom("2001:db8:1::/48", "203.0.113.0/24"),
	reason: fc.constantFrom(undefined, undefined, undefined, undefined, "bot" as const),
	texts: fc.constantFrom(undefined, { subi: "x" }, { psorc: "y" }),
});

/** Messages, and the batches in which they come: any of them any number of times, and in the end each at least once. */
const deliveries = fc.array(message, { minLength: 1, maxLength: 60 }).chain((fields) => {
	const messages = fields.map((of) => anonymous(definedOf(of)));
	const index = fc.nat({ max: messages.length - 1 });
	return fc
		.tuple(fc.array(fc.array(index, { maxLength: 30 }), { maxLength: 6 }), fc.shuffledSubarray(messages, { minLength: messages.length }))
		.map(([batches, rest]) => ({ messages, batches: [...batches.map((batch) => batch.map((at) => messages[at] as ClickMessage)), rest] }));
});

/** What is undefined is absent. */
function definedOf({ connection, userAgentHash, ...fields }: Record<string, unknown>): Partial<ClickMessage> {
	const named = { ...fields, connection, userAgentHash };
	return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) as Partial<ClickMessage>;
}

/** A click with just the visitor it is given, or none. */
function anonymous(fields: Partial<ClickMessage>): ClickMessage {
	const { connection: _connection, userAgentHash: _userAgentHash, ...rest } = click();
	return { ...rest, ...fields };
}

const sumOf = (rows: readonly DecidedClick[]) => rows.reduce((sum, { bidMicros }) => sum + bidMicros, 0);
const groupsOf = (rows: readonly DecidedClick[], key: (row: DecidedClick) => string) => [...Map.groupBy(rows, key).values()];

function checkCaps(paid: readonly DecidedClick[]): void {
	for (const { campaignId, dailyClickCap, dailyBudgetMicros, totalBudgetMicros } of CAPS) {
		const own = paid.filter((row) => row.click.campaignId === campaignId);
		expect(sumOf(own)).toBeLessThanOrEqual(totalBudgetMicros ?? Number.POSITIVE_INFINITY);
		for (const day of groupsOf(own, ({ localDay }) => localDay)) {
			expect(day.length).toBeLessThanOrEqual(dailyClickCap ?? Number.POSITIVE_INFINITY);
			expect(sumOf(day)).toBeLessThanOrEqual(dailyBudgetMicros ?? Number.POSITIVE_INFINITY);
		}
	}
}

function checkVisits(paid: readonly DecidedClick[]): void {
	const known = paid.filter(
		({ click: of, publisher }) => publisher !== undefined && of.connection !== undefined && of.userAgentHash !== undefined,
	);
	const mostInAnHour = (rows: readonly DecidedClick[]) => {
		const times = rows.map((row) => row.click.at);
		return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + HOUR_MS).length));
	};
	const ofNetworks = known.filter(({ click: { ipPrefix } }) => ipPrefix?.endsWith("::/48"));
	for (const hour of groupsOf(ofNetworks, (row) => `${row.publisher?.id} ${Math.floor(row.click.at / HOUR_MS)}`)) {
		expect(hour.length).toBeLessThanOrEqual(NETWORK_PER_HOUR);
	}
	for (const address of groupsOf(known, (row) => `${row.publisher?.id} ${row.click.connection}`)) {
		expect(mostInAnHour(address)).toBeLessThanOrEqual(ADDRESS_PER_HOUR);
		for (const visitor of groupsOf(address, (row) => `${row.click.userAgentHash}`)) {
			expect(mostInAnHour(visitor)).toBeLessThanOrEqual(VISITOR_PER_HOUR);
			for (const brand of groupsOf(visitor, (row) => String(row.click.brandId))) {
				const times = brand.map((row) => row.click.at).sort((a, b) => a - b);
				for (const [at, time] of times.slice(1).entries()) expect(time - (times[at] ?? 0)).toBeGreaterThanOrEqual(30 * MINUTE_MS);
			}
		}
	}
}

describe("unit: what batches decide, in any order, split and repeated in any way", () => {
	test("property: no cap or budget is passed, no hash billed twice, no visitor or address paid too often", () => {
		fc.assert(
			fc.property(deliveries, ({ messages, batches }) => {
				const ledger = new DecidedLedger(FACTS);
				for (const batch of batches) ledger.take(batch);
				expect(ledger.rows.map((row) => row.click.id).sort()).toEqual(messages.map(({ id }) => id).sort());
				const paid = ledger.paid();
				expect(new Set(paid.map((row) => row.click.hash)).size).toBe(paid.length);
				checkCaps(paid);
				checkVisits(paid);
				for (const row of ledger.rows) {
					const earns = row.reason === null && row.publisher?.pricingModel === "CPC";
					expect(row.revenueMicros).toBe(earns ? row.bidMicros : 0);
					if (row.click.reason !== undefined) expect(row.reason).toBe(row.click.reason);
				}
			}),
			{ numRuns: 500 },
		);
	});

	test("property: a click is paid unless something that is written speaks against it", () => {
		fc.assert(
			fc.property(deliveries, ({ batches }) => {
				const ledger = new DecidedLedger(FACTS);
				for (const batch of batches) ledger.take(batch);
				const paidHashes = new Set(ledger.paid().map((row) => row.click.hash));
				for (const row of ledger.rows) {
					if (row.reason === "duplicate") expect(paidHashes.has(row.click.hash)).toBe(true);
					if (row.reason === "over_cap") expect(row.click.campaignId).toBe(1);
					if (row.reason === "over_budget") expect([2, 3]).toContain(row.click.campaignId);
					if (row.reason === "repeat" || row.reason === "velocity") expect(row.click.connection).toBeDefined();
				}
			}),
			{ numRuns: 200 },
		);
	});

	test("property: one batch is decided alike in whatever order it holds its messages, and however often", () => {
		fc.assert(
			fc.property(fc.array(message, { minLength: 1, maxLength: 40 }), fc.infiniteStream(fc.nat()), (fields, salt) => {
				const messages = fields.map((of) => anonymous(definedOf(of)));
				const shuffled = messages
					.flatMap((of) => [of, of])
					.map((of) => ({ of, by: salt.next().value ?? 0 }))
					.sort((a, b) => a.by - b.by)
					.map(({ of }) => of);
				const plain = (decided: Decided) => decided.clicks.map(({ click: of, reason }) => [of.id, reason]);
				expect(plain(new DecidedLedger(FACTS).take(shuffled))).toEqual(plain(new DecidedLedger(FACTS).take(messages)));
			}),
			{ numRuns: 200 },
		);
	});

	test("property: unpaid clicks of a connection are each stored or counted, and never more stored than an hour may", () => {
		fc.assert(
			fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 }), (sizes) => {
				const ledger = new DecidedLedger(FACTS);
				for (const size of sizes) ledger.take(Array.from({ length: size }, () => click({ connection: "c", reason: "bot" })));
				const total = sizes.reduce((sum, size) => sum + size, 0);
				const [counted] = [...ledger.unpaid.values()];
				expect(counted).toEqual({ stored: Math.min(total, MAX_UNPAID_PER_HOUR), dropped: Math.max(0, total - MAX_UNPAID_PER_HOUR) });
				expect(ledger.rows).toHaveLength(Math.min(total, MAX_UNPAID_PER_HOUR));
			}),
			{ numRuns: 30 },
		);
	});
});
