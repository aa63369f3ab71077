/** The API reference: every route is described, and the page asks no other host for anything. */
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { openOrigin } from "../../src/origin.ts";
import "../support/worker-env.ts";

type Description = { openapi: string; servers: { url: string }[]; paths: Record<string, Record<string, { operationId: string }>> };

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
	return exports.default.fetch(`http://base.example${path}`, { headers });
}

describe("worker: API reference", () => {
	test("/openapi.json is OpenAPI 3.1 with the configured hosts, and operation ids are unique", async () => {
		const response = await get("/openapi.json");
		expect(response.headers.get("content-type")).toBe("application/json");
		const description = await response.json<Description>();
		expect(description.openapi).toBe("3.1.0");
		expect(description.servers).toEqual([{ url: "http://localhost:8787" }]);
		const ids = Object.values(description.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
		expect(new Set(ids).size).toBe(ids.length);
		expect(Object.keys(description.paths)).toEqual(expect.arrayContaining(["/openrtb/{publisher_identity}", "/serving-engine"]));
	});

	test("every route of the origin is described, but for the description and its page", async () => {
		const { paths } = await (await get("/openapi.json")).json<Description>();
		const described = Object.entries(paths).flatMap(([path, methods]) =>
			Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
		);
		const { app } = openOrigin(env, new CampaignBook(env.BOOK, { snapshotTtlMs: 15_000 }));
		// `ALL` are middleware and what answers other methods than those that stand beside it.
		const routes = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
		expect(routes.length).toBeGreaterThan(15);
		expect(routes.filter((route) => !described.includes(route))).toEqual(["GET /openapi.json", "GET /docs/*"]);
	});

	test.each([
		["/docs", "text/html"],
		["/docs/start.js", "text/javascript"],
		["/docs/swagger-ui.css", "text/css"],
		["/docs/swagger-ui-bundle.js", "text/javascript"],
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

	test("a client without gzip gets the viewer's files plain", async () => {
		expect(await (await get("/docs/swagger-ui.css", { "accept-encoding": "identity" })).text()).toContain(".swagger-ui");
	});

	test("a file that is not the viewer's is 404", async () => {
		const response = await get("/docs/package.json");
		expect(response.status).toBe(404);
		await response.body?.cancel();
	});
});
