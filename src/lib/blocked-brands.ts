/** A brand that is blocked for a publisher, as `publishers.blocked_brands` has it: without a country it is blocked everywhere. */
export type BlockedBrand = { domain: string; country?: string };

/** @param json `publishers.blocked_brands` */
export function readBlockedBrands(json: string): BlockedBrand[] {
	return JSON.parse(json) as BlockedBrand[];
}
