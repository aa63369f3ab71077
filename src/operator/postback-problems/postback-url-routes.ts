/** /operator/postback-url: the whole address that a platform is to call. GET shows it without a key; POST issues one for it. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { readBody, readDryRun, readQuery } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { issuePostbackUrl, type PostbackUrlDeps, postbackUrlSchema, previewPostbackUrl, showPostbackUrl } from "./give-postback-url.ts";

export function postbackUrlRoutes(deps: PostbackUrlDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await showPostbackUrl(deps, readQuery(postbackUrlSchema, c.req.query()))));
	app.post("/", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const wanted = await readBody(c.req.raw, postbackUrlSchema);
		return jsonResponse(await (isDryRun ? previewPostbackUrl(deps, wanted) : issuePostbackUrl(deps, actorOf(c), wanted)));
	});
	return app;
}
