import { Hono } from "hono";
import { jsonResponse } from "../../lib/http.ts";
import { type ImportDeps, importNetwork } from "./import-network.ts";

/** POST /operator/network with a network file. */
export function networkRoutes(deps: ImportDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => jsonResponse(await importNetwork(deps, c.req.raw.body ?? new Blob([]).stream())));
	return app;
}
