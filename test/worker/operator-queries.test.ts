/** What stands in the query of an operator's verb that changes something: nothing is done where it is not understood. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

function post(path: string, body: object): Promise<Response> {
	const headers = { ...OPERATOR_HEADERS, "content-type": "application/json" };
	return exports.default.fetch(`https://base.example/operator${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const KEY = { kind: "access_key", owner: "acme" };
const tables = ["publishers", "access_keys", "adjustments", "callbacks", "dead_letters", "click_sequence"];
const state = () => Promise.all(tables.map(async (name) => (await env.DB.prepare(`SELECT * FROM ${name}`).all()).results));

beforeAll(() => importFile({ platforms: [NORTHWIND], publishers: [ACME] }));

describe("worker: an unknown query parameter of a verb that changes something is refused, and nothing is done", () => {
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
			{ error: "Validation failed", faults: [{ path: "dryrun", message: "is not a known field" }] },
		]);
		expect(await state()).toEqual(before);
	});

	it.each(["/products", "/seller-products"])("%s, in the words of its own options", async (path) => {
		const response = await post(`${path}?dryrun=1`, {});
		expect([response.status, await response.json()]).toMatchObject([422, { messages: { dryrun: [expect.stringContaining("option")] } }]);
	});
});

describe("worker: a body that is a list, where fields belong, asks for nothing", () => {
	it.each(["/reconcile-sums", "/check-ledger", "/replay", "/adjustments", "/keys/issue", "/explain", "/trace"])("%s", async (path) => {
		expect((await post(path, [])).status).toBe(422);
	});
});
