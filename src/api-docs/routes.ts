/** GET /openapi.json and GET /docs. */
import { Hono } from "hono";
import { jsonResponse } from "../lib/http.ts";
import { DESCRIBED } from "./operations/all.ts";
import { viewerFile } from "./viewer-page.ts";
import { type Hosts, writeOpenApi } from "./write-openapi.ts";

export function apiDocsRoutes(hosts: Hosts): Hono {
	const app = new Hono();
	let description: unknown;
	app.get("/openapi.json", () => {
		description ??= writeOpenApi(DESCRIBED, hosts);
		return jsonResponse(description, 200, { "access-control-allow-origin": "*", "cache-control": "public, max-age=300" });
	});
	app.get("/docs/*", (c) => {
		const path = c.req.path === "/docs/" ? "/docs" : c.req.path;
		return viewerFile(path, /\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) ?? c.notFound();
	});
	return app;
}
