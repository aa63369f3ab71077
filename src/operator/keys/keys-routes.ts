/** POST /operator/keys/issue, rotate, revoke and list. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { readDryRun } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import type { Credentials } from "./keys-answers.ts";
import { readKeyRequest } from "./keys-request.ts";
import {
	issueCredential,
	type KeyVerbDeps,
	listCredentials,
	previewIssue,
	previewRevoking,
	previewRotation,
	revokeCredentials,
	rotateCredential,
} from "./run-key-verbs.ts";

export function keysRoutes(deps: KeyVerbDeps): Hono {
	const app = new Hono();
	app.post("/issue", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readKeyRequest("issue", c.req.raw);
		return jsonResponse(isDryRun ? await previewIssue(deps, request) : await issueCredential(deps, actorOf(c), request));
	});
	app.post("/rotate", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readKeyRequest("rotate", c.req.raw);
		return jsonResponse(isDryRun ? await previewRotation(deps, request) : await rotateCredential(deps, actorOf(c), request));
	});
	app.post("/revoke", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readKeyRequest("revoke", c.req.raw);
		return jsonResponse(isDryRun ? await previewRevoking(deps, request) : await revokeCredentials(deps, actorOf(c), request));
	});
	app.post("/list", async (c) =>
		jsonResponse({ keys: await listCredentials(deps, await readKeyRequest("list", c.req.raw)) } satisfies Credentials),
	);
	return app;
}
