/** Builds the text of shards from rows: pure, and the same rows always give the same text, so that its hash is its version. */
import { toBase64Url } from "../lib/base64-url.ts";
import { sha256 } from "../lib/bytes.ts";
import { type Release, writeRelease } from "../lib/release.ts";
import type { TrafficSettings } from "../lib/traffic-rules.ts";
import { ALL_HOURS, type HeldBack } from "./book.ts";
import { domainKey, encodeEntry, keywordKey, SHARD_HEADER, VERSION_LENGTH } from "./format.ts";
import { SLOT_BITS, shardOf, slotOf } from "./slots.ts";
import type { BrandWire, CampaignWire } from "./wire.ts";

export type CampaignInput = {
	campaignId: number;
	active: boolean;
	country: string;
	/** Numeric platform id (`pli`). */
	platformId: number | null;
	homepageUrl: string | null;
	deeplinkUrl: string | null;
	deeplinkVerified: boolean;
	epcMicros: number | null;
	defaultKeywordEpcMicros: number | null;
	/** Canonical keyword → micro-dollars. */
	keywordEpcMicros: Record<string, number>;
	dailyClickCap: number | null;
	dailyBudgetMicros: number | null;
	totalBudgetMicros: number | null;
	timezone: string;
	allowedHours: number;
	/** The campaign's own rules on which clicks are paid. */
	traffic: TrafficSettings | null;
	/** Absent where the operator's prices are bid. */
	heldBack?: HeldBack;
	/** The operator's numbers, where those above were learned and some publisher is bid these; else absent. */
	operatorPrices?: Pick<CampaignInput, "epcMicros" | "defaultKeywordEpcMicros" | "keywordEpcMicros">;
	/** Absent where it was not let go of lately. */
	released?: Release;
};

export type BrandInput = {
	id: number;
	/** Canonical domain. */
	domain: string;
	/** Canonical hosts. */
	aliases: readonly string[];
	active: boolean;
	blockedCountries: readonly string[];
	iabCategories: readonly string[];
	campaigns: readonly CampaignInput[];
};

/** A key of the book and a brand that appears under it. */
export type BookEntry = { key: string; brandId: number };

/** Size that the number of shards aims at, in bytes of shard text. */
export const TARGET_SHARD_BYTES = 64 * 1024;

/** Every key under which a brand appears in the book: its domain, its aliases, and the keywords of its campaigns. */
export function keysOfBrand(
	brand: Pick<BrandInput, "domain" | "aliases"> & { campaigns: readonly Pick<CampaignInput, "keywordEpcMicros">[] },
): string[] {
	const keywords = new Set(brand.campaigns.flatMap((campaign) => Object.keys(campaign.keywordEpcMicros)));
	return [...[brand.domain, ...brand.aliases].map(domainKey), ...[...keywords].map(keywordKey)];
}

/** The number of shards, as a power of two's exponent, that suits a book of this many bytes of text. */
export function bitsFor(bytes: number): number {
	const shards = Math.max(1, bytes / TARGET_SHARD_BYTES);
	return Math.min(SLOT_BITS, Math.ceil(Math.log2(shards)));
}

/**
 * What the book has under each key, by key in order; keys without anything are absent.
 * @param brands every brand the entries name, with its campaigns
 */
export function buildEntries(entries: readonly BookEntry[], brands: ReadonlyMap<number, BrandInput>): Map<string, BrandWire[]> {
	const byKey = new Map<string, BrandInput[]>();
	for (const { key, brandId } of entries) {
		const brand = brands.get(brandId);
		if (brand === undefined) continue;
		const sharing = byKey.get(key);
		if (sharing === undefined) byKey.set(key, [brand]);
		else sharing.push(brand);
	}
	const built = new Map<string, BrandWire[]>();
	for (const key of [...byKey.keys()].sort()) {
		const wires = writeEntry(key, byKey.get(key) ?? []);
		if (wires.length > 0) built.set(key, wires);
	}
	return built;
}

/**
 * The texts of shards that the entries fall into, by shard index. A shard without entries is absent.
 * @param brands every brand the entries name, with its campaigns
 */
export function buildShards(entries: readonly BookEntry[], brands: ReadonlyMap<number, BrandInput>, bits: number): Map<number, string> {
	const lines = new Map<number, string[]>();
	for (const [key, wires] of buildEntries(entries, brands)) {
		const index = shardOf(slotOf(key), bits);
		const line = encodeEntry(key, wires);
		const shard = lines.get(index);
		if (shard === undefined) lines.set(index, [line]);
		else shard.push(line);
	}
	return new Map([...lines].map(([index, shard]) => [index, SHARD_HEADER + shard.join("")]));
}

/** In the place of the version of a shard or chunk without entries. */
export const NO_VERSION = " ".repeat(VERSION_LENGTH);

/** A shard's or chunk's version: a hash of its content. */
export async function versionOf(content: string | Uint8Array): Promise<string> {
	return toBase64Url(await sha256(content)).slice(0, VERSION_LENGTH);
}

function writeEntry(key: string, brands: readonly BrandInput[]): BrandWire[] {
	const name = key.slice(2);
	if (key.startsWith("k ")) return writeKeyword(name, brands);
	// An own domain goes before an alias of the same name, then the older brand.
	const owner = [...brands].sort((a, b) => Number(b.domain === name) - Number(a.domain === name) || a.id - b.id)[0];
	return owner === undefined ? [] : [writeBrand(owner, owner.campaigns.map(writeCampaign))];
}

/**
 * One candidate per campaign that has the keyword: highest keyword EPC first, then lowest campaign id. One that was let go of lately is bid
 * near the operator's number, and has its place by that where it is the higher one.
 */
function writeKeyword(keyword: string, brands: readonly BrandInput[]): BrandWire[] {
	return brands
		.flatMap((brand) =>
			brand.campaigns.flatMap((campaign) => {
				const epcMicros = Object.hasOwn(campaign.keywordEpcMicros, keyword) ? campaign.keywordEpcMicros[keyword] : undefined;
				if (epcMicros === undefined) return [];
				const near = campaign.released === undefined ? undefined : campaign.operatorPrices?.keywordEpcMicros[keyword];
				return [{ brand, campaign, epcMicros, most: Math.max(epcMicros, near ?? 0) }];
			}),
		)
		.sort((a, b) => b.most - a.most || a.campaign.campaignId - b.campaign.campaignId)
		.map(({ brand, campaign, epcMicros }) => {
			const { e, f, r, ...wire } = writeCampaign(campaign);
			if (wire.h !== undefined) wire.h = 1;
			if (wire.l !== undefined) wire.l = 1;
			if (wire.n !== undefined) wire.n = [null, null, { [keyword]: wire.n[2]?.[keyword] ?? 0 }];
			return writeBrand(brand, [{ ...wire, k: { [keyword]: epcMicros } }]);
		});
}

function writeBrand(brand: BrandInput, campaigns: CampaignWire[]): BrandWire {
	return {
		i: brand.id,
		d: brand.domain,
		...(brand.aliases.length > 0 && { a: [...brand.aliases].sort() }),
		...(!brand.active && { x: 1 }),
		...(brand.blockedCountries.length > 0 && { b: [...brand.blockedCountries].sort() }),
		...(brand.iabCategories.length > 0 && { g: [...brand.iabCategories].sort() }),
		c: [...campaigns].sort((a, b) => a.i - b.i),
	};
}

function writeCampaign(campaign: CampaignInput): CampaignWire {
	const keywords = Object.entries(campaign.keywordEpcMicros).sort(([a], [b]) => (a < b ? -1 : 1));
	const neverBids = campaign.dailyClickCap === 0 || campaign.dailyBudgetMicros === 0 || campaign.totalBudgetMicros === 0;
	return {
		i: campaign.campaignId,
		...(!campaign.active && { x: 1 }),
		o: campaign.country,
		...(campaign.platformId !== null && { p: campaign.platformId }),
		...(campaign.homepageUrl !== null && { h: campaign.homepageUrl }),
		...(campaign.deeplinkUrl !== null && { l: campaign.deeplinkUrl }),
		...(campaign.deeplinkVerified && { v: 1 }),
		...(campaign.epcMicros !== null && { e: campaign.epcMicros }),
		...(campaign.defaultKeywordEpcMicros !== null && { f: campaign.defaultKeywordEpcMicros }),
		...(keywords.length > 0 && { k: Object.fromEntries(keywords) }),
		...(neverBids && { z: 1 }),
		...(campaign.allowedHours !== ALL_HOURS && { t: campaign.timezone, m: campaign.allowedHours }),
		...(campaign.traffic !== null && { r: campaign.traffic }),
		...(campaign.heldBack !== undefined && { w: [campaign.heldBack.byClick, campaign.heldBack.all] }),
		...(campaign.operatorPrices !== undefined && { n: writePrices(campaign.operatorPrices) }),
		...(campaign.released !== undefined && { q: writeRelease(campaign.released) }),
	} satisfies CampaignWire;
}

function writePrices(prices: NonNullable<CampaignInput["operatorPrices"]>): NonNullable<CampaignWire["n"]> {
	const keywords = Object.entries(prices.keywordEpcMicros).sort(([a], [b]) => (a < b ? -1 : 1));
	return [prices.epcMicros, prices.defaultKeywordEpcMicros, keywords.length === 0 ? null : Object.fromEntries(keywords)];
}
