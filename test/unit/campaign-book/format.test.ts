import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALL_HOURS } from "../../../src/campaign-book/book.ts";
import {
	decodeEntry,
	decodePublisher,
	domainKey,
	encodeEntry,
	findEntry,
	keywordKey,
	SHARD_HEADER,
	shardKey,
	shardVersion,
	VERSION_LENGTH,
} from "../../../src/campaign-book/format.ts";
import { SLOT_BITS, shardOf, slotOf, slotsOfShard } from "../../../src/campaign-book/slots.ts";
import type { BrandWire } from "../../../src/campaign-book/wire.ts";
import { canonicalKeyword } from "../../../src/lib/keyword.ts";
import { DEFAULT_POLICY, layPolicies } from "../../../src/lib/traffic-rules.ts";

const host = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 2, maxLength: 4 }).map((labels) => labels.join("."));
const keyword = fc
	.string()
	.map(canonicalKeyword)
	.filter((text) => text !== null);
const key = fc.oneof(host.map(domainKey), keyword.map(keywordKey));

describe("unit: slots", () => {
	test("a host and its subdomains share a slot, so that a walk to the parent stays in one shard", () => {
		expect(slotOf(domainKey("a.b.shop.example"))).toBe(slotOf(domainKey("shop.example")));
		expect(slotOf(domainKey("www2.shop.co.uk"))).toBe(slotOf(domainKey("shop.co.uk")));
		fc.assert(
			fc.property(host, fc.stringMatching(/^[a-z]{4,12}$/), fc.stringMatching(/^[a-z]{1,8}$/), (sub, name, top) => {
				const parent = `${name}.${top}`;
				expect(slotOf(domainKey(`${sub}.${parent}`))).toBe(slotOf(domainKey(parent)));
			}),
		);
	});

	test("shops below a public suffix of two labels do not all share one slot", () => {
		const slots = new Set(Array.from({ length: 200 }, (_, i) => slotOf(domainKey(`shop${i}.co.uk`))));
		expect(slots.size).toBeGreaterThan(190);
	});

	test("are spread evenly over the shards", () => {
		const bits = 4;
		const counts = new Array<number>(1 << bits).fill(0);
		for (let i = 0; i < 16_000; i++) {
			const slot = slotOf(i % 2 === 0 ? domainKey(`brand-${i}.example`) : keywordKey(`keyword ${i}`));
			counts[shardOf(slot, bits)] = (counts[shardOf(slot, bits)] ?? 0) + 1;
		}
		expect(Math.min(...counts)).toBeGreaterThan(800);
		expect(Math.max(...counts)).toBeLessThan(1_200);
	});

	test("every slot lies in the run of its shard, and doubling the shards splits each in two", () => {
		fc.assert(
			fc.property(key, fc.integer({ min: 0, max: SLOT_BITS }), (text, bits) => {
				const slot = slotOf(text);
				expect(slot).toBeGreaterThanOrEqual(0);
				expect(slot).toBeLessThan(2 ** SLOT_BITS);
				const index = shardOf(slot, bits);
				const { first, last } = slotsOfShard(index, bits);
				expect(slot >= first && slot <= last).toBe(true);
				if (bits < SLOT_BITS) expect(shardOf(slot, bits + 1) >> 1).toBe(index);
			}),
		);
	});
});

describe("unit: keys and versions", () => {
	test("a shard's key carries the number of shards, its index and its version", () => {
		expect(shardKey(3, 5, "abcdefghijkl")).toBe("book:s:3:5:abcdefghijkl");
	});

	test("a manifest names the version of each shard, and none for a shard without entries", () => {
		const shards = `aaaaaaaaaaaa${" ".repeat(VERSION_LENGTH)}ccccccccccccdddddddddddd`;
		expect([0, 1, 2, 3, 4].map((index) => shardVersion({ shards }, index))).toEqual([
			"aaaaaaaaaaaa",
			null,
			"cccccccccccc",
			"dddddddddddd",
			null,
		]);
	});
});

describe("unit: findEntry", () => {
	test("finds the text of exactly the entry asked for", () => {
		fc.assert(
			fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 20 }), fc.uniqueArray(key, { maxLength: 10 }), (present, asked) => {
				const brands = new Map(present.map((text, i) => [text, [{ i, d: "shoes.example", c: [] }] as BrandWire[]]));
				const shard =
					SHARD_HEADER +
					[...brands]
						.sort()
						.map(([text, wires]) => encodeEntry(text, wires))
						.join("");
				for (const text of [...present, ...asked]) {
					const expected = brands.get(text);
					expect(findEntry(shard, text)).toBe(expected === undefined ? null : JSON.stringify(expected));
				}
			}),
		);
	});

	test("takes no part of a key, and nothing inside an entry, for an entry", () => {
		const shard = SHARD_HEADER + encodeEntry("d shop.example", [{ i: 1, d: "shop.example\n d x.example\t[]", c: [] }]);
		for (const text of ["d hop.example", "d shop.exampl", "d shop", "k shop.example", "d x.example", "", "book 1"]) {
			expect(findEntry(shard, text)).toBeNull();
		}
	});
});

describe("unit: decodeEntry", () => {
	test("what is absent on the wire has its default", () => {
		expect(decodeEntry('[{"i":4,"d":"shoes.example","c":[{"i":5001,"o":"US"}]}]')).toEqual([
			{
				brandId: 4,
				domain: "shoes.example",
				aliases: [],
				active: true,
				blockedCountries: [],
				categories: [],
				blocks: null,
				campaigns: [
					{
						campaignId: 5001,
						active: true,
						country: "US",
						platformId: null,
						hasHomepage: false,
						hasDeeplink: false,
						homepageUrl: null,
						deeplinkUrl: null,
						epcMicros: null,
						defaultKeywordEpcMicros: null,
						keywordEpcMicros: null,
						capped: false,
						timeZone: null,
						allowedHours: ALL_HOURS,
						traffic: null,
						heldBack: null,
						operatorPrices: null,
						released: null,
					},
				],
			},
		]);
	});

	test("reads every field", () => {
		const wire: BrandWire = {
			i: 4,
			d: "shoes.example",
			a: ["boots.example"],
			x: 1,
			b: ["GB"],
			c: [
				{
					...{ i: 5001, x: 1, o: "US", p: 7, h: "https://t.example/{click_id}", l: "https://t.example/{deeplink}", v: 1, e: 420_000 },
					...{ f: 300_000, k: { "running shoes": 550_000 }, z: 1, t: "America/New_York", m: 0b110 },
					r: { modes: { country: "off" } },
					w: [7_100, 10_500],
					n: [400_000, null, { boots: 500_000 }],
				},
			],
		};
		const [brand] = decodeEntry(JSON.stringify([wire]));
		expect(brand).toMatchObject({ brandId: 4, aliases: ["boots.example"], active: false, blockedCountries: ["GB"] });
		expect(brand?.campaigns[0]).toEqual({
			campaignId: 5001,
			active: false,
			country: "US",
			platformId: 7,
			hasHomepage: true,
			hasDeeplink: true,
			homepageUrl: "https://t.example/{click_id}",
			deeplinkUrl: "https://t.example/{deeplink}",
			epcMicros: 420_000,
			defaultKeywordEpcMicros: 300_000,
			keywordEpcMicros: new Map([["running shoes", 550_000]]),
			capped: true,
			timeZone: "America/New_York",
			allowedHours: 0b110,
			traffic: { modes: { country: "off" } },
			heldBack: { byClick: 7_100, all: 10_500 },
			operatorPrices: { epcMicros: 400_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map([["boots", 500_000]]) },
			released: null,
		});
	});

	test("a deeplink that is not verified is none, and a keyword entry says only that a link is there", () => {
		const campaigns = decodeEntry(
			'[{"i":1,"d":"a.example","c":[{"i":1,"o":"US","l":"https://t.example/"},{"i":2,"o":"US","h":1,"l":1,"v":1}]}]',
		)[0]?.campaigns;
		expect(campaigns?.[0]).toMatchObject({ hasDeeplink: false });
		expect(campaigns?.[1]).toMatchObject({ hasHomepage: true, homepageUrl: null, hasDeeplink: true, deeplinkUrl: null });
	});

	test("throws on text that is no entry", () => {
		expect(() => decodeEntry('[{"i":1')).toThrow(SyntaxError);
	});
});

describe("unit: decodePublisher", () => {
	test("reads every field; an empty list of blocked countries means all", () => {
		expect(
			decodePublisher({
				id: "acme",
				pubi: "1001",
				rtb: "acme_rtb",
				identity: "acme_rtb",
				seat: "s",
				share: 800_000,
				model: "CPC",
				blocked: { "a.example": [], "b.example": ["US"] },
				x: 1,
				m: 90,
				v: "no_bid",
				traffic: { modes: { velocity: "flag" }, visitorPerHour: 7 },
				o: { keywords: true },
				f: 1,
			}),
		).toEqual({
			id: "acme",
			number: null,
			identity: "acme_rtb",
			seat: "s",
			sharePpm: 800_000,
			pricingModel: "CPC",
			blockedBrands: new Map([
				["a.example", []],
				["b.example", ["US"]],
			]),
			suspended: true,
			bidPayMs: 90 * 60_000,
			privacy: "no_bid",
			traffic: layPolicies(DEFAULT_POLICY, { modes: { velocity: "flag" }, visitorPerHour: 7 }),
			openRtb: { keywords: true },
			fullAnswers: true,
			accessKeys: [],
			restrained: false,
			released: null,
		});
		expect(decodePublisher({ id: "b", n: 7, identity: "b", share: 0 })).toEqual({
			id: "b",
			number: 7,
			identity: "b",
			seat: null,
			sharePpm: 0,
			// Of an earlier version.
			pricingModel: null,
			blockedBrands: new Map(),
			suspended: false,
			bidPayMs: 60 * 60_000,
			privacy: "strip",
			traffic: DEFAULT_POLICY,
			openRtb: null,
			fullAnswers: false,
			accessKeys: [],
			restrained: false,
			released: null,
		});
	});

	test("a publisher's rules lie over the network's", () => {
		const network = layPolicies(DEFAULT_POLICY, { repeatMinutes: 5, modes: { bot: "flag" } });
		const { traffic } = decodePublisher({ id: "b", identity: "b", share: 0, traffic: { modes: { repeat: "off" } } }, network);
		expect(traffic).toEqual({ ...network, modes: { ...network.modes, repeat: "off" } });
	});
});
