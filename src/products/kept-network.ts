/**
 * What a search needs of the network, kept for a few seconds in the isolate: publishers, brands with their campaigns, and whose a host is. A search
 * then asks only the products database.
 */
import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { findBrandDomains } from "../db/find-brands.ts";
import { IS_PAUSED } from "../db/is-paused.ts";
import { publishers } from "../db/schema/publishers.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { putBounded } from "../lib/bounded-map.ts";
import { SECOND_MS } from "../lib/time.ts";

/** How long a change of the network may take to reach the searches of other isolates; as for keys. */
const NETWORK_KEPT_MS = 15 * SECOND_MS;
const MAX_PUBLISHERS = 1_000;
const MAX_BRANDS = 20_000;
const MAX_HOSTS = 10_000;

/** An active brand that has active campaigns with a link, the one to prefer first. */
export type KeptBrand = {
	brandId: number;
	domain: string;
	name: string;
	marketplace: boolean;
	blockedCountries: readonly string[];
	campaigns: { campaignId: number; country: string }[];
};

type Row = {
	brandId: number;
	domain: string;
	name: string;
	marketplace: number;
	blockedCountries: string;
	campaignId: number;
	country: string;
};
type Kept<Value> = Map<string, { value: Value; readAt: number }>;

export class KeptNetwork {
	readonly #db: Database;
	readonly #now: () => number;
	readonly #publishers: Kept<Publisher | null> = new Map();
	readonly #brands: Kept<KeptBrand | null> = new Map();
	/** By host. */
	readonly #domains: Kept<string | null> = new Map();

	constructor({ db, now }: { db: Database; now: () => number }) {
		this.#db = db;
		this.#now = now;
	}

	async publisher(id: string): Promise<Publisher | null> {
		const known = this.#publishers.get(id);
		if (known !== undefined && this.#isFresh(known.readAt)) return known.value;
		const [row] = await this.#db.select().from(publishers).where(eq(publishers.id, id));
		putBounded(this.#publishers, id, { value: row ?? null, readAt: this.#now() }, MAX_PUBLISHERS);
		return row ?? null;
	}

	/** The brands of these domains; others are absent. */
	async brands(domains: readonly string[]): Promise<KeptBrand[]> {
		const found = new Map<string, KeptBrand | null>();
		for (const domain of domains) {
			const known = this.#brands.get(domain);
			if (known !== undefined && this.#isFresh(known.readAt)) found.set(domain, known.value);
		}
		const wanted = domains.filter((domain) => !found.has(domain));
		const read = wanted.length === 0 ? new Map<string, KeptBrand>() : await this.#readBrands(wanted);
		for (const domain of wanted) {
			const brand = read.get(domain) ?? null;
			putBounded(this.#brands, domain, { value: brand, readAt: this.#now() }, MAX_BRANDS);
			found.set(domain, brand);
		}
		return [...found.values()].filter((brand) => brand !== null);
	}

	/** The domain of the brand that a host belongs to; null where it is no brand's. */
	async domainOf(host: string): Promise<string | null> {
		const known = this.#domains.get(host);
		if (known !== undefined && this.#isFresh(known.readAt)) return known.value;
		const value = (await findBrandDomains(this.#db, [host])).get(host) ?? null;
		putBounded(this.#domains, host, { value, readAt: this.#now() }, MAX_HOSTS);
		return value;
	}

	/** Forgets everything: after an import in this very isolate, which then holds at once. */
	forget(): void {
		this.#publishers.clear();
		this.#brands.clear();
		this.#domains.clear();
	}

	/**
	 * A campaign with deeplinks comes before one for the homepage alone, the US before other countries, one that pays for clicks before one
	 * that a cap has paused, then the lowest id.
	 */
	async #readBrands(domains: readonly string[]): Promise<Map<string, KeptBrand>> {
		const rows = await this.#db.all<Row>(sql`
			SELECT b.id AS "brandId", b.domain, b.name, b.marketplace, b.blocked_countries AS "blockedCountries",
				c.campaign_id AS "campaignId", c.country
			FROM brands b JOIN campaigns c ON c.brand_id = b.id LEFT JOIN campaign_pauses p ON p.campaign_id = c.campaign_id
			WHERE b.domain IN (SELECT atom FROM json_each(${JSON.stringify(domains)})) AND b.active = 1 AND c.active = 1
				AND (c.homepage_url IS NOT NULL OR c.deeplink_url IS NOT NULL)
			ORDER BY (c.deeplink_url IS NOT NULL AND c.deeplink_verified = 1) DESC, c.country = 'US' DESC,
				${IS_PAUSED}, c.campaign_id`);
		const brands = new Map<string, KeptBrand>();
		for (const { blockedCountries, marketplace, campaignId, country, ...facts } of rows) {
			const brand = brands.get(facts.domain) ?? {
				...facts,
				marketplace: marketplace === 1,
				blockedCountries: JSON.parse(blockedCountries) as string[],
				campaigns: [],
			};
			brands.set(facts.domain, brand);
			brand.campaigns.push({ campaignId, country });
		}
		return brands;
	}

	#isFresh(readAt: number): boolean {
		return this.#now() - readAt < NETWORK_KEPT_MS;
	}
}
