/** What the descriptions say of queries, bounds of numbers, words and patterns, is what the endpoints take. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import example from "../../scripts/examples/network.json";
import "../support/worker-env.ts";

type Parameter = {
	in: string;
	name: string;
	required?: boolean;
	example?: unknown;
	schema: { type?: string; minimum?: number; maximum?: number; maxLength?: number; enum?: unknown[]; pattern?: string };
};
type Description = { paths: Record<string, Record<string, { parameters?: Parameter[] }>> };

/** One key of each kind: an endpoint takes the one that is its own. The affiliate search takes no other beside it. */
const KEYS = { AccessKey: "access-key-acme", OperatorKey: env.OPERATOR_KEY };
const PUBLISHER = { PublisherKey: "publisher-key-acme" };
/** What an endpoint needs beside that its description does not call required. */
const BESIDE: Readonly<Record<string, Record<string, string>>> = {
	"/api/marketplace-seller-products/search": { q: "kettle" },
	"/operator/postback-url": { platform: "harvestlink" },
};

async function ask(path: string, query: Record<string, string>): Promise<{ status: number; atFault: string[] }> {
	const headers = path.endsWith("/search") ? PUBLISHER : KEYS;
	const response = await exports.default.fetch(`http://api.example${path}?${new URLSearchParams(query)}`, { headers });
	const body = await response.json<{ messages?: Record<string, unknown>; faults?: { path: string }[] }>();
	if (response.status !== 422) return { status: response.status, atFault: [] };
	return { status: 422, atFault: body.faults?.map((fault) => fault.path) ?? Object.keys(body.messages ?? {}) };
}

/** Every parameter of a query whose schema is of a kind, with what its endpoint needs beside it. */
async function parametersOf(isOfKind: (schema: Parameter["schema"]) => boolean) {
	const documents = await Promise.all(
		["/openapi.json", "/openapi-operator.json"].map(async (path) =>
			(await exports.default.fetch(`http://api.example${path}`)).json<Description>(),
		),
	);
	const paths = documents.flatMap((document) => Object.entries(document.paths)).filter(([path]) => !path.includes("{"));
	return paths.flatMap(([path, methods]) => {
		const parameters = methods.get?.parameters ?? [];
		const needed = parameters.filter(({ required }) => required).map(({ name, example }) => [name, String(example)] as const);
		const beside = { ...Object.fromEntries(needed), ...BESIDE[path] };
		return parameters
			.filter((parameter) => parameter.in === "query" && isOfKind(parameter.schema))
			.map(({ name, schema }) => ({ path, name, schema, beside }));
	});
}

describe("worker: bounds that the API descriptions name", () => {
	beforeAll(async () => {
		const [publisher] = example.publishers;
		const keys = { access_key: KEYS.AccessKey, publisher_key: PUBLISHER.PublisherKey };
		const body = JSON.stringify({ ...example, publishers: [{ ...publisher, ...keys }] });
		const imported = await exports.default.fetch("http://api.example/operator/network", { method: "POST", headers: KEYS, body });
		expect(imported.status).toBe(200);
		await imported.body?.cancel();
	});

	test("whole numbers are taken up to each bound, and not past it", async () => {
		const numbers = await parametersOf(({ type }) => type === "integer");
		expect(numbers.length).toBeGreaterThan(30);
		for (const { path, name, schema, beside } of numbers) {
			const { minimum = Number.NaN, maximum } = schema;
			const past = [minimum - 1, ...(maximum === undefined ? [] : [maximum + 1])];
			for (const value of [minimum, maximum ?? 1_000_000]) {
				const { status, atFault } = await ask(path, { ...beside, [name]: String(value) });
				expect([path, name, value, status, atFault]).toEqual([path, name, value, 200, []]);
			}
			for (const value of past) {
				const { status, atFault } = await ask(path, { ...beside, [name]: String(value) });
				expect([path, name, value, status, atFault]).toEqual([path, name, value, 422, [name]]);
			}
		}
	});

	test("each word is taken, and no other", async () => {
		const words = await parametersOf((schema) => schema.enum !== undefined);
		expect(words.map(({ path, name }) => `${path} ${name}`)).toEqual(
			expect.arrayContaining(["/operator/publishers status", "/operator/brands active", "/operator/reports detail", "/api/clicks reason"]),
		);
		for (const { path, name, schema, beside } of words) {
			for (const value of schema.enum ?? []) {
				const { status, atFault } = await ask(path, { ...beside, [name]: String(value) });
				expect([path, name, value, status, atFault]).toEqual([path, name, value, 200, []]);
			}
			expect([path, name, (await ask(path, { ...beside, [name]: "constructor" })).atFault]).toEqual([path, name, [name]]);
		}
	});

	test("a country's code is taken in any case, as its pattern says", async () => {
		const codes = await parametersOf(({ pattern }) => pattern?.endsWith("]{2}$") ?? false);
		expect(codes.map(({ path }) => path)).toEqual(["/api/brands", "/operator/campaigns", "/operator/clicks"]);
		for (const { path, name, schema, beside } of codes) {
			for (const [value, expected] of [
				["US", 200],
				["us", 200],
				["ß", 422],
				["USA", 422],
			] as const) {
				expect([path, value, (await ask(path, { ...beside, [name]: value })).status]).toEqual([path, value, expected]);
				expect([path, value, new RegExp(schema.pattern ?? "").test(value)]).toEqual([path, value, expected === 200]);
			}
		}
	});

	type Forms = Record<
		string,
		{ post: { requestBody: { content: Record<string, { schema: { properties: { page: { maximum: number } } } }> } } }
	>;

	test("a form is taken as every type that its description names", async () => {
		const { paths } = await (await exports.default.fetch("http://api.example/openapi.json")).json<{ paths: Forms }>();
		const dates = { start_date: "2026-11-20", end_date: "2026-11-20", report_type: "daywise" };
		const sale = { txnid: "by-form-1", edate: "2026-11-20", payout: "1", cid: "none" };
		const asForm = (fields: Record<string, string>) => {
			const form = new FormData();
			for (const [name, value] of Object.entries(fields)) form.set(name, value);
			return form;
		};
		const bodies: Record<string, (fields: Record<string, string>) => RequestInit> = {
			"application/json": (fields) => ({ body: JSON.stringify(fields), headers: { ...KEYS, "content-type": "application/json" } }),
			"application/x-www-form-urlencoded": (fields) => ({ body: new URLSearchParams(fields), headers: KEYS }),
			"multipart/form-data": (fields) => ({ body: asForm(fields), headers: KEYS }),
		};
		for (const [path, fields, types] of [
			["/api/reporting/revenue-share", dates, Object.keys(bodies)],
			["/api/reporting/clicklevel", dates, Object.keys(bodies)],
			["/api/postback/{access_key}", sale, Object.keys(bodies).slice(1)],
		] as const) {
			expect(Object.keys(paths[path]?.post.requestBody.content ?? {}).sort()).toEqual(types);
			for (const type of types) {
				const url = `http://api.example${path.replace("{access_key}", "platform-key-northwind")}`;
				const response = await exports.default.fetch(url, { method: "POST", ...bodies[type]?.(fields) });
				expect([path, type, response.status, await response.text()]).toEqual([path, type, 200, expect.not.stringContaining("required")]);
			}
		}
	});

	test("a report has no page past the bound that its description names", async () => {
		const { paths } = await (await exports.default.fetch("http://api.example/openapi.json")).json<{ paths: Forms }>();
		const path = "/api/reporting/clicklevel";
		const { maximum } = paths[path]?.post.requestBody.content["application/json"]?.schema.properties.page ?? {};
		for (const [page, expected] of [
			[maximum ?? 0, 200],
			[(maximum ?? 0) + 1, 422],
		]) {
			const body = JSON.stringify({ start_date: "2026-11-20", end_date: "2026-11-20", page });
			const headers = { ...KEYS, "content-type": "application/json" };
			const response = await exports.default.fetch(`http://api.example${path}`, { method: "POST", headers, body });
			expect([page, response.status]).toEqual([page, expected]);
			await response.body?.cancel();
		}
	});

	test("so are texts of searches", async () => {
		const texts = (await parametersOf(({ maxLength }) => maxLength !== undefined)).filter(({ path }) => path.endsWith("/search"));
		expect(texts.map(({ name }) => name)).toEqual(["keyword", "q", "seller"]);
		for (const { path, name, schema, beside } of texts) {
			const longest = "a".repeat(schema.maxLength ?? 0);
			expect([name, await ask(path, { ...beside, [name]: longest })]).toEqual([name, { status: 200, atFault: [] }]);
			expect([name, await ask(path, { ...beside, [name]: `${longest}a` })]).toEqual([name, { status: 422, atFault: [name] }]);
		}
	});
});
