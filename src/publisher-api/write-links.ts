/** POST /api/links: tracking links to pages. No address is fetched. */
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { LinkTokens } from "../click-token/link-token.ts";
import { readTexts } from "../clicks/read-parameters.ts";
import type { Database } from "../db/client.ts";
import { findBrandDomains } from "../db/find-brands.ts";
import { IS_PAUSED } from "../db/is-paused.ts";
import { countryCode, name } from "../http/filters.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { readBlockedBrands } from "../lib/blocked-brands.ts";
import { normaliseClickId } from "../lib/click-id.ts";
import { canonicalHost, hostOfAddress, readWebAddress } from "../lib/host.ts";
import { formatPrice } from "../lib/money.ts";
import { Query } from "../lib/query.ts";
import { listOfAtMost } from "../lib/shapes.ts";
import { chooseLink, type LinkedBrand } from "./choose-link.ts";
import { type LinkPrices, type LinkPricesDeps, readLinkPrices } from "./link-prices.ts";
import type { Links } from "./links-answer.ts";
import type { Campaign } from "./offers.ts";

export const MAX_LINKS = 500;
/** Addresses of the longest kind that is used, in UTF-8, and the rest. */
export const MAX_LINKS_BYTES = 4 * 1024 * 1024;

export const linksRequestSchema = v.strictObject({
	urls: v.pipe(
		listOfAtMost(v.string("must be an address"), MAX_LINKS, `may hold at most ${MAX_LINKS} addresses`),
		v.minLength(1, "must hold at least one address"),
	),
	country: v.nullish(
		v.pipe(
			countryCode("must be an ISO country code such as US"),
			v.description("Of the links; without it any country's, the highest price first."),
		),
		null,
	),
	clickid: v.nullish(
		v.pipe(
			v.string(),
			v.check((text) => normaliseClickId(text) !== null, "must be a click id of at most 1024 characters, and no placeholder"),
			v.description("Your click id; without it each link has the placeholder."),
		),
		null,
	),
	subi: v.nullish(v.pipe(name, v.description("Your sub id.")), null),
});

export type LinksRequest = v.InferOutput<typeof linksRequestSchema>;
export type LinksDeps = LinkPricesDeps & {
	links: LinkTokens;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
};

type Row = {
	brandId: number;
	domain: string;
	aliases: string;
	brandActive: number;
	blockedCountries: string;
	campaignId: number | null;
	active: number;
	country: string;
	hasHomepage: number;
	hasDeeplink: number;
	platform: string;
	epcMicros: number | null;
	epcLearning: string | null;
	paused: number;
};

export async function writeLinks(deps: LinksDeps, publisher: Publisher, request: LinksRequest): Promise<Links> {
	const hosts = request.urls.map(hostOf);
	const domains = await findBrandDomains(deps.db, new Set(hosts.filter((host) => host !== null)));
	const prices = await readLinkPrices(deps, publisher, sourceOf(request));
	const brands = await readBrands(deps.db, [...new Set(domains.values())], prices);
	const blocks = readBlockedBrands(publisher.blockedBrands);
	const { terms } = prices;

	async function writeLink(url: string, host: string | null): Promise<Links["data"][number]> {
		if (host === null) return { url, reason: "invalid_address" };
		const brand = brands.get(domains.get(host) ?? "");
		if (brand === undefined) return { url, reason: "unknown_brand" };
		const chosen = chooseLink(brand, { url, country: request.country, blocks, terms });
		if (typeof chosen === "string") return { url, reason: chosen };
		const { campaign, deeplink, price } = chosen;
		const token = await deps.links.mint({
			publisher: publisher.publisherIdentity,
			advertiserId: brand.brandId,
			domain: brand.domain,
			campaignId: campaign.campaignId,
		});
		const parameters = `cc=${campaign.country}${writeParameters(request)}${deeplink === null ? "" : `&dl=${encodeURIComponent(deeplink)}`}`;
		return {
			url,
			link: `${deps.trackerUrl}/click?encyp=${token}&${parameters}`,
			brand: brand.domain,
			price: formatPrice(price),
		};
	}

	return { data: await Promise.all(request.urls.map((url, at) => writeLink(url, hosts[at] ?? null))) };
}

function hostOf(url: string): string | null {
	const address = readWebAddress(url);
	const host = address === null ? null : hostOfAddress(address);
	return host === null ? null : canonicalHost(host);
}

function writeParameters({ clickid, subi }: Pick<LinksRequest, "clickid" | "subi">): string {
	const click = clickid === null ? "{clickid}" : encodeURIComponent(clickid.toWellFormed());
	return `&clickid=${click}${subi === null || subi === "" ? "" : `&subi=${encodeURIComponent(subi.toWellFormed())}`}`;
}

/** As the redirect reads it of the link. */
function sourceOf({ subi }: LinksRequest): string | null {
	return subi === null ? null : (readTexts(new Query(writeParameters({ clickid: null, subi })), ["subi"])?.subi ?? null);
}

async function readBrands(db: Database, domains: readonly string[], { priceCampaigns }: LinkPrices): Promise<Map<string, LinkedBrand>> {
	if (domains.length === 0) return new Map();
	const rows = await db.all<Row>(sql`
		SELECT b.id AS "brandId", b.domain, b.aliases, b.active AS "brandActive", b.blocked_countries AS "blockedCountries",
			c.campaign_id AS "campaignId", c.active, c.country, c.homepage_url IS NOT NULL AS "hasHomepage",
			c.deeplink_url IS NOT NULL AND c.deeplink_verified = 1 AS "hasDeeplink", c.platform, c.epc_micros AS "epcMicros",
			c.epc_learning AS "epcLearning", ${IS_PAUSED} AS paused
		FROM brands b LEFT JOIN campaigns c ON c.brand_id = b.id LEFT JOIN campaign_pauses p ON p.campaign_id = c.campaign_id
		WHERE b.domain IN (SELECT atom FROM json_each(${JSON.stringify(domains)}))
		ORDER BY b.id, c.campaign_id`);
	const priceOf = await priceCampaigns(rows.flatMap(({ campaignId, ...row }) => (campaignId === null ? [] : [{ ...row, campaignId }])));
	return new Map([...Map.groupBy(rows, ({ domain }) => domain)].flatMap(([domain, of]) => readBrand(domain, of, priceOf)));
}

type PriceOf = Awaited<ReturnType<LinkPrices["priceCampaigns"]>>;

function readBrand(domain: string, rows: readonly Row[], priceOf: PriceOf): [string, LinkedBrand][] {
	const [first] = rows;
	if (first === undefined) return [];
	const brand: LinkedBrand = {
		brandId: first.brandId,
		domain,
		aliases: JSON.parse(first.aliases) as string[],
		active: first.brandActive === 1,
		blockedCountries: JSON.parse(first.blockedCountries) as string[],
		campaigns: rows.flatMap((row) => (row.campaignId === null ? [] : [toCampaign(row, row.campaignId, priceOf)])),
	};
	return [[domain, brand]];
}

function toCampaign(row: Row, campaignId: number, priceOf: PriceOf): Campaign {
	return {
		campaignId,
		active: row.active === 1,
		country: row.country,
		hasHomepage: row.hasHomepage === 1,
		hasDeeplink: row.hasDeeplink === 1,
		...priceOf(campaignId),
		paused: row.paused === 1,
	};
}
