/** What wrangler.toml says of requests to hosts of the Worker's own zone: by default they go round what stands before these hosts. */
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";

describe("unit: requests to hosts of one's own zone", () => {
	// The edge calls nobody.
	it.each([undefined, "origin"])(
		"the Worker of environment %s makes them as anyone would: publishers choose whom callbacks call",
		(environment) => {
			const config = unstable_readConfig(
				{ config: "wrangler.toml", ...(environment !== undefined && { env: environment }) },
				{ hideWarnings: true },
			);
			expect(config.compatibility_flags).toContain("global_fetch_strictly_public");
		},
	);
});
