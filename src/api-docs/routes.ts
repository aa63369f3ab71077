/** GET /openapi.json and /openapi-operator.json, GET /docs, which shows both, and GET /network.schema.json. */
import { Hono } from "hono";
import { jsonResponse } from "../lib/http.ts";
import { acceptsGzip } from "../lib/packed-file.ts";
import { utcDay } from "../lib/time.ts";
import { writeNetworkSchema } from "./network-schema.ts";
import type { Described } from "./operation.ts";
import { OPERATOR_API, PUBLIC_API } from "./operations/all.ts";
import type { Json } from "./schemas.ts";
import { viewerFile } from "./viewer-page.ts";
import { type Hosts, writeOpenApi } from "./write-openapi.ts";

/** Anyone may read the descriptions. They are written once a day: dates in them are of these days. */
const HEADERS = { "access-control-allow-origin": "*", "cache-control": "public, max-age=300" };

export function apiDocsRoutes(hosts: Hosts, now: () => number): Hono {
	const app = new Hono();
	const descriptions: Record<string, Described> = { "/openapi.json": PUBLIC_API, "/openapi-operator.json": OPERATOR_API };
	for (const [path, described] of Object.entries(descriptions)) {
		let written = { day: "", description: {} };
		app.get(path, () => {
			const at = now();
			if (written.day !== utcDay(at)) written = { day: utcDay(at), description: writeOpenApi(described, hosts, at) };
			return jsonResponse(written.description, 200, HEADERS);
		});
	}
	let networkSchema: Json | undefined;
	app.get("/network.schema.json", () => {
		networkSchema ??= writeNetworkSchema();
		return jsonResponse(networkSchema, 200, HEADERS);
	});
	// What is none of the viewer's files may be a guide.
	app.get("/docs/*", async (c, next) => {
		const path = c.req.path === "/docs/" ? "/docs" : c.req.path;
		return viewerFile(path, acceptsGzip(c.req.raw)) ?? next();
	});
	return app;
}
