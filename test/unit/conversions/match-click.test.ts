import { describe, expect, test } from "vitest";
import { asClickHash, type CandidateClick, MAX_CANDIDATES, matchClick } from "../../../src/conversions/match-click.ts";

function click(fields: Partial<CandidateClick> = {}): CandidateClick {
	return {
		id: "1",
		clickHash: "a",
		reason: null,
		clickedAt: 1,
		publisherId: "p",
		brandId: 1,
		campaignId: 1,
		platform: "west",
		publisherClickId: "x",
		sourceId: null,
		pricingModel: "CPA",
		revenueSharePpm: 800_000,
		publisherPricingModel: "CPA",
		writtenBy: "",
		isTest: 0,
		...fields,
	};
}

const match = (byHash: CandidateClick[], byPublisherClickId: CandidateClick[] = []) => {
	const { click: found, why, ...rest } = matchClick("west", byHash, byPublisherClickId, Number.POSITIVE_INFINITY);
	return found === null ? why : `${found.id} by ${"attribution" in rest ? rest.attribution : ""}`;
};

describe("unit: which click a postback speaks of", () => {
	test("the hash goes before the publisher's click id", () => {
		expect(match([click({ id: "h" })], [click({ id: "n", clickHash: "b" })])).toBe("h by click_hash");
	});

	test("the billed redirect goes before all others of its hash, a test comes last", () => {
		const of = (...reasons: CandidateClick["reason"][]) =>
			match(reasons.map((reason, at) => click({ id: String(reason), reason, clickedAt: at })));
		expect(of("expired", "bot", null, "test")).toBe("null by click_hash");
		expect(of("test", "head", "prefetch", "bot", "duplicate", "expired")).toBe("expired by click_hash");
		expect(of("test", "head")).toBe("head by click_hash");
		expect(of("test")).toBe("test by click_hash");
	});

	const RANKED = [null, "expired", "duplicate", "bot", "prefetch", "head", "test"] as const;
	test.each(RANKED.slice(1).map((worse, at) => [RANKED[at] ?? null, worse] as const))(
		"%s goes before %s, though it came later",
		(better, worse) => {
			const clicks = [click({ id: "worse", reason: worse, clickedAt: 1 }), click({ id: "better", reason: better, clickedAt: 2 })];
			expect(match(clicks)).toBe("better by click_hash");
			expect(match(clicks.toReversed())).toBe("better by click_hash");
		},
	);

	test("of redirects of one kind the earliest counts, and of one moment that with the lowest id", () => {
		expect(match([click({ id: "a", clickedAt: 2 }), click({ id: "b", clickedAt: 1 })])).toBe("b by click_hash");
		expect(match([click({ id: "b" }), click({ id: "a" })])).toBe("a by click_hash");
	});

	test.each(["clickid", "CLICK_ID", "click-id", "cid", "aff click id"])(
		"by %s, which somebody left in its place, no click is found",
		(name) => {
			expect(match([], [click({ publisherClickId: name })])).toBe("no_click");
		},
	);

	test("a publisher's click id counts where one click of the platform has it", () => {
		expect(match([], [click({ id: "n" })])).toBe("n by publisher_click_id");
		expect(match([], [click({ id: "n" }), click({ id: "other", clickHash: "b", platform: "east" })])).toBe("n by publisher_click_id");
		expect(match([], [click({ id: "n" }), click({ id: "again", reason: "duplicate" })])).toBe("n by publisher_click_id");
		expect(match([], [click({ id: "n" }), click({ id: "bot", clickHash: "b", reason: "bot" })])).toBe("n by publisher_click_id");
	});

	test("one that two clicks have finds neither", () => {
		expect(match([], [click(), click({ id: "2", clickHash: "b" })])).toBe("ambiguous");
		expect(match([], [click({ reason: "bot" }), click({ id: "2", clickHash: "b", reason: "expired" })])).toBe("ambiguous");
		expect(
			match(
				[],
				Array.from({ length: MAX_CANDIDATES + 1 }, (_, at) => click({ id: String(at) })),
			),
		).toBe("ambiguous");
	});

	test("nor does one that an erased click had, too", () => {
		const left = click({ writtenBy: "shared_id" });
		expect(match([], [left])).toBe("ambiguous");
		expect(match([], [left, click({ id: "2", clickHash: "b", reason: "bot" })])).toBe("ambiguous");
		expect(match([left])).toBe("1 by click_hash");
		expect(match([], [left, click({ id: "2", clickHash: "b", platform: "east" })])).toBe("ambiguous");
	});

	test.each([
		["of the same platform", {}],
		["of another platform", { platform: "east" }],
		["of a bot", { reason: "bot" }],
		["of a test", { reason: "test" }],
		["of a publisher that is no more", { publisherId: null, revenueSharePpm: null }],
	] as const)("one that two publishers have used is matched to neither, whether the other click is %s", (_, fields) => {
		const clicks = [click(), click({ id: "2", clickHash: "b", publisherId: "q", ...fields })];
		expect([match([], clicks), match([], clicks.toReversed())]).toEqual(["ambiguous", "ambiguous"]);
		expect(match([click({ id: "h" })], clicks)).toBe("h by click_hash");
	});

	test("a click made after the sale was told of has not brought it, though it bears the id that was told", () => {
		const told = (...clicks: CandidateClick[]) => matchClick("west", [], clicks, 100_000);
		expect(told(click({ clickedAt: 160_000 }))).toMatchObject({ click: { id: "1" } });
		expect(told(click({ clickedAt: 160_001 }))).toEqual({ click: null, why: "no_click" });
		const late = click({ id: "late", clickHash: "b", clickedAt: 160_001 });
		expect(told(click({ reason: "bot" }), late)).toMatchObject({ click: { id: "1" } });
		expect(told(click(), late)).toMatchObject({ click: { id: "1" } });
		expect(told(click(), { ...late, publisherId: "q" })).toEqual({ click: null, why: "ambiguous" });
	});

	/** A GUID that nobody set, and the like. */
	const NO_IDS = ["00000000-0000-0000-0000-000000000000", "0".repeat(32), "000", "--", "-1", "(none)", "(not set)", "not_set"];
	/** What analytics and shops call a sale that nobody brought. */
	const NOBODYS = [
		"direct",
		"(direct)",
		"Organic",
		"(not provided)",
		"not available",
		"unassigned",
		"default",
		"no_click_id",
		"noid",
		"no-click",
		"(direct) / (none)",
		"referral",
		"[object Object]",
		"0.0",
		"_",
	];
	test.each(["null", "NULL", "(null)", "undefined", "none", "NaN", "n/a", "unknown", "0", "-", ...NO_IDS, ...NOBODYS])(
		"%s is no id: whoever gave a click such a one would have all sales that nobody brought",
		(publisherClickId) => expect(match([], [click({ publisherClickId })])).toBe("no_click"),
	);

	test.each(["10", "-10", "0-1", "not", "unset", "0a", "direct-1", "no-77", "(7)", "test", "0.7", "direct / 7"])(
		"%s is an id",
		(publisherClickId) => expect(match([], [click({ publisherClickId })])).toBe("1 by publisher_click_id"),
	);

	test("a platform reports on its own clicks; a campaign without a platform is anybody's", () => {
		expect(match([click({ platform: "east" })])).toBe("other_platform");
		expect(match([click({ platform: "east" })], [click({ id: "n" })])).toBe("other_platform");
		expect(match([click({ platform: null })])).toBe("1 by click_hash");
	});

	test("a click that is no publisher's any more earns nobody anything", () => {
		expect(match([click({ publisherId: null, revenueSharePpm: null })])).toBe("no_publisher");
	});

	test("a click id is a hash in any letter case", () => {
		expect(asClickHash("AbCdEf0123456789aBcDeF0123456789")).toBe("abcdef0123456789abcdef0123456789");
		expect(asClickHash("g".repeat(32))).toBeNull();
		expect(asClickHash("a".repeat(31))).toBeNull();
	});
});
