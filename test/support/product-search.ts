/** Asks the two product searches of the Worker under test, and opens the links they answer with. */
import { env, exports } from "cloudflare:workers";
import { ClickTokens } from "../../src/click-token/token.ts";
import "./worker-env.ts";

export const PUBLISHER_HEADERS = { PublisherKey: "publisher-key-acme" };

export type AffiliateAnswer = { keyword: string; message?: string; results: AffiliateResult[] };
type AffiliateResult = {
	id: string;
	name: string;
	image_url: string | null;
	currency: string;
	regular_price: number;
	final_price: number;
	on_sale: boolean;
	availability: string;
	merchant: { name: string };
	redirect_url: string;
};
export type MarketplaceAnswer = {
	total: number;
	page: number;
	per_page: number;
	last_page: number;
	results: Record<string, string | null>[];
};

export function getSearch(
	path: "products" | "marketplace-seller-products",
	query: Record<string, string> | string,
	headers: Record<string, string> = PUBLISHER_HEADERS,
): Promise<Response> {
	const search = typeof query === "string" ? query : new URLSearchParams(query).toString();
	return exports.default.fetch(`https://base.example/api/${path}/search?${search}`, { headers });
}

/** An affiliate search that must succeed. */
export async function searchAffiliate(query: Record<string, string>, headers?: Record<string, string>): Promise<AffiliateAnswer> {
	const response = await getSearch("products", query, headers);
	if (response.status !== 200) throw new Error(`the search answered ${response.status}: ${await response.text()}`);
	return response.json<AffiliateAnswer>();
}

/** A marketplace search that must succeed. */
export async function searchMarketplace(query: Record<string, string>, headers?: Record<string, string>): Promise<MarketplaceAnswer> {
	const response = await getSearch("marketplace-seller-products", query, headers);
	if (response.status !== 200) throw new Error(`the search answered ${response.status}: ${await response.text()}`);
	return response.json<MarketplaceAnswer>();
}

/** What a click URL holds: its origin and path, its parameters without the token, and the token. */
export async function openLink(url: string) {
	const { origin, pathname, searchParams } = new URL(url);
	const { encyp = "", ...parameters } = Object.fromEntries(searchParams);
	const token = await new ClickTokens(env.TOKEN_KEYS.split(",")).open(encyp);
	return { at: origin + pathname, parameters, token };
}

/** A product of the network file, in stock. */
export function productEntry(id: string, name: string, fields: object = {}) {
	return { id, domain: "shoes.example", name, url: `https://shoes.example/p/${id}`, final_price: "10.00", ...fields };
}

/** A seller's product of the network file. */
export function sellerEntry(asin: string, name: string | null, fields: object = {}) {
	return {
		asin,
		domain: "marketplace.example",
		seller_id: "S-1",
		name,
		url: `https://marketplace.example/dp/${asin}`,
		...fields,
	};
}
