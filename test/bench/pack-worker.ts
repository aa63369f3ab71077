/**
 * Bench-only Worker: packs a catalogue of any size straight into KV, without the hours of importing it.
 * POST /pack?campaigns=&bits=&from=&to= writes those chunks of facts; the last of them writes filters and head, too.
 */
import { brandsFor, domainOf, generateBrand } from "../../scripts/bench/catalogue/generate.ts";
import type { Brand } from "../../scripts/demo/network-file.ts";
import { ACME } from "../../scripts/demo/well-known.ts";
import { type BookEntry, type BrandInput, buildEntries, versionOf } from "../../src/campaign-book/build.ts";
import { domainKey, MANIFEST_KEY, VERSION_LENGTH } from "../../src/campaign-book/format.ts";
import { buildFilter } from "../../src/campaign-book/packed/fuse-filter.ts";
import { type ChunkKind, chunkKey, FILTER_SPAN_BITS, type Head } from "../../src/campaign-book/packed/head.ts";
import { packFacts } from "../../src/campaign-book/packed/pack-facts.ts";
import { writePublishers } from "../../src/campaign-book/packed/publishers.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import type { Env } from "../../src/config.ts";
import { hashOf } from "../../src/lib/hash.ts";

/** Brands by the chunk of one of their hosts, and the hashes of keys by filter. */
type Plan = { brands: number[][]; hashes: number[][]; versions: string[]; bytes: number };

let plan: Plan | undefined;

function planFor(campaigns: number, bits: number): Plan {
	const brands = Array.from({ length: 2 ** bits }, (): number[] => []);
	const hashes = Array.from({ length: 2 ** (bits - FILTER_SPAN_BITS) }, (): number[] => []);
	for (let number = 0; number < brandsFor(campaigns); number++) {
		for (const host of [domainOf(number), ...generateBrand(number).aliases]) {
			const index = shardOf(slotOf(domainKey(host)), bits);
			brands[index]?.push(number);
			hashes[index >>> FILTER_SPAN_BITS]?.push(hashOf(domainKey(host)));
		}
	}
	return { brands, hashes, versions: [], bytes: 0 };
}

function micros(decimal: string | null): number | null {
	return decimal === null ? null : Math.round(Number(decimal) * 1_000_000);
}

function inputOf(number: number, { domain, aliases, active, blocked_countries, campaigns }: Brand): BrandInput {
	return {
		id: number + 1,
		domain,
		aliases,
		active,
		blockedCountries: blocked_countries,
		iabCategories: [],
		campaigns: campaigns.map((campaign) => ({
			campaignId: campaign.campaign_id,
			active: campaign.active,
			country: campaign.country,
			platformId: 1,
			homepageUrl: campaign.homepage_url,
			deeplinkUrl: campaign.deeplink_url,
			deeplinkVerified: campaign.deeplink_verified,
			epcMicros: micros(campaign.epc),
			defaultKeywordEpcMicros: micros(campaign.default_keyword_epc),
			keywordEpcMicros: {},
			dailyClickCap: campaign.daily_click_cap,
			dailyBudgetMicros: null,
			totalBudgetMicros: null,
			timezone: campaign.timezone,
			allowedHours: (campaign.allowed_hours ?? []).reduce((mask, hour) => mask | (1 << hour), 0),
			traffic: null,
		})),
	};
}

async function put(kv: KVNamespace, kind: ChunkKind, bits: number, index: number, bytes: Uint8Array): Promise<string> {
	const version = await versionOf(bytes);
	await kv.put(chunkKey(kind, bits, index, version), bytes.slice().buffer);
	return version;
}

async function writeChunk(kv: KVNamespace, { brands, bytes: _, ...rest }: Plan, bits: number, index: number): Promise<number> {
	const inputs = new Map((brands[index] ?? []).map((number) => [number + 1, inputOf(number, generateBrand(number))]));
	const entries = [...inputs.values()].flatMap(({ id, domain, aliases }): BookEntry[] =>
		[domain, ...aliases].map((host) => ({ key: domainKey(host), brandId: id })),
	);
	const here = entries.filter(({ key }) => shardOf(slotOf(key), bits) === index);
	const bytes = packFacts(buildEntries(here, inputs), new Map());
	rest.versions[index] = await put(kv, "f", bits, index, bytes);
	return bytes.length;
}

async function writeHead(kv: KVNamespace, { hashes, versions, bytes }: Plan, bits: number): Promise<void> {
	const filters: string[] = [];
	for (const [index, keys] of hashes.entries()) filters.push(await put(kv, "x", bits - FILTER_SPAN_BITS, index, buildFilter(keys)));
	const { publisher_identity: identity, id } = ACME;
	const head: Head = {
		format: 2,
		version: 1,
		publishedAt: Date.now(),
		bits,
		bytes,
		facts: versions.join(""),
		links: " ".repeat(VERSION_LENGTH * 2 ** bits),
		filters: filters.join(""),
		publisherBits: 0,
		publishers: writePublishers([{ id, n: 1, rtb: identity, identity, share: 800_000, model: "CPC" }]).texts[0] ?? "",
	};
	await kv.put(MANIFEST_KEY, JSON.stringify(head));
}

export default {
	async fetch(request, env) {
		const parameters = new URL(request.url).searchParams;
		const [campaigns = 0, bits = 0, from = 0, to = 0] = ["campaigns", "bits", "from", "to"].map((name) => Number(parameters.get(name)));
		plan ??= planFor(campaigns, bits);
		for (let index = from; index < to; index++) plan.bytes += await writeChunk(env.BOOK, plan, bits, index);
		if (to === 2 ** bits) await writeHead(env.BOOK, plan, bits);
		return Response.json({ bytes: plan.bytes });
	},
} satisfies ExportedHandler<Env>;
