/** Imports whose entries are many: what they ask of the database grows as they do, and no faster, on both engines. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { importNetwork } from "../../src/operator/network/import-network.ts";
import { ON_D1 } from "../support/engine.ts";
import { brandEntry, importFile, NORTHWIND, PLAIN_IMPORT, publisherCalled } from "../support/network-import.ts";
import { type CountedStatement, countRows } from "../support/row-counts.ts";

const BRANDS = 2_200;
/** Over the entries of the file; with a look at all of them for each it is thousands. */
const PASSES = 100;

const domainOf = (at: number) => `brand-${at}.example`;
const numbers = Array.from({ length: BRANDS }, (_, at) => at + 1);

const FIRST = {
	platforms: [NORTHWIND],
	publishers: [
		{ ...publisherCalled("one"), blocked_brands: numbers.filter((at) => at % 3 > 0).map((at) => ({ domain: domainOf(at) })) },
		...["two", ...Array.from({ length: 400 }, (_, at) => `other-${at}`)].map(publisherCalled),
	],
	brands: numbers.map((at) => brandEntry(domainOf(at), at, { aliases: [`alias-${at}.example`] }, { active: at % 2 > 0 })),
};

/** Every campaign with another time zone, stopped or begun, or at another brand; every block another; aliases that others had. */
const CHANGED = {
	publishers: [{ id: "one", blocked_brands: numbers.filter((at) => at % 3 < 2).map((at) => ({ domain: domainOf(at) })) }],
	brands: numbers.map((at) => {
		const id = at < 1_000 ? 1_000 - at : at;
		return {
			domain: domainOf(at),
			aliases: [`alias-${(at % BRANDS) + 1}.example`],
			blocked_countries: ["CA"],
			campaigns: [{ campaign_id: id, timezone: "Europe/Berlin", active: at % 2 === 0, total_budget: "900.00" }],
			campaigns_complete: true,
		};
	}),
};

/** Files of one entry, and how many rows any of their statements may look at: one with platforms or publishers reads all there are of these. */
const SMALL = [
	{
		what: "a price",
		few: 1_000,
		file: { platforms: [NORTHWIND], brands: [{ domain: domainOf(7), campaigns: [{ campaign_id: 7, epc: "0.77" }] }] },
	},
	{
		what: "a campaign that stops",
		few: 300,
		file: {
			brands: [{ domain: domainOf(8), blocked_countries: ["CA"], campaigns: [{ campaign_id: 8, active: false, timezone: "Asia/Tokyo" }] }],
		},
	},
	{
		what: "a share",
		few: 1_000,
		file: { publishers: [{ id: "two", revenue_share: "0.71", blocked_brands: [{ domain: domainOf(9) }] }] },
	},
];

/** @param meanwhile what others do while the file is read */
async function countedImport(file: object, isAnalyzed: boolean, meanwhile = async () => {}) {
	return withConnectionsOf(env, async () => {
		const { client, counted } = countRows(env.DB, isAnalyzed);
		const deps = {
			db: openDatabase(client),
			products: openDatabase(env.PRODUCTS),
			now: () => Date.now(),
			allowInsecureCallbacks: false,
			async publish() {
				return { version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null };
			},
		};
		const bytes = new ReadableStream<Uint8Array>({
			async pull(controller) {
				await meanwhile();
				controller.enqueue(new TextEncoder().encode(JSON.stringify(file)));
				controller.close();
			},
		});
		const answer = await importNetwork(deps, bytes, { ...PLAIN_IMPORT, isConfirmed: true }).catch((error: unknown) => error);
		return { answer, counted };
	});
}

/** Those that look at far more rows than there are. */
function wasteful(counted: readonly CountedStatement[]): CountedStatement[] {
	return counted.filter(({ rows }) => rows > PASSES * BRANDS);
}

/** With the plans of a PostgreSQL that knows how many rows there are, and of one that takes them for few; D1 has one plan. */
describe.each(ON_D1 ? [false] : [true, false])("a large import, its rows counted before: %s", (isAnalyzed) => {
	const importFirst = async () => void (await importFile(FIRST, "?yes=1&campaigns_complete=1"));

	it("looks at each row a bounded number of times", async () => {
		await importFirst();
		const { answer, counted } = await countedImport(CHANGED, isAnalyzed);
		expect(answer).toMatchObject({ difference: { changed: expect.any(Number) } });
		expect(counted.length).toBeGreaterThan(40);
		expect(wasteful(counted)).toEqual([]);
	});

	// PostgreSQL reads tables of this size as a whole: that costs less.
	describe.skipIf(!ON_D1)("one entry", () => {
		// Once: each of them changes what no other does.
		beforeAll(importFirst);

		it.each(SMALL)("looks at a few rows for $what alone", async ({ file, few }) => {
			const { answer, counted } = await countedImport(file, isAnalyzed);
			expect(answer).toMatchObject({ difference: { changed: 1 } });
			expect(counted.filter(({ rows }) => rows > few)).toEqual([]);
		});
	});

	it("does so, too, where others have changed all the same meanwhile", async () => {
		await importFirst();
		const others = { brands: numbers.map((at) => ({ domain: domainOf(at), campaigns: [{ campaign_id: at, epc: "0.7" }] })) };
		const { answer, counted } = await countedImport(CHANGED, isAnalyzed, async () => void (await importFile(others)));
		expect(answer).toMatchObject({ status: 412, body: { changed_count: BRANDS } });
		expect(wasteful(counted)).toEqual([]);
	});
});
