/** POST /operator/keys/issue, rotate, revoke and list. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readDryRun } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { logError } from "../../lib/log.ts";
import { type Credentials, type Issued, isName, isSigning, type Revoked } from "./keys-answers.ts";
import { readKeyRequest } from "./keys-request.ts";
import { issueSecret, listSecrets, revokeSecrets, type SecretsDeps } from "./manage-callback-secrets.ts";
import { issueKey, type KeysDeps, listKeys, revokeKeys, rotateKey } from "./manage-keys.ts";
import { endNames, listNames, rotateName } from "./manage-names.ts";
import { readGrant, readPresentGrant } from "./operator-grant.ts";
import { previewNew, previewRevocation } from "./preview-keys.ts";

export type KeysRoutesDeps = KeysDeps &
	SecretsDeps & {
		/** Lets this isolate see the change at once, and publishes what the edge needs of it. */
		publish: () => Promise<unknown>;
	};

const NO_STORE = { "cache-control": "no-store" };

export function keysRoutes(deps: KeysRoutesDeps): Hono {
	const app = new Hono();
	app.post("/issue", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const { kind, owner, ...granted } = await readKeyRequest("issue", c.req.raw);
		if (isName(kind)) throw invalidInput([{ path: "kind", message: "every publisher has one: rotate it" }]);
		const grant = isSigning(kind) ? undefined : readGrant({ kind, owner, ...granted }, deps.now());
		if (isDryRun) return jsonResponse(await previewNew(deps, { kind, owner, grant }, null), 200, NO_STORE);
		if (isSigning(kind)) return answer({ issued: await issueSecret(deps, actorOf(c), owner) });
		return answer({ issued: await issueKey(deps, actorOf(c), { kind, owner, grant }) });
	});
	app.post("/rotate", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const { kind, owner, overlap_hours: overlapHours, expires, value } = await readKeyRequest("rotate", c.req.raw);
		const isOperators = kind === "operator_key";
		if (!isOperators && expires !== undefined) throw invalidInput([{ path: "expires", message: "is of operator keys alone" }]);
		if (!isName(kind) && value !== undefined) throw invalidInput([{ path: "value", message: "cannot be chosen for a key" }]);
		const grant = isOperators ? await readPresentGrant(deps.db, owner, expires, deps.now()) : undefined;
		if (isDryRun) return jsonResponse(await previewNew(deps, { kind, owner, grant, value }, overlapHours), 200, NO_STORE);
		if (isName(kind)) return answer({ issued: await rotateName(deps, actorOf(c), { kind, owner, overlapHours, value }) });
		if (isSigning(kind)) return answer({ issued: await issueSecret(deps, actorOf(c), owner, overlapHours) });
		return answer({ issued: await rotateKey(deps, actorOf(c), { kind, owner, grant, overlapHours }) });
	});
	app.post("/revoke", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const { kind, owner, id } = await readKeyRequest("revoke", c.req.raw);
		if (isDryRun) return jsonResponse(await previewRevocation(deps, kind, owner, id), 200, NO_STORE);
		if (isSigning(kind)) return answer({ revoked: await revokeSecrets(deps, actorOf(c), owner, id) });
		const end = isName(kind) ? endNames(deps, actorOf(c), { kind, owner, id }) : revokeKeys(deps, actorOf(c), { kind, owner, id });
		return answer({ revoked: await end });
	});
	app.post("/list", async (c) => {
		const wanted = await readKeyRequest("list", c.req.raw);
		const names = wanted.kind === undefined || isName(wanted.kind) ? await listNames(deps, wanted) : [];
		const keys = wanted.kind === undefined || !isName(wanted.kind) ? await listKeys(deps, wanted) : [];
		const secrets = wanted.kind === undefined || isSigning(wanted.kind) ? await listSecrets(deps, wanted.owner) : [];
		return jsonResponse({ keys: [...names, ...keys, ...secrets] } satisfies Credentials, 200, NO_STORE);
	});

	/** The change is done: where the book cannot be published now, the cron publishes it within a minute. */
	async function answer(done: Omit<Issued, "published"> | Omit<Revoked, "published">): Promise<Response> {
		let published = true;
		try {
			await deps.publish();
		} catch (error) {
			logError("keys.publish_failed", error);
			published = false;
		}
		return jsonResponse({ ...done, published } satisfies Issued | Revoked, 200, NO_STORE);
	}

	return app;
}
