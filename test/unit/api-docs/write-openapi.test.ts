import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { writeNetworkSchema } from "../../../src/api-docs/network-schema.ts";
import type { Described } from "../../../src/api-docs/operation.ts";
import { OPERATOR_API, PUBLIC_API } from "../../../src/api-docs/operations/all.ts";
import { writeOpenApi } from "../../../src/api-docs/write-openapi.ts";

const hosts = {
	baseUrl: "https://api.clickbourse.test",
	rtbUrl: "http://rtb.clickbourse.test",
	clickUrl: "https://click.clickbourse.test",
};
const NOW = Date.parse("2026-03-02T00:00:00Z");
const description = writeOpenApi(PUBLIC_API, hosts, NOW);

/** What the linter's recommended rules find, and why it stays. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
	"operation-4xx-response #/paths/~1serving-engine/get/responses": "It answers 200 whatever is wrong, by its interface.",
	"operation-2xx-response #/paths/~1click/get/responses": "It redirects.",
};

async function lint(document: unknown): Promise<string[]> {
	const config = await createConfig({ extends: ["recommended-strict"] });
	const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
	return problems.map(({ ruleId, message, location }) => {
		const place = `${ruleId} ${location[0]?.pointer}`;
		return place in EXCEPTIONS ? place : `${place}: ${message}`;
	});
}

describe("unit: OpenAPI descriptions", () => {
	it("have no faults that a linter knows, but for those that are told here", async () => {
		const found = await Promise.all([PUBLIC_API, OPERATOR_API].map((described) => lint(writeOpenApi(described, hosts, NOW))));
		expect(found.flat()).toEqual(Object.keys(EXCEPTIONS));
	});

	it("need of an entry of the network file what the file's own schema needs", () => {
		type Section = { items: { required: string[]; properties: { campaigns?: { anyOf: { items?: { required: string[] } }[] } } } };
		const { schemas } = writeOpenApi(OPERATOR_API, hosts, NOW).components as { schemas: Record<string, { required: string[] }> };
		const sections = writeNetworkSchema().properties as Record<string, Section>;
		const campaigns = sections.brands?.items.properties.campaigns?.anyOf.find(({ items }) => items !== undefined)?.items;
		for (const [name, needed] of [
			["NetworkPlatform", sections.platforms?.items],
			["NetworkPublisher", sections.publishers?.items],
			["NetworkBrand", sections.brands?.items],
			["NetworkCampaign", campaigns],
			["NetworkExchangeRate", sections.exchange_rates?.items],
			["NetworkProduct", sections.products?.items],
			["NetworkSellerProduct", sections.seller_products?.items],
		] as const) {
			expect([name, schemas[name]?.required]).toEqual([name, needed?.required]);
		}
	});

	it("would be found at fault where an example does not fit its schema", async () => {
		const broken = { ...PUBLIC_API, examples: { ...PUBLIC_API.examples, listBrands: { success: true, data: [{}] } } };
		expect((await lint(writeOpenApi(broken, hosts, NOW))).join("\n")).toContain("no-invalid-media-type-examples");
	});
});

describe.each<[string, Described]>([
	["for all", PUBLIC_API],
	["for the operator", OPERATOR_API],
])("unit: OpenAPI description %s", (_, described) => {
	const { operations, webhooks, tags, examples } = described;
	const document = writeOpenApi(described, hosts, NOW);

	it("is valid OpenAPI 3.1", async () => {
		const result = await new Validator().validate(structuredClone(document));
		expect(result).toMatchObject({ valid: true });
	});

	it("what is wrong, by field, is shown with a field of the operation's own, and none is described by a word that says nothing", () => {
		type Body = { content: Record<string, { schema: { properties?: Record<string, unknown> } }> };
		type Shown = {
			parameters?: { name: string; description: string }[];
			requestBody?: Body;
			responses: Record<string, { content?: Record<string, { example?: { messages?: Record<string, unknown> } }> }>;
		};
		for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Shown>>)) {
			for (const { parameters = [], requestBody, responses } of Object.values(methods)) {
				const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
				const own = [...parameters.map(({ name }) => name), ...fields];
				const shown = Object.keys(responses[422]?.content?.["application/json"]?.example?.messages ?? {});
				expect(own, path).toEqual(expect.arrayContaining(shown));
				for (const { name, description } of parameters) expect(["", "Optional."], `${path} ${name}`).not.toContain(description);
			}
		}
	});

	it("every operation belongs to a tag that is described, and names its answers", () => {
		const names = tags.map(({ name }) => name);
		for (const { id, tag, answers } of [...operations, ...webhooks]) {
			expect(names, id).toContain(tag);
			expect(Object.keys(answers).length, id).toBeGreaterThan(0);
		}
	});

	it("every operation whose 200 has JSON shows one, and no other is kept", () => {
		const withJson = operations.filter(({ answers }) => answers[200]?.content !== undefined).map(({ id }) => id);
		expect(Object.keys(examples).sort()).toEqual([...new Set(withJson)].sort());
	});

	it("every operation that takes a key may answer 503, but where the interface has a 500", () => {
		const paths = document.paths as Record<string, Record<string, { responses: Record<string, unknown> }>>;
		for (const { path, method, credential, id } of operations) {
			const { responses = {} } = paths[path]?.[method] ?? {};
			const hasOwn = id === "searchProducts" || id === "searchSellerProducts";
			if (credential !== undefined) expect(["500" in responses, "503" in responses], id).toEqual([hasOwn, !hasOwn]);
		}
	});

	it("every operation that takes a key may answer 429, and no other", () => {
		const paths = document.paths as Record<string, Record<string, { responses: Record<string, unknown> }>>;
		for (const { path, method, credential, id } of operations) {
			expect("429" in (paths[path]?.[method]?.responses ?? {}), id).toBe(credential !== undefined);
		}
	});

	it("every operation of the operator's, and no other, declares a role, and may answer 403; what only reads takes a viewer's, but where people are named", () => {
		const paths = document.paths as Record<string, Record<string, { responses: Record<string, unknown>; security: unknown }>>;
		for (const { path, method, credential, role, id } of operations) {
			const isOperators = path.startsWith("/operator");
			const { responses = {}, security } = paths[path]?.[method] ?? {};
			expect([credential === "OperatorKey", role !== undefined, "403" in responses], id).toEqual([isOperators, isOperators, isOperators]);
			if (isOperators) expect(security, id).toEqual([{ OperatorKey: [role] }]);
			if (isOperators && method === "get") expect(role, id).toBe(path.startsWith("/operator/people") ? "admin" : "viewer");
		}
	});

	it("has no pattern that is another one without the flag u, and every operation a description", () => {
		expect(JSON.stringify(document)).not.toMatch(/"pattern":"[^"]*\\p\{/);
		expect(operations.filter(({ description = "" }) => description === "").map(({ id }) => id)).toEqual([]);
	});

	it("every parameter in a path is described, and only those", () => {
		for (const { id, path, parameters = [] } of operations) {
			const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
			expect(
				parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
				id,
			).toEqual(inPath);
		}
	});
});

describe("unit: the description for the operator", () => {
	it("says how `.` and `..` are written wherever whoever imports or reports chooses the id in the path", () => {
		const chosen = [/^\/operator\/(?:platforms|publishers)\/\{id\}$/, /^\/operator\/conversions\//];
		const paths = OPERATOR_API.operations.filter(({ path }) => chosen.some((pattern) => pattern.test(path)));
		const told = paths.flatMap(({ path, parameters = [] }) =>
			parameters
				.filter((parameter) => parameter.in === "path")
				.map(({ name, description: text }) => ({ path, name, told: text.includes("`%20`") })),
		);
		expect(told.length).toBeGreaterThan(0);
		expect(told.filter(({ told: isTold }) => !isTold)).toEqual([]);
	});

	it("every verb of the operator's that changes something can be asked what it would do, but for those that access.md names", () => {
		const without = OPERATOR_API.operations
			.filter(({ credential, method }) => credential === "OperatorKey" && method !== "get")
			.filter(({ parameters = [] }) => !parameters.some(({ name }) => name === "dry_run"))
			.map(({ id }) => id);
		const onlyRead = ["checkLedger", "explainBid", "listKeys", "traceConversion"];
		const writeWhereToldTo = ["reconcileStatement", "reconcileSums"];
		const nothingToPreview = ["moveDatabase", "rebuildLearning", "testCallback"];
		expect(without.sort()).toEqual([...onlyRead, ...writeWhereToldTo, ...nothingToPreview].sort());
	});

	it("names the answer of each verb, and what stands in it", () => {
		const { schemas } = writeOpenApi(OPERATOR_API, hosts, NOW).components as { schemas: Record<string, unknown> };
		const expected = [
			"Callback",
			"DeadLetters",
			"Explanation",
			"FeedReport",
			"ImportReport",
			"Keys",
			"NetworkBrand",
			"Status",
			"TracedClick",
		];
		expect(Object.keys(schemas)).toEqual(expect.arrayContaining(expected));
	});
});

describe("unit: the description for all", () => {
	it("names its schemas, so that generated clients have types with names", () => {
		const { schemas } = description.components as { schemas: Record<string, unknown> };
		const expected = [
			"AffiliateProductResults",
			"BidRequest",
			"BidResponse",
			"Brand",
			"ClickLevelReport",
			"MarketplaceProductResults",
			"PostbackAnswer",
			"RevenueShareReport",
			"ServingEngineResponse",
			"ValidationFailed",
		];
		expect(Object.keys(schemas)).toEqual(expect.arrayContaining(expected));
	});

	it("the publisher's callback is a webhook, with its five parameters and no credential", () => {
		const [callback] = PUBLIC_API.webhooks;
		const query = callback?.parameters?.filter((parameter) => parameter.in === "query").map(({ name }) => name);
		expect(query).toEqual(["txnid", "cid", "payout", "status", "edate"]);
		expect(description).toMatchObject({ webhooks: { conversion: { get: { operationId: callback?.id, security: [] } } } });
	});

	it("its requests go to the host it comes from, and those of real-time hosts to theirs", () => {
		expect(description).toMatchObject({ servers: [{ url: "/" }, { url: hosts.baseUrl }] });
		expect(description).toMatchObject({ paths: { "/click": { get: { servers: [{ url: hosts.clickUrl }] } } } });
		expect(description).toMatchObject({ paths: { "/serving-engine": { get: { servers: [{ url: hosts.rtbUrl }] } } } });
	});

	it("where one host serves all, every request goes to the host it comes from", () => {
		const one = { baseUrl: "https://one.test", rtbUrl: "http://one.test", clickUrl: "https://one.test" };
		expect(JSON.stringify(writeOpenApi(PUBLIC_API, one, NOW).paths)).not.toContain('"servers"');
	});

	it.each([
		["/api/reporting/revenue-share", { report_type: "daywise", start_date: "2026-02-24", end_date: "2026-03-02" }],
		["/api/reporting/clicklevel", { start_date: "2026-02-28", end_date: "2026-03-02" }],
	])("%s is tried with dates of the days before, as a form field by field", (path, fields) => {
		const [type, content] = ["application/x-www-form-urlencoded", { example: fields }];
		expect(description).toMatchObject({ paths: { [path]: { post: { requestBody: { content: { [type]: content } } } } } });
		const properties = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { examples: [value] }]));
		expect(description).toMatchObject({
			paths: { [path]: { post: { requestBody: { content: { [type]: { schema: { properties } } } } } } },
		});
	});
});
