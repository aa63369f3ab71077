/** Whatever text a search is asked for: never a 5xx, and a text of words finds the product that has them. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { getSearch, productEntry, searchAffiliate, sellerEntry } from "../support/product-search.ts";

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [brandEntry("shoes.example", 1), brandEntry("marketplace.example", 2, { marketplace: true })],
		products: [productEntry("S-1", "Trail running shoes"), productEntry("S-2", "Crème 日本語 обувь हिन्दी")],
		seller_products: [sellerEntry("B1", "Trail running shoes")],
	});
});

const OPERATORS = [
	'"',
	"'",
	"*",
	"^",
	":",
	"(",
	")",
	"{",
	"}",
	"+",
	"-",
	",",
	"AND",
	"OR",
	"NOT",
	"NEAR(",
	"name:",
	"facets : ",
	"shoes",
	"trail",
	"\u0000",
	"\\",
	"%",
	"_",
	";",
	"--",
	"日",
	"हिन्दी",
	"e\u0301",
	"\u0301",
	"𞤀",
	"😀",
	" ",
];
const text = fc.oneof(
	fc.string({ unit: "binary", maxLength: 260 }),
	fc.string({ unit: "grapheme", maxLength: 120 }),
	fc.array(fc.constantFrom(...OPERATORS), { maxLength: 40 }).map((parts) => parts.join("")),
	fc.array(fc.constantFrom(...OPERATORS), { maxLength: 20 }).map((parts) => parts.join(" ")),
);

describe("worker: any search text", () => {
	it("is answered with 200 or 422 by the affiliate search, in the interface's shape", async () => {
		await fc.assert(
			fc.asyncProperty(text, fc.option(text, { nil: undefined }), async (keyword, domain) => {
				const response = await getSearch("products", { keyword, ...(domain !== undefined && { domain }) });
				const body = await response.json<Record<string, unknown>>();
				if (response.status === 422) {
					expect(body).toMatchObject({ error: "Validation failed", messages: { keyword: [expect.any(String)] } });
					return;
				}
				expect(response.status).toBe(200);
				expect(body).toMatchObject({ keyword: keyword.toWellFormed(), results: expect.any(Array) });
				expect((body.results as unknown[]).length === 0).toBe(typeof body.message === "string");
			}),
			{ numRuns: 300 },
		);
	});

	it("is answered with 200 or 422 by the marketplace search", async () => {
		await fc.assert(
			fc.asyncProperty(text, text, fc.constantFrom("q", "seller", "both"), async (first, second, which) => {
				const query = which === "both" ? { q: first, seller: second } : { [which]: first };
				const response = await getSearch("marketplace-seller-products", query);
				expect([200, 422]).toContain(response.status);
				await response.body?.cancel();
			}),
			{ numRuns: 200 },
		);
	});

	it("finds a product by any order of its words, with anything but letters and digits around them", async () => {
		const noise = fc.string({ unit: fc.constantFrom(..." \"*():^-+{}'.,;!?😀"), minLength: 1, maxLength: 3 });
		await fc.assert(
			fc.asyncProperty(fc.shuffledSubarray(["trail", "Running", "SHOES"], { minLength: 1 }), noise, async (words, between) => {
				const { results } = await searchAffiliate({ keyword: between + words.join(between) + between });
				expect(results.map(({ id }) => id)).toEqual(["S-1"]);
			}),
			{ numRuns: 100 },
		);
	});
});
