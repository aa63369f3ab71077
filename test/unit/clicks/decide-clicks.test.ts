/** What the consumer decides of a batch: each rule at its boundaries, whatever the order in which clicks arrive. */
import { describe, expect, test } from "vitest";
import { MAX_SOURCES_PER_DAY, MAX_UNPAID_PER_HOUR } from "../../../src/clicks/consumer/batch-bounds.ts";
import { publisherDayKey, sourceKey } from "../../../src/clicks/consumer/click-state.ts";
import { decideClicks } from "../../../src/clicks/consumer/decide-clicks.ts";
import type { Facts } from "../../../src/clicks/consumer/facts.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { hashSource } from "../../../src/lib/hash.ts";
import { HOUR_MS, MINUTE_MS, utcDay } from "../../../src/lib/time.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficSettings } from "../../../src/lib/traffic-rules.ts";
import { campaignFacts, click, DecidedLedger, EMPTY_STATE, facts, NOON, publisherFacts } from "../../support/click-decisions.ts";

/** Batches one after another; then the reasons of all clicks, in the order in which they were given. */
function reasonsOf(batches: readonly (readonly ClickMessage[])[], of: Facts = facts()): (string | null)[] {
	const ledger = new DecidedLedger(of);
	for (const batch of batches) ledger.take(batch);
	const byId = new Map(ledger.rows.map((row) => [row.click.id, row.reason]));
	return batches.flat().map(({ id }) => byId.get(id) ?? null);
}

const visitor = (at: number, fields: Partial<ClickMessage> = {}) => click({ at, connection: "c", userAgentHash: "u", ...fields });
/** This many clicks of brands of their own, a second apart. */
const many = (count: number, from: number, fields: (at: number) => Partial<ClickMessage> = () => ({})) =>
	Array.from({ length: count }, (_, at) => visitor(from + at * 1_000, { brandId: at + 100, ...fields(at) }));
const unpaidOf = (reasons: readonly (string | null)[]) => reasons.filter((reason) => reason !== null).length;
const capped = (caps: object) => facts({ campaigns: new Map([[5001, campaignFacts(caps)]]) });

describe("unit: a click that is paid", () => {
	test("has all that it is counted by", () => {
		const [decided] = decideClicks([click({ texts: { subi: "s", psorc: "p" } })], facts(), EMPTY_STATE).clicks;
		expect(decided).toMatchObject({ reason: null, flags: [], bidMicros: 200_000, revenueMicros: 200_000, sourceId: "s", rateSlot: null });
		expect(decided).toMatchObject({ utcDay: "2026-11-18", localDay: "2026-11-18" });
	});

	test("earns a publisher that is paid by conversion nothing, and is counted all the same", () => {
		const of = facts({ publishers: new Map([["acme_rtb", publisherFacts({ pricingModel: "CPA" })]]) });
		expect(decideClicks([click()], of, EMPTY_STATE).clicks).toMatchObject([{ reason: null, bidMicros: 200_000, revenueMicros: 0 }]);
	});

	test("what nobody knows makes no click unpaid: its publisher, its campaign, its address, its browser", () => {
		const { connection: _c, ...noAddress } = visitor(NOON);
		const { userAgentHash: _u, ...noBrowser } = visitor(NOON);
		const twice = (one: ClickMessage) => [one, { ...one, id: `${one.id}-2`, hash: "f".repeat(32) }];
		expect(reasonsOf([twice(noAddress)])).toEqual([null, null]);
		expect(reasonsOf([twice(noBrowser)])).toEqual([null, null]);
		expect(reasonsOf([twice(visitor(NOON, { publisher: "nobody" }))])).toEqual([null, null]);
		expect(reasonsOf([[visitor(NOON, { campaignId: 9_999 })]])).toEqual([null]);
	});

	test.each<[number | undefined, number, string | null]>([
		[undefined, 5001, "northwind"],
		[1, 5001, "eastwind"],
		[2, 5001, "northwind"],
		[3, 5001, "northwind"],
		[1, 9_999, null],
	])("of platform number %s is, by campaign %d, of %s", (platformId, campaignId, platform) => {
		const platforms = new Map([
			[1, ["eastwind"]],
			[2, ["eastwind", "westwind"]],
		]);
		expect(decideClicks([click({ platformId, campaignId })], facts({ platforms }), EMPTY_STATE).clicks).toMatchObject([{ platform }]);
	});

	test("what the redirect says stands", () => {
		expect(reasonsOf([[click({ reason: "bot" }), click({ reason: "velocity" })]])).toEqual(["bot", "velocity"]);
		const [decided] = decideClicks([click({ flags: ["other_device"] })], facts(), EMPTY_STATE).clicks;
		expect(decided).toMatchObject({ reason: null, flags: ["other_device"] });
	});
});

describe("unit: duplicates and redeliveries", () => {
	const again = (of: ClickMessage, at = of.at + 1) => click({ hash: of.hash, at });

	test("of one hash the earliest is paid, in one batch or in two", () => {
		const first = click();
		expect(reasonsOf([[again(first), first]])).toEqual(["duplicate", null]);
		expect(reasonsOf([[first], [again(first)]])).toEqual([null, "duplicate"]);
		// One that was paid already stays so, though an earlier one arrives.
		expect(reasonsOf([[again(first)], [first]])).toEqual([null, "duplicate"]);
	});

	test("an unpaid click uses up no hash", () => {
		const bot = click({ reason: "bot" });
		expect(reasonsOf([[bot, again(bot)]])).toEqual(["bot", null]);
	});

	test("a message that comes again is decided once", () => {
		const [one, two] = [visitor(NOON), visitor(NOON + 1)];
		const ledger = new DecidedLedger(facts());
		ledger.take([one, one, two]);
		expect(ledger.take([two, one])).toEqual({ clicks: [], networks: [], unpaid: [], newSources: [] });
		expect(ledger.rows.map(({ reason }) => reason)).toEqual([null, "repeat"]);
	});
});

describe("unit: repeats", () => {
	test.each<[what: string, other: Partial<ClickMessage>, reason: string | null]>([
		["the same visitor and brand, a millisecond before the hour is over", { at: NOON + HOUR_MS - 1 }, "repeat"],
		["when it is over", { at: NOON + HOUR_MS }, null],
		["by link after a bid", { at: NOON + 1, kind: "link" }, "repeat"],
		["of another campaign of the brand", { at: NOON + 1, campaignId: 5002 }, "repeat"],
		["of another brand", { at: NOON + 1, brandId: 2 }, null],
		["of another browser at the address", { at: NOON + 1, userAgentHash: "v" }, null],
		["at another address", { at: NOON + 1, connection: "d" }, null],
		["of another publisher", { at: NOON + 1, publisher: "other_rtb" }, null],
	])("%s", (_, other, reason) => {
		const publishers = new Map([
			["acme_rtb", publisherFacts()],
			["other_rtb", publisherFacts({ id: "other" })],
		]);
		const pair = [visitor(NOON), visitor(NOON, other)];
		expect(reasonsOf([pair], facts({ publishers }))).toEqual([null, reason]);
		expect(reasonsOf([[pair[0] as ClickMessage], [pair[1] as ClickMessage]], facts({ publishers }))).toEqual([null, reason]);
	});

	test("a click that arrives late repeats a later one that is paid", () => {
		expect(reasonsOf([[visitor(NOON)], [visitor(NOON - HOUR_MS + 1)], [visitor(NOON - HOUR_MS)]])).toEqual([null, "repeat", null]);
	});

	test("what is unpaid is repeated by nothing", () => {
		expect(
			reasonsOf([[visitor(NOON, { reason: "bot" }), visitor(NOON + 1), visitor(NOON + HOUR_MS), visitor(NOON + HOUR_MS + 1)]]),
		).toEqual(["bot", null, "repeat", null]);
	});

	test("over as many minutes as are set", () => {
		const of = facts({ traffic: layPolicies(DEFAULT_POLICY, { repeatMinutes: 1_440 }) });
		const [late, next] = [visitor(NOON + 1_440 * MINUTE_MS - 1), visitor(NOON + 1_440 * MINUTE_MS)];
		expect(reasonsOf([[visitor(NOON), late, next]], of)).toEqual([null, "repeat", null]);
	});
});

describe("unit: the networks of one IPv6 site", () => {
	const networkOf = (at: number) => at.toString(16).padStart(2, "0");

	test("have visitors of their own: a repeat is of one of them", () => {
		const [one, two, again] = ["01", "02", "01"].map((network, at) => visitor(NOON + at * 1_000, { network }));
		expect(reasonsOf([[one, two, again].filter((message) => message !== undefined)])).toEqual([null, null, "repeat"]);
		expect(reasonsOf([[visitor(NOON, { network: "01" })], [visitor(NOON + 1, { network: "01" }), visitor(NOON + 2)]])).toEqual([
			null,
			"repeat",
			null,
		]);
	});

	test("are one address: together they have no more paid clicks than that", () => {
		const home = (from: number) => many(256, from, (at) => ({ network: networkOf(at) }));
		expect(reasonsOf([home(NOON)])).toEqual([...Array(120).fill(null), ...Array(136).fill("velocity")]);
		expect(unpaidOf(reasonsOf([home(NOON).slice(0, 100), home(NOON + HOUR_MS / 2)]))).toBe(236);
	});
});

describe("unit: velocity", () => {
	test("the twenty-first paid click of a visitor in an hour", () => {
		expect(reasonsOf([many(21, NOON)])).toEqual([...Array(20).fill(null), "velocity"]);
		expect(reasonsOf([many(20, NOON), [visitor(NOON + HOUR_MS - 1)]]).at(-1)).toBe("velocity");
		expect(reasonsOf([many(20, NOON), [visitor(NOON + HOUR_MS)]]).at(-1)).toBeNull();
	});

	test("the hundred and twenty-first of an address, whoever is behind it", () => {
		const people = many(121, NOON, (at) => ({ userAgentHash: `u${at}` }));
		expect(reasonsOf([people])).toEqual([...Array(120).fill(null), "velocity"]);
	});

	test("the 1,201st of an IPv6 network of 48 bits in an hour of the clock, however many addresses it has", () => {
		const ofNetwork = (count: number, at: number, ipPrefix = "2001:db8:85a3::/48") =>
			Array.from({ length: count }, () => click({ at, ipPrefix }));
		expect(unpaidOf(reasonsOf([ofNetwork(1_201, NOON)]))).toBe(1);
		const batches = [ofNetwork(700, NOON), ofNetwork(500, NOON + 1), ofNetwork(1, NOON + 2)];
		expect(reasonsOf(batches).slice(1_199)).toEqual([null, "velocity"]);
		expect(unpaidOf(reasonsOf([...batches.slice(0, 2), ofNetwork(1, NOON + HOUR_MS), ofNetwork(1, NOON, "2001:db8:85a4::/48")]))).toBe(0);
		// Of a click whose connection is not known, too.
		const { connection: _, ...unconnected } = click({ ipPrefix: "2001:db8:85a3::/48" });
		expect(reasonsOf([...batches.slice(0, 2), [unconnected]]).at(-1)).toBe("velocity");
		// One of IPv4 has few more addresses than people.
		expect(unpaidOf(reasonsOf([ofNetwork(1_300, NOON, "203.0.113.0/24")]))).toBe(0);
		expect(unpaidOf(reasonsOf([ofNetwork(11, NOON)], facts({ traffic: layPolicies(DEFAULT_POLICY, { networkPerHour: 10 }) })))).toBe(1);
	});

	test("of one publisher", () => {
		const publishers = new Map([
			["acme_rtb", publisherFacts()],
			["other_rtb", publisherFacts({ id: "other" })],
		]);
		expect(reasonsOf([many(20, NOON), [visitor(NOON + 1, { publisher: "other_rtb" })]], facts({ publishers })).at(-1)).toBeNull();
	});

	test("no hour has more, whatever the order of arrival", () => {
		const later = many(20, NOON);
		const earlier = many(20, NOON - 30 * MINUTE_MS, (at) => ({ brandId: at + 500 }));
		expect(unpaidOf(reasonsOf([later, earlier]))).toBe(20);
		expect(unpaidOf(reasonsOf([earlier, later]))).toBe(20);
		// Ten before and ten after: the hour around a click may be full though neither half is.
		const around = [...many(10, NOON - 29 * MINUTE_MS), ...many(10, NOON + 29 * MINUTE_MS, (at) => ({ brandId: at + 500 }))];
		expect(reasonsOf([around, [visitor(NOON)]]).at(-1)).toBe("velocity");
	});
});

describe("unit: caps and budgets", () => {
	test.each<[what: string, caps: object, paid: number, reason: string]>([
		["clicks a day", { dailyClickCap: 3 }, 3, "over_cap"],
		["a daily budget met exactly", { dailyBudgetMicros: 600_000 }, 3, "over_budget"],
		["a daily budget that the next click would pass by a micro-dollar", { dailyBudgetMicros: 799_999 }, 3, "over_budget"],
		["a total budget met exactly", { totalBudgetMicros: 600_000 }, 3, "over_budget"],
		["a total budget that the next click would pass", { totalBudgetMicros: 799_999 }, 3, "over_budget"],
		["none of either", { dailyClickCap: 0 }, 0, "over_cap"],
	])("%s", (_, caps, paid, reason) => {
		const five = Array.from({ length: 5 }, () => click());
		const expected = [...Array(paid).fill(null), ...Array(5 - paid).fill(reason)];
		expect(reasonsOf([five], capped(caps))).toEqual(expected);
		expect(
			reasonsOf(
				five.map((one) => [one]),
				capped(caps),
			),
		).toEqual(expected);
	});

	test("a cheaper click still fits in where a costlier one did not", () => {
		const clicks = [click({ at: NOON + 1 }), click({ at: NOON + 2, bidMicros: 500_000 }), click({ at: NOON + 3, bidMicros: 100_000 })];
		expect(reasonsOf([clicks], capped({ totalBudgetMicros: 300_000 }))).toEqual([null, "over_budget", null]);
	});

	test("days are those of the campaign's clocks; a click counts on its own day, however late it arrives", () => {
		const midnight = Date.parse("2026-11-19T05:00:00Z");
		const of = capped({ dailyClickCap: 1, timezone: "America/New_York" });
		const [before, after, late] = [click({ at: midnight - 1 }), click({ at: midnight }), click({ at: midnight - 2 })];
		expect(reasonsOf([[before, after], [late]], of)).toEqual([null, null, "over_cap"]);
	});

	test("a link whose worth the redirect could not tell is worth EPC × share", () => {
		const { bidMicros: _, ...link } = click({ kind: "link" });
		expect(decideClicks([link], facts(), EMPTY_STATE).clicks).toMatchObject([{ bidMicros: 200_000 }]);
		expect(reasonsOf([[link]], capped({ totalBudgetMicros: 199_999 }))).toEqual(["over_budget"]);
	});
});

describe("unit: modes", () => {
	const repeated = () => [visitor(NOON), visitor(NOON + 1)];
	const level = (name: string, traffic: TrafficSettings): Facts => {
		if (name === "network") return facts({ traffic: layPolicies(DEFAULT_POLICY, traffic) });
		if (name === "publisher") return facts({ publishers: new Map([["acme_rtb", publisherFacts({ traffic })]]) });
		return facts({ campaigns: new Map([[5001, campaignFacts({ traffic })]]) });
	};

	test.each(["network", "publisher", "campaign"])("a rule that is off or only flags, set by the %s", (name) => {
		for (const [mode, flags] of [
			["off", []],
			["flag", ["repeat"]],
		] as const) {
			const ledger = new DecidedLedger(level(name, { modes: { repeat: mode } }));
			ledger.take(repeated());
			expect(ledger.rows.map(({ reason, flags }) => ({ reason, flags }))).toEqual([
				{ reason: null, flags: [] },
				{ reason: null, flags },
			]);
		}
	});

	test("the campaign's word goes before the publisher's, and this before the network's", () => {
		const of = (campaign: TrafficSettings | null) =>
			facts({
				traffic: layPolicies(DEFAULT_POLICY, { modes: { repeat: "off" } }),
				publishers: new Map([["acme_rtb", publisherFacts({ traffic: { modes: { repeat: "unpaid" } } })]]),
				campaigns: new Map([[5001, campaignFacts({ traffic: campaign })]]),
			});
		expect(reasonsOf([repeated()], of(null))).toEqual([null, "repeat"]);
		expect(reasonsOf([repeated()], of({ modes: { repeat: "off" } }))).toEqual([null, null]);
	});

	test("no mode lets a hash be paid twice", () => {
		const modes = Object.fromEntries(Object.keys(DEFAULT_POLICY.modes).map((rule) => [rule, "off"]));
		const first = click();
		const of = facts({ traffic: layPolicies(DEFAULT_POLICY, { modes }) });
		expect(reasonsOf([[first, click({ hash: first.hash, at: NOON + 1 })]], of)).toEqual([null, "duplicate"]);
	});

	test("a cap that only flags is passed, and says so", () => {
		const of = capped({ dailyClickCap: 1, traffic: { modes: { over_cap: "flag" } } });
		const ledger = new DecidedLedger(of);
		ledger.take([click(), click()]);
		expect(ledger.rows.map(({ reason, flags }) => [reason, ...flags])).toEqual([[null], [null, "over_cap"]]);
	});
});

describe("unit: what is kept of what is not paid", () => {
	test("600 unpaid clicks of a connection and hour; what comes beyond them is a number", () => {
		const unpaid = Array.from({ length: MAX_UNPAID_PER_HOUR + 5 }, () => click({ connection: "c", reason: "bot" }));
		const ledger = new DecidedLedger(facts());
		for (let at = 0; at < unpaid.length; at += 100) ledger.take(unpaid.slice(at, at + 100));
		expect(ledger.rows).toHaveLength(MAX_UNPAID_PER_HOUR);
		expect([...ledger.unpaid.values()]).toEqual([{ stored: MAX_UNPAID_PER_HOUR, dropped: 5 }]);
		ledger.take([click({ connection: "c" }), click({ connection: "c", reason: "bot", at: NOON + HOUR_MS })]);
		expect(ledger.rows).toHaveLength(MAX_UNPAID_PER_HOUR + 2);
	});

	test("a thousand sources of a publisher's day; the next are other, on that day alone; a click without any stays so", () => {
		const of = (source: string, at = NOON) => click({ at, texts: { subi: source } });
		const ledger = new DecidedLedger(facts());
		ledger.take(Array.from({ length: MAX_SOURCES_PER_DAY - 1 }, (_, at) => of(`s${at}`)));
		const { clicks } = ledger.take([of("last"), of("new"), of("s1"), of("new", NOON + 24 * HOUR_MS)]);
		expect(clicks.map(({ sourceId }) => sourceId)).toEqual(["last", "other", "s1", "new"]);
		expect(ledger.take([of("s2"), of("newer"), click()]).clicks.map(({ sourceId }) => sourceId)).toEqual(["s2", "other", null]);
	});

	test("names that anyone may make up on a public link crowd out neither those of bids nor those that sold on the day before", () => {
		const ofLink = (subi: string) => click({ kind: "link", texts: { subi } });
		// A bid's address may be given another source than it was asked for.
		const ofBid = (subi: string, asked = subi) => click({ texts: { subi }, sourceHash: hashSource(asked) });
		const sourcesAt = (count: number, ...clicks: ClickMessage[]) =>
			decideClicks(clicks, facts(), {
				...EMPTY_STATE,
				sourceCounts: new Map([[publisherDayKey("acme", utcDay(NOON)), count]]),
				soldOnDayBefore: new Set([sourceKey("acme", utcDay(NOON), "old")]),
			}).clicks.map(({ sourceId }) => sourceId);
		const clicks = () => [ofLink("made-up"), ofBid("made-up", "asked"), ofLink("old"), ofBid("asked")];
		expect(sourcesAt(MAX_SOURCES_PER_DAY, ...clicks())).toEqual(["other", "other", "old", "asked"]);
		expect(sourcesAt(2 * MAX_SOURCES_PER_DAY - 1, ofBid("asked"), ofBid("next"), ofBid("asked"))).toEqual(["asked", "other", "asked"]);
		expect(sourcesAt(2 * MAX_SOURCES_PER_DAY, ...clicks())).toEqual(["other", "other", "old", "other"]);
		expect(sourcesAt(3 * MAX_SOURCES_PER_DAY, ...clicks())).toEqual(["other", "other", "other", "other"]);
	});
});
