/** Packs entries of the campaign book into a chunk of facts: the same entries always give the same bytes. */
import type { ReleaseWire } from "../../lib/release.ts";
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import type { BrandWire, CampaignWire } from "../wire.ts";
import { type BlockInput, packBlocks } from "./blocks.ts";
import { ByteWriter } from "./bytes.ts";
import * as layout from "./facts-layout.ts";
import { packKeyed } from "./keyed-chunk.ts";

/** Blocks by the brand's domain. */
export type Blocks = ReadonlyMap<string, readonly BlockInput[]>;

/**
 * The chunk of some entries.
 * @param entries key → what the book has under it, as `buildEntries` makes it
 */
export function packFacts(entries: ReadonlyMap<string, readonly BrandWire[]>, blocks: Blocks): Uint8Array {
	const tables = new Tables();
	return packKeyed(
		layout.FACTS_MAGIC,
		entries.keys(),
		(writer, key) => writeRecord(writer, tables, key, entries.get(key) ?? [], blocks),
		() => tables.write(),
	);
}

/** Values that records name by their place. */
class Tables {
	readonly #countries = new Map<string, number>();
	readonly #zones = new Map<string, number>();
	readonly #traffic = new Map<string, number>();
	/** By brand id. */
	readonly #categories = new Map<number, string[]>();
	readonly #operatorPrices = new Map<number, NonNullable<CampaignWire["n"]>>();
	/** By campaign id. */
	readonly #heldBack = new Map<number, [number, number]>();
	readonly #released = new Map<number, ReleaseWire>();

	readonly country = (value: string) => placeIn(this.#countries, value);
	readonly zone = (value: string) => placeIn(this.#zones, value);
	readonly traffic = (value: TrafficSettings) => placeIn(this.#traffic, JSON.stringify(value));

	categories(brand: BrandWire): void {
		if (brand.g !== undefined) this.#categories.set(brand.i, brand.g);
	}

	/** What stands beside the record of a campaign: of one under several keys, all of it. */
	campaign({ i, w, n, q }: CampaignWire): void {
		if (w !== undefined) this.#heldBack.set(i, w);
		if (q !== undefined) this.#released.set(i, q);
		if (n === undefined) return;
		const [epc, defaultEpc, keywords] = this.#operatorPrices.get(i) ?? [null, null, null];
		this.#operatorPrices.set(i, [n[0] ?? epc, n[1] ?? defaultEpc, n[2] === null ? keywords : { ...keywords, ...n[2] }]);
	}

	write(): layout.FactsTables {
		const heldBack = [...this.#heldBack].sort(([a], [b]) => a - b);
		const categories = [...this.#categories].sort(([a], [b]) => a - b);
		const released = [...this.#released].sort(([a], [b]) => a - b);
		return {
			countries: [...this.#countries.keys()],
			zones: [...this.#zones.keys()],
			traffic: [...this.#traffic.keys()].map((text) => JSON.parse(text) as TrafficSettings),
			...(categories.length > 0 && { categories: Object.fromEntries(categories) }),
			...(this.#operatorPrices.size > 0 && {
				operatorPrices: Object.fromEntries([...this.#operatorPrices].map(([id, [e, f, k]]) => [id, [e, f, sorted(k)]])),
			}),
			...(released.length > 0 && { released: Object.fromEntries(released) }),
			...(heldBack.length > 0 && { heldBack: heldBack.flatMap(([id, parts]) => [id, ...parts]) }),
		};
	}
}

function sorted(prices: Record<string, number> | null): Record<string, number> | null {
	return prices === null ? null : Object.fromEntries(Object.entries(prices).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function placeIn(table: Map<string, number>, value: string): number {
	const known = table.get(value);
	if (known !== undefined) return known;
	table.set(value, table.size);
	return table.size - 1;
}

function writeRecord(writer: ByteWriter, tables: Tables, key: string, brands: readonly BrandWire[], blocks: Blocks): void {
	const name = key.slice(2);
	const isKeyword = key.startsWith("k ");
	if (isKeyword) writer.number(brands.length);
	for (const brand of brands) writeBrand(writer, tables, brand, isKeyword ? null : name, isKeyword ? name : null, blocks);
}

/** @param host the key, where it is a host @param keyword the key, where it is a keyword */
function writeBrand(
	writer: ByteWriter,
	tables: Tables,
	brand: BrandWire,
	host: string | null,
	keyword: string | null,
	blocks: Blocks,
): void {
	const { a: aliases = [], b: countries = [] } = brand;
	const blocked = blocks.get(brand.d) ?? [];
	tables.categories(brand);
	writer.number(brand.i);
	writer.byte(
		flag(brand.x === 1, layout.BRAND_INACTIVE) |
			flag(brand.d !== host, layout.BRAND_DOMAIN) |
			flag(aliases.length > 0, layout.BRAND_ALIASES) |
			flag(countries.length > 0, layout.BRAND_COUNTRIES) |
			flag(blocked.length > 0, layout.BRAND_BLOCKS),
	);
	if (brand.d !== host) writer.text(brand.d);
	if (aliases.length > 0) writer.number(aliases.length);
	for (const alias of aliases) writer.text(alias);
	if (countries.length > 0) writer.number(countries.length);
	for (const country of countries) writer.number(tables.country(country));
	if (blocked.length > 0) writer.section(packBlocks(blocked, tables.country));
	writer.number(brand.c.length);
	let before = 0;
	for (const campaign of brand.c) {
		// They stand in the order of their ids.
		writer.number(campaign.i - before);
		before = campaign.i;
		writeCampaign(writer, tables, campaign, keyword);
	}
}

function writeCampaign(writer: ByteWriter, tables: Tables, campaign: CampaignWire, keyword: string | null): void {
	const { p, e, f, t, m, r, k } = campaign;
	tables.campaign(campaign);
	writer.byte(
		flag(campaign.x === 1, layout.CAMPAIGN_INACTIVE) |
			flag(campaign.h !== undefined, layout.CAMPAIGN_HOMEPAGE) |
			flag(campaign.l !== undefined, layout.CAMPAIGN_DEEPLINK) |
			flag(campaign.v === 1, layout.CAMPAIGN_VERIFIED) |
			flag(campaign.z === 1, layout.CAMPAIGN_CAPPED) |
			flag(p !== undefined, layout.CAMPAIGN_PLATFORM) |
			flag(e !== undefined, layout.CAMPAIGN_EPC) |
			flag(f !== undefined, layout.CAMPAIGN_DEFAULT_EPC),
	);
	writer.byte(
		flag(t !== undefined, layout.CAMPAIGN_ZONE) |
			flag(m !== undefined, layout.CAMPAIGN_HOURS) |
			flag(r !== undefined, layout.CAMPAIGN_TRAFFIC) |
			flag(k !== undefined, layout.CAMPAIGN_KEYWORDS),
	);
	writer.number(tables.country(campaign.o));
	if (p !== undefined) writer.number(p);
	if (e !== undefined) writer.number(e);
	if (f !== undefined) writer.number(f);
	if (t !== undefined) writer.number(tables.zone(t));
	if (m !== undefined) writer.threeBytes(m);
	if (r !== undefined) writer.number(tables.traffic(r));
	if (k !== undefined) writeKeywords(writer, k, keyword);
}

function writeKeywords(writer: ByteWriter, prices: Readonly<Record<string, number>>, keyword: string | null): void {
	if (keyword !== null) {
		writer.number(prices[keyword] ?? 0);
		return;
	}
	const section = new ByteWriter();
	for (const [text, epcMicros] of Object.entries(prices).sort(([a], [b]) => (a < b ? -1 : 1))) {
		section.text(text);
		section.number(epcMicros);
	}
	writer.section(section.take());
}

function flag(isSet: boolean, value: number): number {
	return isSet ? value : 0;
}
