/** Pages of GET /api/brands?min_price= where what brands pay is learned: full, and each brand once. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { writePublished } from "../../src/learning/stored.ts";
import { type PublisherBrands, publisherBrandsSchema } from "../../src/publisher-api/brands-answer.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const BRANDS = 60;
const ids = Array.from({ length: BRANDS }, (_, at) => 8000 + at);

async function pages(query: string): Promise<PublisherBrands[]> {
	const found: PublisherBrands[] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const asked: string = cursor === "" ? query : `${query}&cursor=${cursor}`;
		const response = await exports.default.fetch(`https://base.example/api/brands?${asked}`, { headers: { AccessKey: ACME.access_key } });
		const page = v.parse(publisherBrandsSchema, await response.json());
		found.push(page);
		cursor = page.next_cursor;
	}
	return found;
}

beforeAll(async () => {
	const brands = ids.map((id) => brandEntry(`brand-${id}.example`, id));
	await importFile({ epc_learning: { mode: "automatic" }, platforms: [NORTHWIND], publishers: [ACME], brands });
	// Every third is worth more, the others less than they were said to be.
	await env.DB.batch(
		ids.map((id, at) =>
			env.DB.prepare(
				"INSERT INTO learning_factors (level, campaign_id, publisher_id, name, published, target, moving) VALUES ('price', ?, '', '', ?, '1', 0)",
			).bind(id, writePublished({ factor: at % 3 === 0 ? 2 : 0.5, at: 0, before: [] })),
		),
	);
});

describe("worker: pages of brands by what they pay", () => {
	const costly = ids.filter((_, at) => at % 3 === 0).map((id) => `brand-${id}.example`);

	it.each([
		[3, [3, 3, 3, 3, 3, 3, 2]],
		[5, [5, 5, 5, 5]],
		[20, [20]],
		[50, [20]],
	])("of %i brands each are full, and end with the last", async (limit, sizes) => {
		const found = await pages(`min_price=0.3&limit=${limit}`);
		expect(found.map(({ data }) => data.length)).toEqual(sizes);
		expect(found.flatMap(({ data }) => data.map(({ domain }) => domain))).toEqual(costly);
		for (const { data } of found) expect(data.every(({ offers }) => offers[0]?.price === "0.4000")).toBe(true);
	});

	it("where nothing pays as much there is one page, empty", async () => {
		expect((await pages("min_price=0.5&limit=3")).map(({ data }) => data.length)).toEqual([0]);
	});

	it("without a price are all of them", async () => {
		expect((await pages("limit=25")).map(({ data }) => data.length)).toEqual([25, 25, 10]);
	});
});
