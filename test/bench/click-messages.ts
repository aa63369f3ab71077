/** Clicks for the benchmark of their consumer: the same on both sides. */

/** Publisher identities, campaigns and sources that take turns. */
export const IDENTITIES = 20;
export const CAMPAIGNS = 50;
const SOURCES = 40;
const FIRST_AT = Date.UTC(2026, 10, 18, 12);

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
	ipPrefix: string;
	userAgentHash: string;
	texts: { clickid: string; subi: string; uid: string; subid1: string };
};

/** A click with everything that one of an OpenRTB bid carries; number `at` of any. */
export function benchClick(at: number): BenchClick {
	const clickedAt = FIRST_AT + at * 10;
	const time = clickedAt.toString(16).padStart(12, "0");
	// Hashes have no order: scattered over the index, as those of MD5 are.
	const scattered = Math.imul(at + 1, 0x9e37_79b1) >>> 0;
	return {
		format: 1,
		id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${at.toString(16).padStart(12, "0")}`,
		at: clickedAt,
		hash: `${scattered.toString(16).padStart(8, "0")}${at.toString(16).padStart(24, "0")}`,
		kind: "openrtb",
		publisher: `bench_${at % IDENTITIES}`,
		brandId: (at % CAMPAIGNS) + 1,
		campaignId: 1_000 + (at % CAMPAIGNS),
		bidMicros: 336_000,
		country: "US",
		ipPrefix: `203.0.${at % 250}.0/24`,
		userAgentHash: "0123456789abcdef",
		texts: {
			clickid: `click-${1_000_000 + at}`,
			subi: `search-results-top-${at % SOURCES}`,
			uid: `user-${at % 9_973}`,
			subid1: "autumn",
		},
	};
}
