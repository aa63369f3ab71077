import { describe, expect, it } from "vitest";
import { readTrafficType } from "../../../src/catalogue/list-request.ts";
import { TRAFFIC_TYPES } from "../../../src/lib/enums.ts";

describe("traffic_type", () => {
	it.each(TRAFFIC_TYPES)("%s is taken in any case, with spaces around it", (name) => {
		for (const given of [name, name.toLowerCase(), name.toUpperCase(), `  ${name}\t`]) {
			expect(readTrafficType(given)).toEqual({ trafficType: name });
		}
	});

	it.each([undefined, "", "   ", "\t"])("%j is a missing one", (given) => {
		expect(readTrafficType(given)).toEqual({ fault: "traffic_type is required." });
	});

	it.each(["Everything", "Deal  sites", "Dealsites", "All,Search", "__proto__", "constructor", "x".repeat(100_000)])(
		"%.20j is invalid",
		(given) => {
			expect(readTrafficType(given)).toEqual({ fault: "Invalid traffic_type." });
		},
	);
});
