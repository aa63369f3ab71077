import { describe, expect, it } from "vitest";
import { readPrice } from "../../../../src/operator/feeds/read-price.ts";

describe("unit: prices of feeds", () => {
	it.each([
		["12.00", "12.00", null],
		["12", "12", null],
		["12.00 USD", "12.00", "USD"],
		["usd 12.00", "12.00", "USD"],
		["12,50 EUR", "12.50", "EUR"],
		["€12,50", "12.50", "EUR"],
		["12,50 €", "12.50", "EUR"],
		["$1,299.00", "1299.00", null],
		["£1,299", "1299", "GBP"],
		["1.299,00", "1299.00", null],
		["1.299.000", "1299000", null],
		["1 299,00 EUR", "1299.00", "EUR"],
		["1'299.00 CHF", "1299.00", "CHF"],
		["1.299", "1.299", null],
		["0,299 EUR", "0.299", "EUR"],
		["0.299", "0.299", null],
	])("%s", (text, amount, currency) => {
		expect(readPrice(text)).toEqual({ amount, currency });
	});

	it.each(["", "free", "12.00 US", "-1", "1e3", "12.00 USD EUR", "1,2,3", "1.2.3", "12.00.00", "0.299,50", "0.299.000", "NaN", "$", "."])(
		"not %j",
		(text) => {
			expect(readPrice(text)).toBeNull();
		},
	);
});
