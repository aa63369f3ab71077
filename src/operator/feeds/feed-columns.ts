/**
 * Which columns of a feed fill which of our fields: our own names, those of Google Merchant Center, and those of the product feeds
 * of large affiliate networks (Awin, CJ, Impact, Rakuten). A mapping names the rest.
 */

export type FeedKind = "products" | "seller_products";

/** Fields of a feed's products, each with the columns that fill it, the first that is not blank. Written as {@link squash} does. */
const PRODUCT_COLUMNS = {
	id: ["awproductid", "uniquemerchantsku", "catalogitemid", "merchantproductid", "productid", "itemid", "offerid", "sku", "skunumber"],
	domain: ["merchantdomain", "advertiserdomain", "programurl", "merchanturl", "advertiserurl"],
	name: ["title", "productname", "producttitle"],
	description: ["productdescription", "longproductdescription", "longdescription", "shortdescription", "productshortdescription"],
	brand: ["brandname", "manufacturer", "manufacturername"],
	category: ["producttype", "categoryname", "merchantcategory", "primarycategory", "advertisercategory", "googleproductcategory"],
	url: ["merchantdeeplink", "link", "producturl", "canonicallink", "buyurl", "deeplink", "awdeeplink"],
	image_url: ["imagelink", "merchantimageurl", "productimageurl", "image", "largeimage", "awimageurl"],
	currency: ["currencycode", "pricecurrency"],
	regular_price: ["rrpprice", "originalprice", "listprice", "retailprice", "msrp", "productpriceold", "wasprice", "price"],
	final_price: ["saleprice", "currentprice", "discountedprice", "discountprice", "specialprice", "searchprice", "storeprice", "price"],
	availability: ["instock", "stockstatus", "stockavailability", "stock", "stockquantity"],
	sale_price_effective_date: [],
} as const satisfies Record<string, readonly string[]>;

const SELLER_PRODUCT_COLUMNS = {
	asin: ["id", "productid", "itemid", "sku"],
	domain: ["merchantdomain", "marketplacedomain"],
	seller_id: ["merchantid", "vendorid"],
	seller_name: ["seller", "merchantname", "soldby", "vendor", "vendorname"],
	name: ["title", "productname", "producttitle"],
	description: ["productdescription", "longdescription", "shortdescription"],
	manufacturer: ["manufacturername", "brand", "brandname"],
	category: ["producttype", "categoryname", "primarycategory", "googleproductcategory"],
	catalog_name: ["catalog"],
	currency: ["currencycode", "pricecurrency"],
	current_price: ["saleprice", "finalprice", "price"],
	image_url: ["imagelink", "productimageurl", "image", "largeimage"],
	stock_availability: ["availability", "instock", "stockstatus", "stock", "stockquantity"],
	url: ["link", "producturl", "detailpageurl", "deeplink"],
	sale_price_effective_date: [],
} as const satisfies Record<string, readonly string[]>;

const COLUMNS: Record<FeedKind, Record<string, readonly string[]>> = { products: PRODUCT_COLUMNS, seller_products: SELLER_PRODUCT_COLUMNS };

/** Fields without which no product is accepted; the domain is that of the product's page where there is no column for it. */
export const REQUIRED_FIELDS: Record<FeedKind, readonly string[]> = {
	products: ["id", "name", "url", "final_price"],
	seller_products: ["asin", "seller_id", "url"],
};

/** The names of the fields that a mapping or a constant may fill. */
export function fieldsOf(kind: FeedKind): string[] {
	return Object.keys(COLUMNS[kind]);
}

/**
 * A column's name without what spelling varies in: letter case, spaces, punctuation and Google's `g:`.
 * @example squash("g:Sale_Price") // "saleprice"
 */
export function squash(name: string): string {
	return name
		.trim()
		.toLowerCase()
		.replace(/^g:/, "")
		.replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

/** For each field the columns that fill it, in order. */
export type ColumnPlan = ReadonlyMap<string, readonly string[]>;

/** @param mapping column of the feed → field; a mapped column fills that field before all others, and no other field */
export function planColumns(kind: FeedKind, mapping: Readonly<Record<string, string>>): ColumnPlan {
	const mapped = Object.entries(mapping).map(([column, field]) => [squash(column), field] as const);
	const taken = new Set(mapped.map(([column]) => column));
	return new Map(
		Object.entries(COLUMNS[kind]).map(([field, columns]) => [
			field,
			[
				...mapped.filter(([, to]) => to === field).map(([column]) => column),
				...[squash(field), ...columns].filter((column) => !taken.has(column)),
			],
		]),
	);
}
