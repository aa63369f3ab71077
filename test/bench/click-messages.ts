/** Clicks for the benchmark of their consumer: the same on both sides. */

/** Publisher identities, campaigns and sources that take turns. */
export const IDENTITIES = 20;
export const CAMPAIGNS = 50_000;
export const CAMPAIGNS_PER_BRAND = 10;
export const FIRST_CAMPAIGN_ID = 1_000;
export const SOURCES = 40;
/** A Monday, so that days of clicks are in one partition. */
export const FIRST_AT = Date.UTC(2026, 10, 16);
export const GAP_MS = 10;
/** Fibonacci hashing, 32 bits: what follows each other is far apart, and no two are the same. */
export const SCATTER = 0x9e37_79b1;

export type BenchClick = {
	format: 1;
	id: string;
	at: number;
	hash: string;
	kind: "openrtb";
	publisher: string;
	brandId: number;
	campaignId: number;
	bidMicros: number;
	country: string;
	link: "homepage";
	ipPrefix: string;
	userAgentHash: string;
	texts: { clickid: string; subi: string; uid: string; subid1: string };
};

/** A click with everything that one of an OpenRTB bid carries; number `at` of any. */
export function benchClick(at: number): BenchClick {
	const clickedAt = FIRST_AT + at * GAP_MS;
	const time = clickedAt.toString(16).padStart(12, "0");
	// Hashes have no order: scattered over the index, as those of MD5 are.
	const scattered = Math.imul(at + 1, SCATTER) >>> 0;
	const campaign = (scattered >>> 8) % CAMPAIGNS;
	const hex = scattered.toString(16).padStart(8, "0");
	return {
		format: 1,
		id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${at.toString(16).padStart(12, "0")}`,
		at: clickedAt,
		hash: `${hex}${at.toString(16).padStart(24, "0")}`,
		kind: "openrtb",
		publisher: `bench_${at % IDENTITIES}`,
		brandId: Math.floor(campaign / CAMPAIGNS_PER_BRAND) + 1,
		campaignId: FIRST_CAMPAIGN_ID + campaign,
		bidMicros: 336_000,
		country: "US",
		link: "homepage",
		ipPrefix: `203.0.${at % 250}.0/24`,
		userAgentHash: "0123456789abcdef",
		texts: {
			clickid: `click-${hex}`,
			subi: `search-results-top-${at % SOURCES}`,
			uid: `user-${at % 9_973}`,
			subid1: "autumn",
		},
	};
}
