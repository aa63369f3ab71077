/** GET /api/conversions/changes and GET /api/brands/changes: what has changed for the publisher that asks. */
import { Hono } from "hono";
import type { LinkTokens } from "../click-token/link-token.ts";
import { readQuery } from "../http/read-input.ts";
import { methodNotAllowed } from "../lib/http.ts";
import { answerOwner, type PublisherDeps } from "../publisher-api/answer-publisher.ts";
import { brandChangesQuery, conversionChangesQuery } from "./feed-cursor.ts";
import { readBrandChanges } from "./read-brand-changes.ts";
import { readConversionChanges } from "./read-conversion-changes.ts";

export type ChangesDeps = PublisherDeps & {
	links: LinkTokens;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
};

export function changesRoutes(deps: ChangesDeps): Hono {
	const app = new Hono();
	app.get(
		"/conversions/changes",
		answerOwner(deps, (owner, c) => readConversionChanges(deps.db, owner, readQuery(conversionChangesQuery, c.req.query()))),
	);
	app.get(
		"/brands/changes",
		answerOwner(deps, (owner, c) => readBrandChanges(deps, owner, readQuery(brandChangesQuery, c.req.query()))),
	);
	for (const path of ["/conversions/changes", "/brands/changes"]) app.all(path, () => methodNotAllowed("GET, HEAD"));
	return app;
}
