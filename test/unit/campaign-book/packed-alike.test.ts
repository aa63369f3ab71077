/** Both formats of the campaign book decide alike, explanations and redirects included: for random networks and requests. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BiddingDeps } from "../../../src/bidding/deps.ts";
import { type ExplainInput, explainBid } from "../../../src/bidding/explain.ts";
import { ALL_HOURS, isBrandBlocked } from "../../../src/campaign-book/book.ts";
import { type BrandInput, buildEntries, type CampaignInput, keysOfBrand } from "../../../src/campaign-book/build.ts";
import { CampaignBook, findByIdentity } from "../../../src/campaign-book/load.ts";
import type { BlockInput } from "../../../src/campaign-book/packed/blocks.ts";
import type { PublisherWire } from "../../../src/campaign-book/wire.ts";
import { ClickTokens } from "../../../src/click-token/token.ts";
import { chooseTarget } from "../../../src/clicks/choose-target.ts";
import { memoryBook } from "../../support/memory-book.ts";
import { packedBook } from "../../support/packed-book.ts";

const RUNS = Number(process.env.PROPERTY_RUNS ?? "") || 60;
const NOW = Date.parse("2026-11-18T12:30:00Z");
const HOSTS = ["a.example", "b.example", "shop.a.example", "c.co.uk", "d.example", "e.example"] as const;
const KEYWORDS = ["boots", "füße", "red shoes", "靴"] as const;
const COUNTRIES = ["US", "DE", "GB"] as const;

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const micros = fc.constantFrom(1, 400_000, 600_000, 9_007_199_254_740_991, 5_000_000_000);
const template = fc
	.tuple(
		fc.constantFrom("https://t.example/c?s={click_id}", "https://t.example/c?s={click_id}&u={deeplink}", "https://ü.example/😀?{click_id}"),
		fc.string({ unit: "binary", maxLength: 4 }),
	)
	.map(([start, end]) => start + end.toWellFormed());
const traffic = fc.constantFrom(null, null, { modes: { bot: "flag" as const } }, { visitorPerHour: 3, asns: [64_500] });

const campaign = fc.record({
	active: fc.constantFrom(true, true, true, false),
	country: fc.constantFrom("US", "US", "US", ...COUNTRIES),
	platformId: maybe(fc.constantFrom(0, 7, 4_000_000_000)),
	homepageUrl: maybe(template),
	deeplinkUrl: maybe(template),
	deeplinkVerified: fc.boolean(),
	epcMicros: maybe(micros),
	defaultKeywordEpcMicros: maybe(micros),
	keywordEpcMicros: fc.dictionary(fc.constantFrom(...KEYWORDS, "__proto__"), micros, { maxKeys: 3 }),
	dailyClickCap: fc.constantFrom(null, null, 0, 5),
	dailyBudgetMicros: fc.constant(null),
	totalBudgetMicros: fc.constant(null),
	timezone: fc.constantFrom("UTC", "America/New_York"),
	allowedHours: fc.constantFrom(ALL_HOURS, ALL_HOURS, 0, 1 << 7, 0xff_0000),
	traffic,
}) satisfies fc.Arbitrary<Omit<CampaignInput, "campaignId">>;

const brand = fc.record({
	aliases: fc.uniqueArray(fc.constantFrom("x.example", "m.y.example", ...HOSTS), { maxLength: 2 }),
	active: fc.constantFrom(true, true, true, false),
	blockedCountries: fc.uniqueArray(fc.constantFrom(...COUNTRIES), { maxLength: 2 }),
	iabCategories: fc.uniqueArray(fc.constantFrom("IAB1", "IAB22-1", "7:473"), { maxLength: 2 }),
	campaigns: fc.array(campaign, { maxLength: 4 }),
});

/** Ids are given out in an order of its own, so that candidates of equal price come in any. */
const network = fc
	.tuple(
		fc.uniqueArray(fc.constantFrom(...HOSTS), { minLength: 1 }),
		fc.array(brand, { minLength: HOSTS.length, maxLength: HOSTS.length }),
		fc.nat(999),
	)
	.map(([domains, brands, salt]) =>
		domains.map((domain, at): BrandInput => {
			const { campaigns, aliases, ...of } = brands[at] as (typeof brands)[number];
			const idOf = (place: number) => ((at * 10 + place + 1) * 7_919 + salt) % 100_003;
			return {
				...of,
				id: idOf(9) + 1,
				domain,
				aliases: aliases.filter((alias) => alias !== domain),
				campaigns: campaigns.map((one, place) => ({ ...one, campaignId: idOf(place) })),
			};
		}),
	);

const blocks = fc.array(
	fc.record({ publisher: fc.nat(1), domain: fc.constantFrom(...HOSTS), country: fc.constantFrom(null, ...COUNTRIES) }),
	{ maxLength: 8 },
);

const request = fc.record({
	host: maybe(fc.constantFrom(...HOSTS, "x.example", "www.deep.shop.a.example", "m.x.example", "unknown.example")),
	keyword: maybe(fc.constantFrom(...KEYWORDS, "none", "__proto__")),
	deeplink: maybe(fc.constantFrom("https://a.example/p", "https://x.example/p", "https://evil.example/")),
	country: fc.constantFrom("US", "US", "US", ...COUNTRIES),
	floor: fc.constantFrom(null, null, "0.1", "0.3", "99"),
	blocked: fc.constantFrom([], ["x.example"], ["a.example"]),
	publisher: fc.nat(1),
});
type Asked = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

/** One brand that nothing keeps from bidding, and what is asked for it: four requests, of two endpoints and two ids of the publisher. */
const OPEN: BrandInput = {
	id: 1,
	domain: "a.example",
	aliases: [],
	active: true,
	blockedCountries: [],
	iabCategories: [],
	campaigns: [
		{
			campaignId: 1,
			active: true,
			country: "US",
			platformId: 7,
			homepageUrl: "https://t.example/c?s={click_id}",
			deeplinkUrl: null,
			deeplinkVerified: false,
			epcMicros: 400_000,
			defaultKeywordEpcMicros: null,
			keywordEpcMicros: {},
			dailyClickCap: null,
			dailyBudgetMicros: null,
			totalBudgetMicros: null,
			timezone: "UTC",
			allowedHours: ALL_HOURS,
			traffic: null,
		},
	],
};
const ASKED = [0, 1, 0, 1].map(
	(publisher): Asked => ({ host: "a.example", keyword: null, deeplink: null, country: "US", floor: null, blocked: [], publisher }),
);

const SHARES = [500_000, 800_000] as const;
const publisherAt = (at: number, blocked: Record<string, string[]>): PublisherWire => ({
	id: `p${at}`,
	pubi: `100${at}`,
	rtb: `identity_${at}`,
	identity: `identity_${at}`,
	share: SHARES[at] ?? 0,
	model: "CPC",
	...(Object.keys(blocked).length > 0 && { blocked }),
	former: [{ n: "pubi", v: `old-${at}`, u: NOW + 1 }],
});

function booksOf(brands: BrandInput[], blocked: { publisher: number; domain: string; country: string | null }[]) {
	const entries = buildEntries(
		brands.flatMap((of) => keysOfBrand(of).map((key) => ({ key, brandId: of.id }))),
		new Map(brands.map((of) => [of.id, of])),
	);
	const lists = SHARES.map((): Record<string, string[]> => ({}));
	for (const { publisher, domain, country } of blocked) {
		const list = lists[publisher] ?? {};
		if (country === null) list[domain] = [];
		else if (list[domain] === undefined) list[domain] = [country];
		else if (list[domain].length > 0) list[domain].push(country);
	}
	const publishers = lists.map((list, at) => publisherAt(at, list));
	const byBrand = new Map<string, BlockInput[]>();
	for (const [at, list] of lists.entries()) {
		for (const [domain, countries] of Object.entries(list)) {
			byBrand.set(domain, [...(byBrand.get(domain) ?? []), { publisher: at * 300 + 1, countries: [...new Set(countries)] }]);
		}
	}
	const packed = packedBook({
		entries,
		publishers: publishers.map(({ blocked: _, ...publisher }, at) => ({ ...publisher, n: at * 300 + 1 })),
		blocks: byBrand,
	});
	return {
		lines: new CampaignBook(memoryBook(Object.fromEntries(entries), publishers), { snapshotTtlMs: 15_000 }),
		packed: new CampaignBook(packed.store, { snapshotTtlMs: 15_000, chunks: packed.chunks, fill: false }),
	};
}

function inputsOf({ host, keyword, deeplink, country, floor, blocked, publisher }: Asked): ExplainInput[] {
	const given = Object.entries({ bd: host, kw: keyword, dl: deeplink, cc: country, fbid: floor }).filter(([, value]) => value !== null);
	const query = new URLSearchParams(Object.fromEntries(given) as Record<string, string>).toString();
	const bidRequest = {
		id: "1",
		imp: [{ id: "1", bidfloor: floor === null ? 0 : Number(floor) }],
		site: { ...(host !== null && { domain: host }), ...(keyword !== null && { search: keyword }) },
		badv: blocked,
		ext: deeplink === null ? {} : { deeplink },
	};
	return [
		{ endpoint: "serving-engine", publisherId: `100${publisher}`, query },
		{ endpoint: "serving-engine", publisherId: `old-${publisher}`, query },
		{ endpoint: "openrtb", identity: `identity_${publisher}`, request: bidRequest },
	];
}

const depsOf = (book: CampaignBook): BiddingDeps => ({
	book,
	tokens: new ClickTokens(["a-key-of-thirty-two-characters-or-more"]),
	clickUrl: "https://click.example",
	clickTtlMs: 86_400_000,
	now: () => NOW,
});

/** Where a click on each campaign of a domain leads, and what is known of it. */
async function redirectsOf(book: CampaignBook, domain: string) {
	const snapshot = await book.snapshot(NOW, () => {});
	if (snapshot === null) throw new Error("no book");
	const found = await book.linkedBrandOf(snapshot, domain);
	if (found === null) return null;
	const { blocks: _, campaigns, ...of } = found;
	const publishers = await Promise.all(SHARES.map((_, at) => findByIdentity(snapshot, `identity_${at}`, NOW)));
	return {
		of,
		isBlocked: publishers.map((publisher) =>
			COUNTRIES.map((country) => publisher !== undefined && isBrandBlocked(found, publisher, country)),
		),
		campaigns: campaigns.map(({ keywordEpcMicros, ...campaign }) => ({
			...campaign,
			prices: KEYWORDS.map((keyword) => keywordEpcMicros?.get(keyword)),
		})),
		targets: [...campaigns.map(({ campaignId }) => campaignId), 0].flatMap((campaignId) =>
			[null, `https://${domain}/p`].map((dl) => {
				const target = chooseTarget(found, campaignId, "US", dl);
				return target && { template: target.template, campaignId: target.campaign.campaignId, deeplink: target.deeplink };
			}),
		),
	};
}

describe("unit: both formats of the campaign book", () => {
	test("decide alike, and explain it alike; their clicks lead to the same links", async () => {
		let bids = 0;
		await fc.assert(
			fc.asyncProperty(network, blocks, fc.array(request, { minLength: 4, maxLength: 8 }), async (brands, blocked, requests) => {
				const { lines, packed } = booksOf(brands, blocked);
				for (const input of requests.flatMap(inputsOf)) {
					const [explained, expected] = await Promise.all([packed, lines].map((book) => explainBid(depsOf(book), input, () => {})));
					expect(explained).toEqual(expected);
					if (expected?.decision.outcome === "bid") bids++;
				}
				for (const host of [...HOSTS, "x.example"]) {
					const expected = await redirectsOf(lines, host);
					// A click names a brand by its domain: an alias has no links of its own.
					if (expected === null || expected.of.domain === host) expect(await redirectsOf(packed, host)).toEqual(expected);
				}
			}),
			// However few networks there are, some of their requests get a bid.
			{ numRuns: RUNS, examples: [[[OPEN], [], ASKED]] },
		);
		// Enough of them to compare.
		expect(bids).toBeGreaterThan(RUNS / 20);
	});
});
