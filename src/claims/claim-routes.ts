/** /api/claims, of publishers, and /operator/claims. */
import { type Context, Hono } from "hono";
import type { AdjustingDeps } from "../adjustments/deps.ts";
import { actorOf } from "../http/actor.ts";
import { answerHttpError } from "../http/errors.ts";
import { assertNoBody, limitBody, readBody, readDryRun, readQuery } from "../http/read-input.ts";
import { jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { answerActive, answerOwner, type PublisherDeps } from "../publisher-api/answer-publisher.ts";
import { keyActor } from "../publisher-api/own-callbacks.ts";
import {
	claimRequestSchema,
	claimsQuerySchema,
	grantSchema,
	MAX_CLAIM_BYTES,
	ownClaimsQuerySchema,
	wordsSchema,
} from "./claim-requests.ts";
import { listOwnClaims, openClaim, replyToClaim, withdrawClaim } from "./own-claims.ts";
import { answerClaim, declineClaim, grantClaim, listClaims } from "./settle-claims.ts";

export function ownClaimRoutes(deps: PublisherDeps): Hono {
	const app = new Hono();
	const actor = (publisher: string, c: Context) => keyActor(publisher, requestIdOf(c.req.raw, deps.now()));
	const idOf = (c: Context) => c.req.param("id") ?? "";
	app.get(
		"/claims",
		answerOwner(deps, (owner, c) => listOwnClaims(deps, owner, readQuery(ownClaimsQuerySchema, c.req.query()))),
	);
	app.post(
		"/claims",
		limitBody(MAX_CLAIM_BYTES),
		answerActive(deps, async ({ id }, c) => openClaim(deps, id, actor(id, c), await readBody(c.req.raw, claimRequestSchema))),
	);
	app.post(
		"/claims/:id/reply",
		limitBody(MAX_CLAIM_BYTES),
		answerActive(deps, async ({ id }, c) => {
			const { text } = await readBody(c.req.raw, wordsSchema);
			return replyToClaim(deps, id, actor(id, c), idOf(c), text);
		}),
	);
	app.post(
		"/claims/:id/withdraw",
		limitBody(MAX_CLAIM_BYTES),
		answerActive(deps, async ({ id }, c) => {
			await assertNoBody(c.req.raw);
			return withdrawClaim(deps, id, actor(id, c), idOf(c));
		}),
	);
	app.all("/claims", () => methodNotAllowed("GET, HEAD, POST"));
	for (const path of ["/claims/:id/reply", "/claims/:id/withdraw"]) app.all(path, () => methodNotAllowed("POST"));
	app.onError(answerHttpError);
	return app;
}

export function claimRoutes(adjusting: AdjustingDeps): Hono {
	const app = new Hono();
	const depsOf = (c: Context) => ({ ...adjusting, actor: actorOf(c) });
	const textOf = async (c: Context) => (await readBody(c.req.raw, wordsSchema)).text;
	app.get("/", async (c) => jsonResponse(await listClaims(adjusting, readQuery(claimsQuerySchema, c.req.query()))));
	for (const [verb, settle] of [
		["answer", answerClaim],
		["decline", declineClaim],
	] as const) {
		app.post(`/:id/${verb}`, async (c) => {
			const isDryRun = readDryRun(c.req.query());
			return jsonResponse(await settle(depsOf(c), c.req.param("id"), await textOf(c), { isDryRun }));
		});
	}
	app.post("/:id/grant", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		return jsonResponse(await grantClaim(depsOf(c), c.req.param("id"), await readBody(c.req.raw, grantSchema), { isDryRun }));
	});
	return app;
}
