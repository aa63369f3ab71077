/** What stands around every endpoint of a publisher's Access Key: whose it is, how often it may be used, and the headers. */
import type { Context } from "hono";
import type { Database } from "../db/client.ts";
import { answerHttpError } from "../http/errors.ts";
import type { Policy, PublisherLimit } from "../http/publisher-limit.ts";
import { assertGivenOnce, assertNoQuery } from "../http/read-input.ts";
import type { KeyOwners, Publisher } from "../keys/key-owners.ts";
import { HttpError, jsonResponse, unauthorized } from "../lib/http.ts";

export type PublisherDeps = { db: Database; keys: KeyOwners; now: () => number; limit: PublisherLimit };

/** Answers are the publisher's own, and change. */
const HEADERS = { "cache-control": "no-store", vary: "AccessKey" };

export type Verb<Of> = (owner: Of, c: Context) => Promise<object | null>;

/** Answers with what a verb gives for the key's publisher; null where that is no more. Suspended publishers are answered, too. */
export function answerOwner(deps: PublisherDeps, verb: Verb<string>) {
	return (c: Context): Promise<Response> => answer(deps, c, "publisher", verb);
}

/** Answers an active publisher; one that is suspended as by the lists of brands, as if its key were unknown. */
export function answerActive(deps: PublisherDeps, verb: Verb<Publisher>, policy: Policy = "publisher") {
	return (c: Context): Promise<Response> =>
		answer(deps, c, policy, async () => {
			const publisher = await deps.keys.findPublisher("access_key", c.req.header("AccessKey"), waitUntilOf(c));
			return publisher === null || publisher.status === "suspended" ? null : verb(publisher, c);
		});
}

async function answer(deps: PublisherDeps, c: Context, policy: Policy, verb: Verb<string>): Promise<Response> {
	const owner = await deps.keys.find("access_key", c.req.header("AccessKey"), waitUntilOf(c));
	if (owner === null) return unauthorized(HEADERS);
	const { headers: limits, refused } = await deps.limit.take(owner, policy);
	if (refused !== null) return refused;
	const headers = { ...HEADERS, ...limits };
	try {
		if (c.req.method === "POST") assertNoQuery(c);
		assertGivenOnce(c.req.queries());
		const body = await verb(owner, c);
		return body === null ? unauthorized(headers) : jsonResponse(body, 200, headers);
	} catch (error) {
		if (!(error instanceof HttpError)) throw error;
		const response = answerHttpError(error);
		for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
		return response;
	}
}

function waitUntilOf(c: Context) {
	return (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
}
