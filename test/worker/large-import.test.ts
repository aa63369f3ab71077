/** Imports whose entries are many: what they ask of the database grows as they do, and no faster, on both engines. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { withConnectionsOf } from "../../src/db/postgres.ts";
import { importNetwork } from "../../src/operator/network/import-network.ts";
import { brandEntry, importFile, NORTHWIND, PLAIN_IMPORT, publisherCalled } from "../support/network-import.ts";
import { type CountedStatement, countRows } from "../support/row-counts.ts";

const BRANDS = 2_200;
/** Over the entries of the file; with a look at all of them for each it is thousands. */
const PASSES = 100;

const domainOf = (at: number) => `brand-${at}.example`;
const numbers = Array.from({ length: BRANDS }, (_, at) => at + 1);

const FIRST = {
	platforms: [NORTHWIND],
	publishers: [{ ...publisherCalled("one"), blocked_brands: numbers.filter((at) => at % 3 > 0).map((at) => ({ domain: domainOf(at) })) }],
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

/** With the plans of a PostgreSQL that knows how many rows there are, and of one that takes them for few. */
describe.each([true, false])("a large import, its rows counted before: %s", (isAnalyzed) => {
	beforeEach(() => importFile(FIRST, "?yes=1&campaigns_complete=1"));

	it("looks at each row a bounded number of times", async () => {
		const { answer, counted } = await countedImport(CHANGED, isAnalyzed);
		expect(answer).toMatchObject({ difference: { changed: expect.any(Number) } });
		expect(counted.length).toBeGreaterThan(40);
		expect(wasteful(counted)).toEqual([]);
	});

	it("does so, too, where others have changed all the same meanwhile", async () => {
		const others = { brands: numbers.map((at) => ({ domain: domainOf(at), campaigns: [{ campaign_id: at, epc: "0.7" }] })) };
		const { answer, counted } = await countedImport(CHANGED, isAnalyzed, async () => void (await importFile(others)));
		expect(answer).toMatchObject({ status: 412, body: { changed_count: BRANDS } });
		expect(wasteful(counted)).toEqual([]);
	});
});
