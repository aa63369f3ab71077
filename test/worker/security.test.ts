/** One suite over every endpoint that is described: keys, smuggling, oversized and strange input, and what answers give away. */
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { FAILED_KEYS_LIMIT } from "../../src/http/limits.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

type Operation = { operationId: string; security: Record<string, unknown>[] };
type Endpoint = { id: string; method: string; path: string; credential: string | null };

const OTHER = {
	...ACME,
	id: "other",
	publisher_id: "1009",
	publisher_identity: "other_rtb",
	access_key: "access-key-other",
	publisher_key: "publisher-key-other",
};
const PLATFORM_KEY = "platform-key-security";
const KEYS: Record<string, string> = {
	AccessKey: "access-key-security",
	PublisherKey: "publisher-key-security",
	OperatorKey: env.OPERATOR_KEY,
};
const STRANGE_BODIES = [
	"",
	"{",
	"[]",
	"null",
	'{"__proto__":{"admin":true},"constructor":{"prototype":{}}}',
	"[".repeat(5_000),
	'"\\ud800"',
	"\u0000",
];
/** What an answer must never hold: code, queries, keys. */
const LEAKS = /\bat \w+ \(|SQLITE|D1_ERROR|SELECT |node_modules|drizzle|access-key|publisher-key|platform-key/;

const descriptions = await Promise.all(
	["/openapi.json", "/openapi-operator.json"].map(async (path) =>
		(await exports.default.fetch(`http://api.example${path}`)).json<{ paths: Record<string, Record<string, Operation>> }>(),
	),
);
const ENDPOINTS: readonly Endpoint[] = descriptions
	.flatMap(({ paths }) => Object.entries(paths))
	.flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, { operationId, security }]) => ({
			id: operationId,
			method: method.toUpperCase(),
			path: path.replace("{publisher_identity}", "acme_rtb").replace("{access_key}", PLATFORM_KEY),
			credential: Object.keys(security[0] ?? {})[0] ?? null,
		})),
	);
const KEYED = ENDPOINTS.filter((endpoint): endpoint is Endpoint & { credential: string } => endpoint.credential !== null);

async function call(
	{ method, path }: Pick<Endpoint, "method" | "path">,
	headers: HeadersInit = {},
	body?: BodyInit,
): Promise<{ status: number; text: string; headers: Headers }> {
	const response = await exports.default.fetch(
		new Request(`http://api.example${path}`, {
			method,
			headers,
			redirect: "manual",
			...(body !== undefined && method === "POST" && { body }),
		}),
	);
	return { status: response.status, text: await response.text(), headers: response.headers };
}

function expectSafe({ status, text }: { status: number; text: string }): void {
	expect(status).toBeLessThan(500);
	expect(text).not.toMatch(LEAKS);
}

afterEach(() => {
	vi.useRealTimers();
});

beforeAll(() =>
	importFile({
		platforms: [{ ...NORTHWIND, access_key: PLATFORM_KEY }],
		publishers: [{ ...ACME, access_key: KEYS.AccessKey, publisher_key: KEYS.PublisherKey }, OTHER],
		brands: [brandEntry("shoes.example", 5001)],
	}),
);

describe("worker: security of every endpoint", () => {
	test("there are endpoints, and keyed ones", () => {
		expect(ENDPOINTS.length).toBeGreaterThan(20);
		expect(new Set(KEYED.map(({ credential }) => credential))).toEqual(new Set(Object.keys(KEYS)));
	});

	test.each(KEYED.map((endpoint) => [endpoint.id, endpoint] as const))("%s: no key but its own opens it", async (_id, endpoint) => {
		const { credential } = endpoint;
		const own = KEYS[credential] ?? "";
		const others = Object.entries(KEYS).filter(([name]) => name !== credential);
		const attempts: HeadersInit[] = [
			{},
			{ [credential]: "" },
			{ [credential]: "   " },
			{ [credential]: "wrong" },
			{ [credential]: `${own}x` },
			{ [credential]: own.slice(0, -1) },
			{ [credential]: `${own}, ${own}` },
			{ [credential]: "k".repeat(10_000) },
			{ authorization: `Bearer ${own}` },
			{ [`X-${credential}`]: own, cookie: `${credential}=${own}` },
			...others.map(([, key]) => ({ [credential]: key })),
			...others.map(([name, key]) => ({ [name]: key })),
			{ [credential]: PLATFORM_KEY },
		];
		for (const headers of attempts) {
			const answer = await call(endpoint, headers);
			expect([answer.status, answer.text], JSON.stringify(headers)).toEqual([401, '{"error":"Unauthorized"}']);
		}
		const inQuery = await call({ ...endpoint, path: `${endpoint.path}?${credential}=${own}` });
		expect(inQuery.status).toBe(401);
	});

	test.each(KEYED.map((endpoint) => [endpoint.id, endpoint] as const))("%s: its own key is enough to be heard", async (_id, endpoint) => {
		const answer = await call(endpoint, { [endpoint.credential]: KEYS[endpoint.credential] ?? "" }, "{}");
		expect(answer.status).not.toBe(401);
		expectSafe(answer);
	});

	test.each(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))(
		"%s: strange input is answered, and gives nothing away",
		async (_id, endpoint) => {
			const key: Record<string, string> = endpoint.credential === null ? {} : { [endpoint.credential]: KEYS[endpoint.credential] ?? "" };
			const form = { ...key, "content-type": "application/x-www-form-urlencoded" };
			const json = { ...key, "content-type": "application/json" };
			const queries = [
				"?%",
				"?a=%ff%00",
				`?${"a=b&".repeat(2_000)}`,
				"?__proto__=1&constructor=2",
				"?page=-1&limit=1e9&q=%22%20OR%201=1--&keyword='",
				"?q=a&q=b&keyword=a&keyword=b",
			];
			for (const query of queries) expectSafe(await call({ ...endpoint, path: `${endpoint.path}${query}` }, key));
			// Whatever the body, none is sent with a GET.
			for (const body of endpoint.method === "GET" ? [""] : STRANGE_BODIES) {
				expectSafe(await call(endpoint, json, body));
				expectSafe(await call(endpoint, form, body));
			}
			for (const headers of [
				{ "x-http-method-override": "DELETE" },
				{ "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "evil.example" },
				{ "x-original-url": "/operator/status" },
			]) {
				expectSafe(await call(endpoint, { ...key, ...headers }));
			}
			for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
				const answer = await call({ ...endpoint, method }, key);
				expect([200, 204, 302, 400, 401, 404, 405, 422]).toContain(answer.status);
				expect(answer.headers.get("access-control-allow-origin") === null || endpoint.path === "/openapi.json").toBe(true);
			}
		},
	);

	test.each([
		"/operator/../operator/status",
		"/operator%2fstatus",
		"//operator/status",
		"/operator/status/",
		"/OPERATOR/status",
		"/operator;/status",
	])("%s is no way around the operator's key", async (path) => {
		const answer = await call({ method: "GET", path });
		expect([401, 404]).toContain(answer.status);
	});

	test("one publisher never sees what another's click earned", async () => {
		const at = Date.parse("2026-11-18T12:00:00Z");
		await env.DB.prepare(
			`INSERT INTO clicks (id, click_hash, kind, clicked_at, publisher_id, brand_id, campaign_id, publisher_click_id, bid_micros, revenue_micros, pricing_model, written_by)
				VALUES ('c1', 'h1', 'openrtb', ?1, 'other', 1, 5001, 'secret-click', 200000, 200000, 'CPC', 'w')`,
		)
			.bind(at)
			.run();
		const report = (key: string) =>
			call(
				{ method: "POST", path: "/api/reporting/revenue-share" },
				{ AccessKey: key, "content-type": "application/x-www-form-urlencoded" },
				"report_type=clickid_level&start_date=2026-11-18&end_date=2026-11-18&publisher_id=other&publisher=other",
			);
		expect((await report(KEYS.AccessKey ?? "")).text).not.toContain("secret-click");
		expect((await report(OTHER.access_key)).text).toContain("secret-click");
	});

	test("the origin's answers carry a request id of our own and forbid sniffing", async () => {
		const path = "/api/brands-list";
		const answer = await call({ method: "GET", path }, { "x-request-id": "chosen-by-the-caller", AccessKey: KEYS.AccessKey ?? "" });
		expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
		expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
		const another = await call({ method: "GET", path });
		expect(another.headers.get("x-request-id")).not.toBe(answer.headers.get("x-request-id"));
	});

	test("an acknowledged postback stands in the ledger under its request's id", async () => {
		const query = "txnid=of-the-request&cid=0123456789abcdef0123456789abcdef&edate=2026-11-18&payout=1";
		const answer = await call({ method: "GET", path: `/api/postback/${PLATFORM_KEY}?${query}` });
		expect(answer.text).toContain("successfully");
		const read = () => env.DB.prepare("SELECT id FROM postback_intake WHERE txnid = 'of-the-request'").first<{ id: string }>();
		for (let i = 0; i < 100 && (await read()) === null; i++) await new Promise((resolve) => setTimeout(resolve, 100));
		expect((await read())?.id).toBe(answer.headers.get("x-request-id"));
	});

	test("an address that fails with keys too often is refused for a while, and others are not", async () => {
		const path = "/api/brands-list";
		// The seconds of a refusal stand still; the simulator's limit goes by its own clock, whose minute may turn once on the way.
		vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
		const guess = (at: number) =>
			call({ method: "GET", path }, { "CF-Connecting-IP": "198.51.100.7", AccessKey: `guess-${at}` }).then(({ status }) => status);
		const statuses: number[] = [];
		while (statuses.at(-1) !== 429 && statuses.length < 2 * FAILED_KEYS_LIMIT + 10) statuses.push(await guess(statuses.length));
		expect(statuses.length).toBeGreaterThan(FAILED_KEYS_LIMIT);
		expect([new Set(statuses.slice(0, -1)), statuses.at(-1)]).toEqual([new Set([401]), 429]);
		const refused = await call({ method: "GET", path }, { "CF-Connecting-IP": "198.51.100.7", AccessKey: "another" });
		expect([refused.status, refused.text]).toEqual([429, '{"error":"Too many requests"}']);
		expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
		const elsewhere = await call({ method: "GET", path }, { "CF-Connecting-IP": "198.51.100.8", AccessKey: KEYS.AccessKey ?? "" });
		expect(elsewhere.status).toBe(200);
	});
});
