/** What no operator's verb takes: an unknown query where something would change, a list for a body, a body that is too large. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { writeCursor } from "../../src/http/pages.ts";
import { MAX_EXPLAIN_BYTES, MAX_SMALL_BYTES } from "../../src/operator/routes.ts";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

function post(path: string, body: object): Promise<Response> {
	const headers = { ...OPERATOR_HEADERS, "content-type": "application/json" };
	return exports.default.fetch(`https://base.example/operator${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const KEY = { kind: "access_key", owner: "acme" };
const tables = ["publishers", "access_keys", "adjustments", "callbacks", "dead_letters", "click_sequence"];
const state = () => Promise.all(tables.map(async (name) => (await env.DB.prepare(`SELECT * FROM ${name}`).all()).results));

beforeAll(() => importFile({ platforms: [NORTHWIND], publishers: [ACME] }));

describe("worker: an unknown query parameter is refused, and nothing is done", () => {
	it.each<[string, object]>([
		["/network", { publishers: [{ ...ACME, name: "Renamed" }] }],
		["/keys/issue", KEY],
		["/keys/rotate", KEY],
		["/keys/revoke", KEY],
		["/replay", {}],
		["/callbacks/replay", { publisher: "acme" }],
		["/callbacks/test", { publisher: "acme" }],
		["/adjustments", { kind: "amount", publisher: "acme", date: "2026-11-10", amount: "1", text: "x" }],
		["/rates/revalue", { currency: "EUR", from: "2026-11-01", to: "2026-11-02", text: "x" }],
		["/reconcile-sums", { repair: true }],
	])("%s", async (path, body) => {
		const before = await state();
		const response = await post(`${path}?dryrun=1`, body);
		expect([response.status, await response.json()]).toMatchObject([
			422,
			{
				error: "Validation failed",
				faults: [{ path: "dryrun", message: expect.stringMatching(/^is not a known field(; did you mean `dry_run`\?)?$/) }],
			},
		]);
		expect(await state()).toEqual(before);
	});

	it.each([
		["/status?wait=1", "wait", ""],
		["/replay?limits=5", "limits", "; did you mean `limit`?"],
		["/audit?actors=x", "actors", "; did you mean `actor`?"],
		["/network?section=brands", "section", "; did you mean `sections`?"],
		["/publishers/acme?fields=name", "fields", ""],
		["/conversions?platfrom=northwind", "platfrom", "; did you mean `platform`?"],
		["/reports?groups=day", "groups", "; did you mean `group`?"],
	])("GET %s names it, and the nearest known one", async (path, name, nearest) => {
		const response = await exports.default.fetch(`https://base.example/operator${path}`, { headers: OPERATOR_HEADERS });
		expect([response.status, await response.json()]).toMatchObject([
			422,
			{ error: "Validation failed", faults: [{ path: name, message: `is not a known field${nearest}` }] },
		]);
	});

	it.each([
		["/network?sections=platforms,brand,publisher", "sections"],
		["/reports?group=day,brands,sources", "group"],
		["/bids?group=hour,hour", "group"],
	])("GET %s is one fault of the parameter, as it is typed", async (path, name) => {
		const response = await exports.default.fetch(`https://base.example/operator${path}`, { headers: OPERATOR_HEADERS });
		expect([response.status, await response.json()]).toEqual([
			422,
			{ error: "Validation failed", faults: [{ path: name, message: expect.stringContaining("must be some of") }], fault_count: 1 },
		]);
	});

	it.each(["/products", "/seller-products"])("%s, in the words of its own options", async (path) => {
		const response = await post(`${path}?dryrun=1`, {});
		expect([response.status, await response.json()]).toMatchObject([
			422,
			{ faults: [{ path: "dryrun", message: expect.stringContaining("option") }] },
		]);
	});
});

describe("worker: a cursor with a number that no database holds is 422 on either engine", () => {
	it.each([
		["/campaigns", [1e300]],
		["/campaigns", [2 ** 53]],
		["/network/imports", [1e300]],
		["/learning/advice", [1e300, 1]],
		["/learning/prices?campaign=1", [1e300, "a"]],
		["/problems/postbacks", [1e300, "a", "b"]],
		["/conversions", [1.5, "a", "b"]],
	])("GET %s: %j", async (path, key) => {
		const url = `https://base.example/operator${path}${path.includes("?") ? "&" : "?"}cursor=${writeCursor(key)}`;
		const response = await exports.default.fetch(url, { headers: OPERATOR_HEADERS });
		expect([response.status, await response.json()]).toMatchObject([
			422,
			{ faults: [{ path: "cursor", message: "must be the next_cursor of an answer" }] },
		]);
	});
});

describe("worker: a body that is too large for its verb is 413, and says how much it takes", () => {
	const verbs = [
		"/trace",
		"/keys/issue",
		"/replay",
		"/callbacks/replay",
		"/adjustments",
		"/rates/revalue",
		"/reconcile-sums",
		"/check-ledger",
	];

	it.each([...verbs.map((path) => [path, MAX_SMALL_BYTES] as const), ["/explain", MAX_EXPLAIN_BYTES] as const])(
		"%s",
		async (path, most) => {
			const error = { error: `The body may hold at most ${most} bytes` };
			const body = JSON.stringify({ id: "x".repeat(most) });
			for (const sent of [body, new Blob([body]).stream()]) {
				const response = await exports.default.fetch(`https://base.example/operator${path}`, {
					method: "POST",
					headers: OPERATOR_HEADERS,
					body: sent,
				});
				expect([response.status, response.headers.get("content-type"), await response.json()]).toEqual([413, "application/json", error]);
			}
		},
	);
});

describe("worker: a body that is a list, where fields belong, asks for nothing", () => {
	it.each(["/reconcile-sums", "/check-ledger", "/replay", "/adjustments", "/keys/issue", "/explain", "/trace"])("%s", async (path) => {
		expect((await post(path, [])).status).toBe(422);
	});
});
