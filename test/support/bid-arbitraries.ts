/** fast-check arbitraries of bid requests: sound ones, sound ones with something changed, and anything at all. */
import fc from "fast-check";
import { fullRequest, type Json, type JsonObject, laterRequest, leastRequest, set } from "./bid-requests.ts";

const domains = [
	"shoes.example",
	"best.example",
	"plain.example",
	"rounding.example",
	"tie.example",
	"kids.shop.example",
	"half-capped.example",
];
const unlucky = [
	"unknown.example",
	"inactive.example",
	"abroad.example",
	"paused.example",
	"never.example",
	"no-deeplink.example",
	"not a host",
];
const text = fc.oneof(
	fc.string({ unit: "binary", maxLength: 20 }),
	fc.constantFrom("", " ", "\ud800", "__proto__", "https://shoes.example/p"),
);

/** Floors around the prices of the test network. */
const floor = fc.oneof(
	fc.constantFrom(0, 0.1, 0.24, 0.336, 0.3361, 0.44, 0.5),
	fc.double({ min: 0, max: 1, noNaN: true }),
	fc.constantFrom("0.3", "free", true, null),
);

/** A sound request that often bids. */
export const soundRequest = fc
	.record({
		id: fc.string({ minLength: 1 }).filter((id) => id.trim() !== ""),
		domain: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...domains) }, { weight: 1, arbitrary: fc.constantFrom(...unlucky) }),
		keyword: fc.constantFrom(undefined, undefined, "running shoes", "boots"),
		floor: fc.option(floor, { nil: undefined }),
		deeplink: fc.constantFrom(undefined, undefined, "https://shoes.example/p", "https://evil.example/"),
		page: fc.option(fc.webUrl(), { nil: undefined }),
		country: fc.constantFrom(undefined, "US", "usa", "GB"),
		clickId: fc.option(text, { nil: undefined }),
		tagId: fc.option(text, { nil: undefined }),
		ip: fc.constantFrom(undefined, "203.0.113.7", "2001:db8::1"),
		test: fc.constantFrom(undefined, 0, 1),
	})
	.map((of) => {
		const request: JsonObject = { id: of.id, imp: [{ id: "imp-1" }], site: { domain: of.domain } };
		const fields: [path: string, value: Json | undefined][] = [
			["site.search", of.keyword],
			["imp.0.bidfloor", of.floor],
			["ext.deeplink", of.deeplink],
			["site.page", of.page],
			["device.geo.country", of.country],
			["site.publisher.id", of.clickId],
			["imp.0.tagid", of.tagId],
			["device.ip", of.ip],
			["test", of.test],
		];
		return fields.reduce((body, [path, value]) => (value === undefined ? body : set(body, path, value)), request);
	});

const paths = [
	...[
		"id",
		"imp",
		"imp.0",
		"imp.0.id",
		"imp.0.tagid",
		"imp.0.bidfloor",
		"imp.0.bidfloorcur",
		"imp.0.native",
		"imp.0.native.ext",
		"imp.0.native.ext.url",
	],
	...[
		"imp.0.ext",
		"imp.0.ext.deeplink",
		"site",
		"site.domain",
		"site.search",
		"site.page",
		"site.publisher",
		"site.publisher.id",
		"app",
		"app.domain",
	],
	...[
		"device",
		"device.ip",
		"device.geo",
		"device.geo.country",
		"user",
		"user.id",
		"user.buyeruid",
		"user.keywords",
		"ext",
		"ext.deeplink",
	],
	...["test", "tmax", "cur", "badv", "wseat", "bseat", "__proto__", "constructor", "toString"],
];
const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text, fc.constantFrom(1e308, -0, 5e-324, 2 ** 53, [], {}, [[]], "\u0000"));

/** A request with some fields replaced by anything. */
export const mutatedRequest = fc
	.tuple(
		fc.constantFrom(leastRequest, fullRequest),
		fc.array(fc.tuple(fc.constantFrom(...paths), anything), { minLength: 1, maxLength: 4 }),
	)
	.map(([make, changes]) => changes.reduce((body, [path, value]) => trySet(body, path, value as Json), make()));

const LATER_PATHS = [
	...["imp.0.exp", "imp.0.pmp", "imp.0.pmp.private_auction", "site.keywords", "site.kwarray", "site.kwarray.0", "user.keywords"],
	...["user.kwarray", "user.kwarray.0", "bcat", "bcat.0", "acat", "acat.0", "cattax", "device.ua", "source", "source.schain"],
	...["source.schain.complete", "source.schain.nodes", "source.schain.nodes.0", "source.schain.nodes.0.asi", "source.schain.nodes.0.sid"],
	...["source.ext", "source.ext.schain", "source.ext.schain.nodes"],
];
const deep = (depth: number): Json => (depth === 0 ? "x" : depth % 2 === 0 ? [deep(depth - 1)] : { a: deep(depth - 1) });
const later = fc.oneof(
	{ weight: 4, arbitrary: anything },
	{
		weight: 1,
		arbitrary: fc.constantFrom<Json>(
			deep(1_000),
			"\ud800",
			"\udfff,\ud800",
			",".repeat(200),
			"a,".repeat(50_000),
			new Array(3_000).fill("IAB1"),
		),
	},
);

/** A request of OpenRTB 2.6 with some of its fields replaced by anything: of every wrong type, very deep, very long, no text at all. */
export const mutatedLaterRequest = fc
	.array(fc.tuple(fc.constantFrom(...LATER_PATHS), later), { maxLength: 4 })
	.map((changes) => changes.reduce((body, [path, value]) => trySet(body, path, value as Json), laterRequest()));

/** A change that an earlier one has made impossible is left out. */
function trySet(body: JsonObject, path: string, value: Json): JsonObject {
	try {
		return set(body, path, value);
	} catch (error) {
		if (error instanceof Error) return body;
		throw error;
	}
}

/** Text that looks like JSON, or was. A body is UTF-8, which has no halves of pairs, so what a cut leaves of one is U+FFFD already. */
export const jsonish = fc
	.oneof(
		fc.json(),
		fc.string({ unit: "binary" }),
		fc.tuple(mutatedRequest, fc.nat({ max: 400 })).map(([body, at]) => JSON.stringify(body).slice(0, at)),
		fc.tuple(mutatedRequest, fc.nat({ max: 400 }), fc.string({ maxLength: 3 })).map(([body, at, added]) => {
			const written = JSON.stringify(body);
			return written.slice(0, at) + added + written.slice(at);
		}),
		fc.integer({ min: 1, max: 20_000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)),
		fc.integer({ min: 1, max: 20_000 }).map((depth) => `{"id":"a","imp":[{"id":"b"}],"x":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`),
	)
	.map((text) => text.toWellFormed());

/** The same request said otherwise: other order of keys, unknown fields, added nulls. */
export function rephrase(value: Json, choose: (below: number) => number): Json {
	if (Array.isArray(value)) return value.map((item) => rephrase(item, choose));
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, rephrase(item, choose)]);
	const added: [string, Json][] = [
		[`x_${choose(9)}`, [null, 7, { id: "x" }, "text"][choose(4)] ?? null],
		...ABSENT.filter((key) => !(key in value) && choose(2) === 0).map((key): [string, Json] => [key, null]),
	];
	const mixed: [string, Json][] = [];
	for (const entry of [...entries, ...added]) mixed.splice(choose(mixed.length + 1), 0, entry);
	return Object.fromEntries(mixed);
}

/** Fields that mean something somewhere; null, they mean nothing. */
const ABSENT = [
	"bidfloor",
	"bidfloorcur",
	"tagid",
	"native",
	"ext",
	"domain",
	"search",
	"page",
	"publisher",
	"geo",
	"country",
	"keywords",
	"cur",
	"badv",
	"wseat",
	"tmax",
];
