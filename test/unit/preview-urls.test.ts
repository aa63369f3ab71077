/** What wrangler.toml says of preview URLs: where it says nothing, they are as `workers_dev` is. */
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";

describe("unit: preview URLs", () => {
	it.each([undefined, "edge", "origin"])("the Worker of environment %s has none", (environment) => {
		const config = unstable_readConfig(
			{ config: "wrangler.toml", ...(environment !== undefined && { env: environment }) },
			{ hideWarnings: true },
		);
		expect(config.preview_urls).toBe(false);
	});
});
