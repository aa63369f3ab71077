/** How brand lists are delivered: streamed, compressed, with a validator that is right after every change, whole or not at all. */
import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { writeList } from "../../src/catalogue/write-list.ts";
import { LinkTokens } from "../../src/click-token/link-token.ts";
import type { Env } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { publishers } from "../../src/db/schema/publishers.ts";
import worker from "../../src/worker.ts";
import { ACME, brandEntry, importExactly, importFile, NORTHWIND } from "../support/network-import.ts";

const BRANDS = 1_000;
const OTHER = {
	...ACME,
	id: "other",
	publisher_id: "3003",
	publisher_identity: "other_rtb",
	access_key: "access-key-other",
	publisher_key: "publisher-key-other",
};
const brandAt = (at: number) => brandEntry(`brand-${at}.example`, 10_000 + at, { traffic_types: ["All"] });
const PATHS = ["/api/brands-list", "/api/brands-list-by-traffic-type?traffic_type=All"];

type List = { success: boolean; data: { domain: string; merchant_category: string | null; click_url_homepage: string }[] };

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME, OTHER], brands: Array.from({ length: BRANDS }, (_, at) => brandAt(at)) });
});

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
	exports.default.fetch(`https://base.example${path}`, { method, headers: { AccessKey: ACME.access_key, ...headers } });

async function etagOf(path: string, headers: Record<string, string> = {}): Promise<string> {
	const response = await get(path, headers, "HEAD");
	expect(response.status).toBe(200);
	return response.headers.get("etag") ?? "";
}

describe.each(PATHS)("worker: the validator of %s", (path) => {
	it("is weak, and stands with the headers that caches need", async () => {
		const response = await get(path);
		expect(response.headers.get("etag")).toMatch(/^W\/"[\w-]{27}"$/);
		expect(response.headers.get("vary")).toBe("AccessKey, Accept-Encoding");
		expect(response.headers.get("cache-control")).toBe("private, no-cache");
		// To its end: what makes the list would go on reading in the next test.
		await response.text();
	});

	it("answers 304 without a body and without reading brands, for it, among others, or *", async () => {
		const etag = await etagOf(path);
		const prepare = vi.spyOn(env.DB, "prepare");
		for (const given of [etag, etag.replace("W/", ""), `"other", ${etag}`, "*"]) {
			const response = await get(path, { "If-None-Match": given });
			expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
			expect(response.headers.get("vary")).toBe("AccessKey, Accept-Encoding");
		}
		expect(prepare.mock.calls.filter(([sql]) => /\b(?:from|join) "?(?:brands|campaigns)\b/i.test(sql))).toEqual([]);
		prepare.mockRestore();
	});

	it.each(['"other"', "", "W/", "nonsense"])("another one, %j, gets the list", async (given) => {
		const response = await get(path, { "If-None-Match": given });
		expect(response.status).toBe(200);
		expect((await response.json<List>()).data).toHaveLength(BRANDS);
	});

	it("needs the key all the same", async () => {
		const response = await get(path, { AccessKey: "wrong-key-0000", "If-None-Match": "*" });
		expect(response.status).toBe(401);
	});

	it("changes at once with the brands, and the list with it; the same again does not change the content", async () => {
		const before = await etagOf(path);
		await importFile({ brands: [{ ...brandAt(7), category: `Changed ${path}` }] });
		const response = await get(path, { "If-None-Match": before });
		expect(response.status).toBe(200);
		expect((await response.json<List>()).data.find(({ domain }) => domain === "brand-7.example")?.merchant_category).toBe(
			`Changed ${path}`,
		);
	});

	it.each([
		["blocks", { blocked_brands: [{ domain: "brand-9.example" }] }],
		["permissions", { cashback_enabled: true }],
	])("changes with the publisher's %s, for that publisher alone", async (_name, fields) => {
		const [mine, theirs] = [await etagOf(path), await etagOf(path, { AccessKey: OTHER.access_key })];
		await importFile({ publishers: [{ ...ACME, ...fields }] });
		expect(await etagOf(path)).not.toBe(mine);
		expect(await etagOf(path, { AccessKey: OTHER.access_key })).toBe(theirs);
		await importExactly({ publishers: [ACME] });
		expect(await etagOf(path)).toBe(mine);
	});

	it("changes with the publisher's identity, which its links carry", async () => {
		const before = await etagOf(path);
		await importFile({ publishers: [{ ...ACME, publisher_identity: path.length > 20 ? "acme_typed" : "acme_whole" }] });
		expect(await etagOf(path)).not.toBe(before);
	});

	it("is another one for each publisher, and for another tracker or token key", async () => {
		const changed = async (changes: Partial<Env>) => {
			const request = new Request(`https://base.example${path}`, { method: "HEAD", headers: { AccessKey: ACME.access_key } });
			const response = await worker.fetch(
				request as unknown as Parameters<typeof worker.fetch>[0],
				{ ...env, ...changes },
				createExecutionContext(),
			);
			return response.headers.get("etag");
		};
		const tags = [
			await etagOf(path),
			await etagOf(path, { AccessKey: OTHER.access_key }),
			await changed({ TRACKER_URL: "https://go.example" }),
			await changed({ TOKEN_KEYS: `a-newer-key-than-those-000000000000,${env.TOKEN_KEYS}` }),
		];
		expect(new Set(tags).size).toBe(tags.length);
	});
});

describe("worker: a long list", () => {
	it("comes compressed where the client takes gzip, and as it is where not", async () => {
		for (const [accepts, encoding] of [
			["gzip", "gzip"],
			["br, GZIP;q=0.5", "gzip"],
			["*", "gzip"],
			["identity", null],
			["gzip;q=0", null],
			["*, gzip;q=0", null],
			["br", null],
		] as const) {
			const response = await get("/api/brands-list", { "Accept-Encoding": accepts });
			expect([accepts, response.headers.get("content-encoding")]).toEqual([accepts, encoding]);
			expect((await response.json<List>()).data).toHaveLength(BRANDS);
		}
	});

	it.each([
		["", null],
		["identity", null],
		["gzip, br", "gzip"],
	])("where the client said %j and Cloudflare asks for gzip: as the client said", async (clientAcceptEncoding, encoding) => {
		const headers = { AccessKey: ACME.access_key, "Accept-Encoding": "gzip, br" };
		const request = new Request("https://base.example/api/brands-list", { headers, cf: { clientAcceptEncoding } as CfProperties });
		const response = await exports.default.fetch(request);
		expect(response.headers.get("content-encoding")).toBe(encoding);
		expect((await response.json<List>()).data).toHaveLength(BRANDS);
	});

	it("is the same when it is found ready as when it is written", async () => {
		await importFile({ brands: [{ ...brandAt(3), category: "Written anew" }] });
		const prepare = vi.spyOn(env.DB, "prepare");
		const written = await (await get("/api/brands-list", { "Accept-Encoding": "gzip" })).text();
		expect(prepare.mock.calls.some(([sql]) => sql.includes("FROM brands"))).toBe(true);
		const isFoundReady = async () => {
			prepare.mockClear();
			for (const accepts of ["gzip", "identity"]) {
				expect(await (await get("/api/brands-list", { "Accept-Encoding": accepts })).text()).toBe(written);
			}
			expect(prepare.mock.calls.filter(([sql]) => sql.includes("FROM brands"))).toEqual([]);
		};
		await vi.waitFor(isFoundReady, { timeout: 20_000 });
		prepare.mockRestore();
	});

	it("that changes while it is written is not kept", async () => {
		await importFile({ brands: [{ ...brandAt(4), category: "Before" }] });
		const reader = (await get("/api/brands-list")).body?.getReader();
		await reader?.read();
		await importFile({ brands: [{ ...brandAt(999), category: "Meanwhile" }] });
		while ((await reader?.read())?.done === false);
		const { data } = await (await get("/api/brands-list")).json<List>();
		expect(data.find(({ domain }) => domain === "brand-999.example")?.merchant_category).toBe("Meanwhile");
	});
});

describe("worker: a list is written in bounded pages", () => {
	const sizes = { first: 10, most: 100 };

	/** A database whose reads are counted, and fail from the `failAt`th on. */
	function countingDatabase(failAt = Number.POSITIVE_INFINITY): { db: Database; reads: () => number } {
		const db = openDatabase(env.DB);
		let reads = 0;
		const values = db.values.bind(db);
		db.values = ((query: Parameters<typeof values>[0]) => {
			reads++;
			return reads < failAt ? values(query) : Promise.reject(new Error("D1_ERROR: gone"));
		}) as typeof db.values;
		return { db, reads: () => reads };
	}

	async function open(db: Database): Promise<ReadableStream<Uint8Array>> {
		const [publisher] = await db.select().from(publishers).limit(1);
		if (publisher === undefined) throw new Error("no publisher");
		const deps = { db, links: new LinkTokens(env.TOKEN_KEYS.split(",")), trackerUrl: "https://go.example", pageSizes: sizes };
		const list = await writeList(deps, publisher, { by: "domain" });
		if (list === null) throw new Error("no list");
		return list;
	}

	it("with any page size it is the same list, each brand once", async () => {
		const { db, reads } = countingDatabase();
		const { data } = await new Response(await open(db)).json<List>();
		expect(data.map(({ domain }) => domain)).toEqual(Array.from({ length: BRANDS }, (_, at) => `brand-${at}.example`));
		expect(reads()).toBeGreaterThan(10);
	});

	it("no further than its reader goes: a page ahead, not the catalogue", async () => {
		const { db, reads } = countingDatabase();
		const reader = (await open(db)).getReader();
		const { value } = await reader.read();
		await scheduler.wait(50);
		expect(new TextDecoder().decode(value)).toContain("brand-0.example");
		expect(reads()).toBeLessThanOrEqual(4);
		await reader.cancel();
		const before = reads();
		await scheduler.wait(50);
		expect(reads()).toBe(before);
	});

	it("a database that fails at the start is an error, not a list", async () => {
		await expect(open(countingDatabase(1).db)).rejects.toThrow("gone");
	});

	it.each([2, 5])("one that fails at page %i breaks the answer off, before its end", async (failAt) => {
		const reader = (await open(countingDatabase(failAt).db)).getReader();
		let text = "";
		await expect(
			(async () => {
				for (;;) {
					const { done, value } = await reader.read();
					if (done) return;
					text += new TextDecoder().decode(value);
				}
			})(),
		).rejects.toThrow("gone");
		expect(() => JSON.parse(text)).toThrow(SyntaxError);
	});
});
