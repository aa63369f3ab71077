/** Real answers against /openapi.json: each call's status, media type and body are ones that the description names. */
import { env, exports } from "cloudflare:workers";
import { type Schema, Validator } from "@cfworker/json-schema";
import { beforeAll, describe, expect, test } from "vitest";
import example from "../../scripts/examples/network.json";
import "../support/worker-env.ts";

type Described = { operationId: string; responses: Record<string, { content?: Record<string, { schema: Schema }> }> };
type Description = { paths: Record<string, Record<string, Described>> };

/** How a call is told from others: the operation it exercises, and the answer it should get. */
type Call = { id: string; status: number; path?: string; headers?: Record<string, string>; body?: string; type?: string };

const ACCESS = { AccessKey: "access-key-acme" };
const PUBLISHER = { PublisherKey: "publisher-key-acme" };
const OPERATOR = { OperatorKey: env.OPERATOR_KEY };
const FORM = "application/x-www-form-urlencoded";
/** The example network, with keys that are known here. */
const networkText = JSON.stringify({
	...example,
	platforms: example.platforms.map((platform) => ({ ...platform, access_key: "platform-key-northwind" })),
	publishers: example.publishers.map((publisher) => ({
		...publisher,
		access_key: ACCESS.AccessKey,
		publisher_key: PUBLISHER.PublisherKey,
	})),
});
const BID = { id: "auction-1", imp: [{ id: "1" }], site: { domain: "kettles.example" } };
const POSTBACK = "txnid=t-1&cid=0123456789abcdef0123456789abcdef&edate=2026-11-20&payout=1.50";
const PERIOD = "start_date=2026-11-01&end_date=2026-11-02";

const CALLS: readonly Call[] = [
	{ id: "bidOpenRtb", status: 200, path: "/openrtb/kitchen_notes", body: JSON.stringify(BID) },
	{ id: "bidOpenRtb", status: 204, path: "/openrtb/kitchen_notes", body: JSON.stringify({ ...BID, site: { domain: "unknown.example" } }) },
	{ id: "bidOpenRtb", status: 400, path: "/openrtb/kitchen_notes", body: "{" },
	{ id: "bidOpenRtb", status: 400, path: "/openrtb/not%20one", body: JSON.stringify(BID) },
	{ id: "bidOpenRtb", status: 413, path: "/openrtb/kitchen_notes", body: " ".repeat(300_000) },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&bd=kettles.example&cc=US" },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&bd=unknown.example&cc=US" },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&cc=US" },
	{ id: "listBrands", status: 200, headers: ACCESS },
	{ id: "listBrands", status: 401 },
	{ id: "listBrandsByTrafficType", status: 200, path: "/api/brands-list-by-traffic-type?traffic_type=all", headers: ACCESS },
	{ id: "listBrandsByTrafficType", status: 200, path: "/api/brands-list-by-traffic-type?traffic_type=Email", headers: ACCESS },
	{ id: "listBrandsByTrafficType", status: 400, headers: ACCESS },
	{ id: "listBrandsByTrafficType", status: 401 },
	...["daywise", "source_level", "clickid_level"].map((type) => ({
		id: "reportRevenueShare",
		status: 200,
		headers: ACCESS,
		body: `report_type=${type}&${PERIOD}`,
		type: FORM,
	})),
	{ id: "reportRevenueShare", status: 200, headers: { ...ACCESS, accept: "text/csv" }, body: `report_type=daywise&${PERIOD}`, type: FORM },
	{ id: "reportRevenueShare", status: 401, body: PERIOD, type: FORM },
	{ id: "reportRevenueShare", status: 415, headers: ACCESS, body: "<fields/>", type: "application/xml" },
	{ id: "reportRevenueShare", status: 413, headers: ACCESS, body: "a".repeat(100_000), type: FORM },
	{ id: "reportRevenueShare", status: 422, headers: ACCESS, body: "report_type=weekly", type: FORM },
	{ id: "reportClickLevel", status: 200, headers: ACCESS, body: PERIOD, type: FORM },
	{ id: "reportClickLevel", status: 401, body: PERIOD, type: FORM },
	{ id: "reportClickLevel", status: 422, headers: ACCESS, body: "", type: FORM },
	{ id: "searchProducts", status: 200, path: "/api/products/search?keyword=kettle", headers: PUBLISHER },
	{ id: "searchProducts", status: 200, path: "/api/products/search?keyword=nothing", headers: PUBLISHER },
	{ id: "searchProducts", status: 401, path: "/api/products/search?keyword=kettle" },
	{ id: "searchProducts", status: 422, headers: PUBLISHER },
	{ id: "searchSellerProducts", status: 200, path: "/api/marketplace-seller-products/search?q=bottle", headers: PUBLISHER },
	{ id: "searchSellerProducts", status: 401 },
	{ id: "searchSellerProducts", status: 422, headers: PUBLISHER },
	{ id: "receivePostback", status: 200, path: `/api/postback/platform-key-northwind?${POSTBACK}` },
	{ id: "receivePostback", status: 200, path: "/api/postback/platform-key-northwind?payout=much" },
	{ id: "receivePostback", status: 200, path: `/api/postback/nobody?${POSTBACK}` },
	{ id: "receivePostbackForm", status: 200, path: "/api/postback/platform-key-northwind", body: POSTBACK, type: FORM },
	{ id: "importNetwork", status: 200, headers: OPERATOR, body: networkText },
	{ id: "importNetwork", status: 401, body: "{}" },
	{ id: "importNetwork", status: 422, headers: OPERATOR, body: `{"brands":[{"domain":"?"}]}` },
	{ id: "explainBid", status: 200, headers: OPERATOR, body: JSON.stringify({ publisher_identity: "kitchen_notes", request: BID }) },
	{ id: "explainBid", status: 422, headers: OPERATOR, body: "[]" },
	{ id: "readStatus", status: 200, headers: OPERATOR },
	{ id: "readStatus", status: 401 },
	{ id: "listCallbacks", status: 200, headers: OPERATOR },
	{ id: "listCallbacks", status: 401 },
	{ id: "listCallbacks", status: 422, path: "/operator/callbacks?limit=0", headers: OPERATOR },
	{ id: "replayCallbacks", status: 200, headers: OPERATOR, body: `{"txnid":"t-0","dry_run":true}` },
	{ id: "replayCallbacks", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "replayCallbacks", status: 422, headers: OPERATOR, body: "{}" },
	{ id: "testCallback", status: 200, headers: OPERATOR, body: `{"url":"https://callbacks.invalid/"}` },
	{ id: "testCallback", status: 422, headers: OPERATOR, body: `{"url":"https://127.0.0.1/"}` },
	{ id: "health", status: 200 },
	{ id: "ready", status: 200 },
];

let description: Description;

function find(id: string): { method: string; path: string; operation: Described } {
	for (const [path, methods] of Object.entries(description.paths)) {
		for (const [method, operation] of Object.entries(methods)) if (operation.operationId === id) return { method, path, operation };
	}
	throw new Error(`/openapi.json does not describe ${id}`);
}

function send({ id, path, headers = {}, body, type = "application/json" }: Call): Promise<Response> {
	const described = find(id);
	return exports.default.fetch(`http://api.example${path ?? described.path}`, {
		method: described.method.toUpperCase(),
		headers: body === undefined ? headers : { "content-type": type, ...headers },
		...(body === undefined ? {} : { body }),
	});
}

describe("worker: answers against the API description", () => {
	beforeAll(async () => {
		description = await (await exports.default.fetch("http://api.example/openapi.json")).json();
		const imported = await send({ id: "importNetwork", status: 200, headers: OPERATOR, body: networkText });
		expect(imported.status).toBe(200);
		await imported.body?.cancel();
		await env.DB.batch([
			env.DB.prepare(
				`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at, next_attempt_at)
				VALUES ('c', 'northwind', 't-0', 1, 'kitchen-notes', 'approved', 'k', 1500000, 0, 'due', 1, 0, 8640000000000)`,
			),
			env.DB.prepare(
				"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, answer) VALUES ('a', 'c', 0, 5, 'no answer')",
			),
		]);
	});

	test.each(CALLS.map((call) => [call.id, call.status, call] as const))("%s answers %i as described", async (id, status, call) => {
		const response = await send(call);
		const text = await response.text();
		expect([response.status, text.slice(0, 300)]).toEqual([status, expect.anything()]);
		const described = find(id).operation.responses[status];
		expect(described, `${id} describes ${status}`).toBeDefined();
		const type = response.headers.get("content-type")?.split(";")[0];
		if (described?.content === undefined) {
			expect(text).toBe("");
			return;
		}
		const content = described.content[type ?? ""];
		expect(content, `${id} ${status} describes ${type}`).toBeDefined();
		if (content === undefined || type !== "application/json") return;
		const result = new Validator(content.schema, "2020-12", false).validate(JSON.parse(text));
		expect(result.errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)).toEqual([]);
	});

	test("every operation that is described is called", () => {
		const called = new Set(CALLS.map(({ id }) => id));
		const described = Object.values(description.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
		expect(described.filter((id) => !called.has(id))).toEqual([]);
	});

	test("an answer with a field that is not described would fail", () => {
		const schema = find("health").operation.responses["200"]?.content?.["application/json"]?.schema;
		if (schema === undefined) throw new Error("/health has no schema");
		expect(new Validator(schema, "2020-12").validate({ status: "ok", uptime: 1 }).valid).toBe(false);
	});
});
