/** The API reference: every route is described, and the page asks no other host for anything. */
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { openOrigin } from "../../src/origin.ts";
import "../support/worker-env.ts";
import { openStoredBook } from "../support/stored-book.ts";

type Description = { openapi: string; servers: { url: string }[]; paths: Record<string, Record<string, { operationId: string }>> };

const DESCRIPTIONS = ["/openapi.json", "/openapi-operator.json"] as const;

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
	return exports.default.fetch(`http://base.example${path}`, { headers });
}

describe("worker: API reference", () => {
	test.each([
		["/openapi.json", ["/openrtb/{publisher_identity}", "/serving-engine", "/api/brands-list", "/api/postback/{access_key}"]],
		["/openapi-operator.json", ["/operator/network", "/operator/status", "/health"]],
	])("%s is OpenAPI 3.1 for the host it comes from and the configured one, and may be kept for minutes", async (path, paths) => {
		const response = await get(path);
		expect(response.headers.get("content-type")).toBe("application/json");
		expect(response.headers.get("cache-control")).toBe("public, max-age=300");
		const description = await response.json<Description>();
		expect(description.openapi).toBe("3.1.0");
		expect(description.servers.map(({ url }) => url)).toEqual(["/", "http://localhost:8787"]);
		expect(Object.keys(description.paths)).toEqual(expect.arrayContaining(paths));
	});

	test("operations of the operator are in its description alone, and ids are unique in both together", async () => {
		const [open, operator] = await Promise.all(DESCRIPTIONS.map(async (path) => (await get(path)).json<Description>()));
		const isOperators = (path: string) => path.startsWith("/operator/");
		expect(Object.keys(open?.paths ?? {}).filter(isOperators)).toEqual([]);
		expect(Object.keys(operator?.paths ?? {}).filter((path) => !isOperators(path))).toEqual(["/health", "/ready"]);
		const ids = [open, operator].flatMap((description) =>
			Object.values(description?.paths ?? {}).flatMap((path) => Object.values(path).map(({ operationId }) => operationId)),
		);
		expect(new Set(ids).size).toBe(ids.length);
	});

	test("a report is tried with the days before the one it is read on", async () => {
		const { paths } = await (await get("/openapi.json")).json<{ paths: Record<string, { post: Body }> }>();
		type Body = { requestBody: { content: Record<string, { example: { start_date: string; end_date: string } }> } };
		const { start_date, end_date } = paths["/api/reporting/revenue-share"]?.post.requestBody.content["application/json"]?.example ?? {};
		const [start, end] = [Date.parse(start_date ?? ""), Date.parse(end_date ?? "")];
		expect((end - start) / 86_400_000).toBe(6);
		expect(Date.now() - end).toBeGreaterThanOrEqual(0);
		expect(Date.now() - end).toBeLessThan(2 * 86_400_000);
	});

	test("every route of the origin is described, but for the descriptions, their page, and what is for visitors", async () => {
		const documents = await Promise.all(DESCRIPTIONS.map(async (path) => (await get(path)).json<Description>()));
		const described = documents
			.flatMap(({ paths }) => Object.entries(paths))
			.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
		const { app } = openOrigin(env, openStoredBook());
		// `ALL` are middleware and what answers other methods than those that stand beside it. The console is for people.
		const routes = app.routes
			.filter(({ method, path }) => method !== "ALL" && !path.startsWith("/console"))
			.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
		expect(routes.length).toBeGreaterThan(15);
		expect([...new Set(routes)].filter((route) => !described.includes(route))).toEqual([
			"GET /openapi.json",
			"GET /openapi-operator.json",
			"GET /network.schema.json",
			"GET /docs/*",
			"GET /",
			"GET /favicon.ico",
			"GET /robots.txt",
		]);
	});

	test.each([
		["/docs", "text/html"],
		["/docs/start.js", "text/javascript"],
		["/docs/swagger-ui.css", "text/css"],
		["/docs/swagger-ui-bundle.js", "text/javascript"],
		["/docs/swagger-ui-standalone-preset.js", "text/javascript"],
	])("%s is served here, may not be framed, and loads nothing from elsewhere", async (path, type) => {
		const response = await get(path);
		expect(response.status).toBe(200);
		expect(response.headers.get("content-type")).toContain(type);
		expect(response.headers.get("x-content-type-options")).toBe("nosniff");
		const policy = response.headers.get("content-security-policy") ?? "";
		expect(policy).toContain("default-src 'none'; script-src 'self'");
		expect(policy).toContain("frame-ancestors 'none'");
		if (path === "/docs") expect(await response.text()).not.toMatch(/https?:\/\//);
		else await response.body?.cancel();
	});

	test("the page shows both descriptions, and keeps keys over a reload", async () => {
		const start = await (await get("/docs/start.js")).text();
		for (const path of DESCRIPTIONS) expect(start).toContain(`url: "${path}"`);
		expect(start).toContain("persistAuthorization: true");
	});

	test("a client without gzip gets the viewer's files plain", async () => {
		expect(await (await get("/docs/swagger-ui.css", { "accept-encoding": "identity" })).text()).toContain(".swagger-ui");
	});

	test.each(["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"])("%s has its license with it", async (file) => {
		const text = await (await get(`/docs/${file}`, { "accept-encoding": "identity" })).text();
		expect(text).toMatch(/\/\*!\nswagger-ui-dist \d+\.\d+\.\d+\n\n\s*Apache License/);
		expect(text).toContain("SmartBear Software");
		// Those of what is bundled in it in turn.
		expect(text.includes("safe-buffer. MIT License.")).toBe(file.endsWith(".js"));
	});

	test("a file that is not the viewer's is 404", async () => {
		const response = await get("/docs/package.json");
		expect(response.status).toBe(404);
		await response.body?.cancel();
	});
});
