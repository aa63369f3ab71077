import type * as v from "valibot";
import type {
	brandSchema,
	campaignSchema,
	exchangeRateSchema,
	platformSchema,
	productSchema,
	publisherSchema,
	SECTIONS,
	sellerProductSchema,
} from "../../src/operator/network/network-file.ts";

/**
 * An entry of the network file as a generator writes it: no field is left to its fallback, but for those named in `LeftOut`, which the
 * demo does not have.
 */
type Entry<Schema extends v.GenericSchema, LeftOut extends keyof v.InferInput<Schema> = never> = {
	[Field in Exclude<keyof v.InferInput<Schema>, LeftOut> & keyof v.InferOutput<Schema>]-?:
		| NonNullable<v.InferInput<Schema>[Field]>
		| Extract<v.InferOutput<Schema>[Field], null>;
};

export type Platform = Entry<
	typeof platformSchema,
	| "max_payout"
	| "match_by_publisher_click_id"
	| "postback_secret"
	| "source_ranges"
	| "postbacks_per_minute"
	| "negative_payout"
	| "epc_learning"
>;
export type Publisher = Entry<
	typeof publisherSchema,
	"status" | "bid_pay_minutes" | "privacy" | "traffic" | "amendments" | "openrtb" | "response_profile" | "epc_learning"
>;
export type Brand = Entry<typeof brandSchema, "campaigns" | "campaigns_complete" | "iab_categories"> & { campaigns: Campaign[] };
export type Campaign = Entry<typeof campaignSchema, "traffic" | "max_payout" | "epc_learning">;
export type ExchangeRate = Entry<typeof exchangeRateSchema>;
export type Product = Entry<typeof productSchema>;
export type SellerProduct = Entry<typeof sellerProductSchema>;

type Entries = {
	platforms: Platform;
	publishers: Publisher;
	brands: Brand;
	exchange_rates: ExchangeRate;
	products: Product;
	seller_products: SellerProduct;
};

/** The network file: what `POST /operator/network` takes. A section left out leaves what is stored untouched. */
export type NetworkFile = { [Section in keyof typeof SECTIONS]?: Entries[Section][] };
