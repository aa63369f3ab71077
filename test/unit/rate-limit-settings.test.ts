/** What wrangler.toml says of rate limits: what answers and documents tell of them, and that each Worker has those it uses. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { FAILED_KEYS_LIMIT, FAILED_KEYS_SECONDS, PUBLISHER_LIMIT, PUBLISHER_SECONDS } from "../../src/http/limits.ts";

const CLICKS = {
	CLICK_ADDRESSES: { limit: 600, period: 60 },
	CLICK_TOKENS: { limit: 300, period: 60 },
	CLICK_STRIPPED: { limit: 12, period: 60 },
	CLICK_STRIPPED_NETWORKS: { limit: 20, period: 60 },
};
const KEYS = {
	UNKNOWN_KEYS: { limit: 120, period: 60 },
	FAILED_KEYS: { limit: FAILED_KEYS_LIMIT, period: FAILED_KEYS_SECONDS },
	PUBLISHERS: { limit: PUBLISHER_LIMIT, period: PUBLISHER_SECONDS },
};

function limitsOf(environment: string | undefined) {
	const config = unstable_readConfig(
		{ config: "wrangler.toml", ...(environment !== undefined && { env: environment }) },
		{ hideWarnings: true },
	);
	return Object.fromEntries(config.ratelimits.map(({ name, simple }: { name: string; simple: unknown }) => [name, simple]));
}

describe("unit: rate limits", () => {
	it("each Worker has those it uses", () => {
		expect(limitsOf(undefined)).toEqual({ ...CLICKS, ...KEYS });
		expect(limitsOf("edge")).toEqual(CLICKS);
		expect(limitsOf("origin")).toEqual(KEYS);
	});

	it("the operator is told of each", () => {
		const page = readFileSync("docs/operations/monitoring.md", "utf8");
		for (const name of Object.keys({ ...CLICKS, ...KEYS })) expect(page).toContain(`\`${name}\``);
	});
});
