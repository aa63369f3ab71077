import { describe, expect, it } from "vitest";
import { canonicalAvailability } from "../../../src/lib/availability.ts";

describe("unit: stock status", () => {
	it.each([
		[
			"InStock",
			[
				"InStock",
				"in stock",
				"in_stock",
				"IN-STOCK",
				"https://schema.org/InStock",
				"http://schema.org/InStock",
				"1",
				"17",
				"yes",
				"true",
				"available",
				" In Stock ",
			],
		],
		["OutOfStock", ["out of stock", "out_of_stock", "OutOfStock", "https://schema.org/OutOfStock", "0", "-1", "no", "false", "sold out"]],
		["PreOrder", ["preorder", "pre-order", "https://schema.org/PreOrder"]],
		["BackOrder", ["backorder", "Back Order"]],
		["Discontinued", ["discontinued"]],
		["ask us", ["ask us", " ask us "]],
	])("%s", (status, spellings) => {
		for (const spelling of spellings) expect(canonicalAvailability(spelling)).toBe(status);
	});
});
