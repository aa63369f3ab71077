/** A click id that very many clicks have: what is asked of it costs no more than of any other, and shows no less. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { openClaim } from "../../src/claims/own-claims.ts";
import { traceConversion } from "../../src/conversions/trace.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { insertRows } from "../../src/db/json-rows.ts";
import { clicks } from "../../src/db/schema/clicks.ts";
import { leastIdAt } from "../../src/lib/ids.ts";
import { SECOND_MS } from "../../src/lib/time.ts";
import { clickPageSchema } from "../../src/operator/clicks/clicks-answer.ts";
import { readClicksQuery as readOperatorQuery } from "../../src/operator/clicks/clicks-request.ts";
import { listClicks } from "../../src/operator/clicks/list-clicks.ts";
import { publisherClicksSchema } from "../../src/publisher-api/clicks-answer.ts";
import { readClicksQuery } from "../../src/publisher-api/clicks-request.ts";
import { publisherConversionsSchema } from "../../src/publisher-api/conversions-answer.ts";
import { readConversionsQuery } from "../../src/publisher-api/conversions-request.ts";
import { readClicks } from "../../src/publisher-api/read-clicks.ts";
import { readConversions } from "../../src/publisher-api/read-conversions.ts";
import { ACTOR } from "../support/actor.ts";
import { ON_D1 } from "../support/engine.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import { CPA_KEY, CPC_KEY, conversionRow, importReportNetwork, store } from "../support/report-rows.ts";
import { countRows } from "../support/row-counts.ts";

const AT = Date.parse("2026-11-10T00:00:00Z");
const ID = "homepage";
/** Of the one publisher, of the other, and of the other once more with a hash of their own. */
const OWN = 300;
const OTHERS = 9_000;
const REDIRECTS = 3_000;
const HASH = "f".repeat(32);

const named = (publisherId: string, n: number, fields: object = {}) => ({
	id: `${leastIdAt(AT + n * SECOND_MS)}-7000-8000-${publisherId === "pc" ? "0" : "1"}${n.toString(16).padStart(11, "0")}`,
	clickHash: n.toString(16).padStart(31, "0") + (publisherId === "pc" ? "0" : "1"),
	kind: "link" as const,
	clickedAt: AT + n * SECOND_MS,
	publisherId,
	brandId: 1,
	campaignId: 11,
	platform: "northwind",
	publisherClickId: ID,
	bidMicros: 200_000,
	revenueMicros: 0,
	pricingModel: "CPC" as const,
	writtenBy: "",
	reason: "bot" as const,
	...fields,
});

beforeAll(async () => {
	await importReportNetwork();
	const sold = { publisher_id: "pc", publisher_click_id: ID, brand_id: 1, campaign_id: 11, pricing_model: "CPC" };
	const sales = [3, 5, 7].map((n) => {
		const { id, clickHash, clickedAt } = named("pc", n);
		return conversionRow({ id, click_hash: clickHash, clicked_at: clickedAt, ...sold }, { txnid: `sale-${n}` });
	});
	await store([], sales);
	const rows = [
		...Array.from({ length: OWN }, (_, n) => named("pc", n)),
		...Array.from({ length: OTHERS }, (_, n) => named("pa", n)),
		...Array.from({ length: REDIRECTS }, (_, n) => named("pa", OTHERS + n, { clickHash: HASH, publisherClickId: `visit-${n}` })),
	];
	const db = openDatabase(env.DB);
	for (let from = 0; from < rows.length; from += 1_000) await db.run(insertRows(clicks, rows.slice(from, from + 1_000)));
});

/** All pages of a list, and how many there were. */
async function readAll<Row>(
	path: string,
	headers: Record<string, string>,
	schema: v.GenericSchema<unknown, { data: Row[]; next_cursor: string | null }>,
) {
	const rows: Row[] = [];
	let pages = 0;
	for (let cursor: string | null = ""; cursor !== null; pages++) {
		const response: Response = await exports.default.fetch(`https://base.example${path}&cursor=${cursor}`, { headers });
		expect(response.status).toBe(200);
		const page = v.parse(schema, await response.json());
		rows.push(...page.data);
		cursor = page.next_cursor;
	}
	return { rows, pages };
}

/** Rows that are looked at. */
async function rowsOf(read: (db: Database) => Promise<unknown>): Promise<number> {
	const { client, counted } = countRows(env.DB, true);
	await read(openDatabase(client));
	return counted.reduce((sum, { rows }) => sum + rows, 0);
}

describe("worker: an id that very many clicks have", () => {
	it.each(["oldest", "newest"])("gives a publisher all of its own, the %s first, and no other's", async (order) => {
		const { rows } = await readAll(`/api/clicks?id=${ID}&order=${order}&limit=70`, { AccessKey: CPC_KEY }, publisherClicksSchema);
		const times = Array.from({ length: OWN }, (_, n) => AT + n * SECOND_MS);
		expect(rows.map(({ at }) => Date.parse(at))).toEqual(order === "oldest" ? times : times.toReversed());
	});

	it("gives the other publisher its own of any name", async () => {
		const ofHash = await readAll(`/api/clicks?id=${HASH.toUpperCase()}&limit=500`, { AccessKey: CPA_KEY }, publisherClicksSchema);
		expect(ofHash.rows).toHaveLength(REDIRECTS);
		expect((await readAll(`/api/clicks?id=${ID}&reason=bot&limit=500`, { AccessKey: CPA_KEY }, publisherClicksSchema)).rows).toHaveLength(
			OTHERS,
		);
	});

	it("gives the sales of its clicks", async () => {
		const { rows } = await readAll(`/api/conversions?id=${ID}&limit=2`, { AccessKey: CPC_KEY }, publisherConversionsSchema);
		expect(rows.map(({ transaction_id }) => transaction_id)).toEqual(["sale-3", "sale-5", "sale-7"]);
		expect((await readAll(`/api/conversions?id=${ID}`, { AccessKey: CPA_KEY }, publisherConversionsSchema)).rows).toEqual([]);
	});

	it("gives an operator all of everyone's, or of one publisher", async () => {
		const all = await readAll(`/operator/clicks?id=${ID}&limit=1000`, OPERATOR_HEADERS, clickPageSchema);
		expect(new Set(all.rows.map(({ id }) => id)).size).toBe(OWN + OTHERS);
		const own = await readAll(`/operator/clicks?id=${ID}&publisher=pc&limit=1000`, OPERATOR_HEADERS, clickPageSchema);
		expect(own.rows).toHaveLength(OWN);
	});

	// PostgreSQL reads a table of which most rows are asked for as a whole.
	it.runIf(ON_D1).each<[string, number, (db: Database) => Promise<unknown>]>([
		["a publisher's clicks", 4_000, (db) => readClicks(db, "pc", readClicksQuery({ id: ID, limit: "1" }, AT))],
		["a publisher's sales", 4_000, (db) => readConversions(db, "pc", readConversionsQuery({ id: ID, limit: "1" }, AT))],
		["an operator's page", 100, (db) => listClicks(db, readOperatorQuery({ id: ID, limit: "1" }))],
		["a trace", 8_000, (db) => traceConversion(db, ID)],
	])("looks at a bounded number of rows for %s", async (_, most, read) => {
		expect(await rowsOf(read)).toBeLessThan(most);
	});

	it("opens a claim of it, though others have it, too", async () => {
		const request = { kind: "wrong", id: ID, text: "One of these is too low.", brand: null, at: null, amount: null } as const;
		const { outcome } = await openClaim({ db: openDatabase(env.DB), now: () => AT }, "pc", ACTOR, request);
		expect(outcome).toBe("opened");
	});

	it("opens none about a sale where there is none, however many clicks there are", async () => {
		const request = { kind: "wrong", id: HASH, text: "It is too low.", brand: null, at: null, amount: null } as const;
		const { outcome } = await openClaim({ db: openDatabase(env.DB), now: () => AT }, "pa", ACTOR, request);
		expect(outcome).toBe("no_sale");
	});
});
