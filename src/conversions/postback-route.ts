/**
 * GET or POST /api/postback/{access_key}: takes a postback in. Every answer is HTTP 200 with a body of answers.ts; success is only said
 * once the queue, or else the database, has the postback.
 */
import { Hono } from "hono";
import type { KeyOwners } from "../db/key-owners.ts";
import { jsonResponse } from "../lib/http.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { logError } from "../lib/log.ts";
import { decodeText } from "../lib/query.ts";
import { SECOND_MS } from "../lib/time.ts";
import { FAILED, invalid, type PostbackAnswer, RECEIVED, UNKNOWN_KEY } from "./answers.ts";
import type { Intake, Postback, PostbackMessage } from "./message.ts";
import { pickValues } from "./read-fields.ts";
import { readPostback } from "./read-postback.ts";
import { MAX_BODY_BYTES, MAX_QUERY_BYTES, readRequest } from "./read-request.ts";
import { type SettleDeps, settlePostbacks } from "./settle-postbacks.ts";
import type { UnknownKeyLimit } from "./unknown-key-limit.ts";

export type PostbackDeps = SettleDeps & {
	keys: Pick<KeyOwners, "find">;
	/** The POSTBACKS queue; without it, and where it fails, postbacks are settled at once. */
	postbacks: Pick<Queue, "send"> | undefined;
	unknownKeys: UnknownKeyLimit;
};

type WaitUntil = (promise: Promise<unknown>) => void;

const PATH = "/api/postback";
/** A queue that does not answer by then is taken for one that failed. The same postback twice is one postback. */
const SEND_TIMEOUT_MS = 5 * SECOND_MS;
const TOO_LARGE = `The query may hold at most ${MAX_QUERY_BYTES} bytes, and so may the body (${MAX_BODY_BYTES}).`;

export function postbackRoutes(deps: PostbackDeps): Hono {
	const app = new Hono();
	const answer = async (request: Request, waitUntil: WaitUntil) => jsonResponse(await takePostback(deps, request, waitUntil));
	// HEAD and the rest report nothing: a link checker must not make a sale.
	const route = (request: Request, waitUntil: WaitUntil) =>
		request.method === "GET" || request.method === "POST"
			? answer(request, waitUntil)
			: jsonResponse({ error: "Method not allowed" }, 405, { allow: "GET, POST" });
	app.all(PATH, (c) => route(c.req.raw, (promise) => c.executionCtx.waitUntil(promise)));
	app.all(`${PATH}/*`, (c) => route(c.req.raw, (promise) => c.executionCtx.waitUntil(promise)));
	return app;
}

async function takePostback(deps: PostbackDeps, request: Request, waitUntil: WaitUntil): Promise<PostbackAnswer> {
	const receivedAt = deps.now();
	try {
		const platform = await deps.keys.find("platform_key", readKey(request.url), waitUntil);
		const { fields, text, tooLarge } = await readRequest(request);
		const values = pickValues(fields);
		const record = (outcome: Intake["outcome"], answer: PostbackAnswer, postback: Postback | null): PostbackMessage => ({
			format: 1,
			kind: "postback",
			intake: {
				id: newTimeOrderedId(receivedAt),
				receivedAt,
				platform,
				method: request.method,
				query: text,
				txnid: ledgerId(values.get("txnid")),
				cid: ledgerId(values.get("cid")),
				outcome,
				answer: JSON.stringify(answer),
			},
			postback,
		});
		if (platform === null) {
			if (await deps.unknownKeys.allows(receivedAt)) waitUntil(keepQuietly(deps, record("unknown_key", UNKNOWN_KEY, null)));
			return UNKNOWN_KEY;
		}
		const { postback, errors } = tooLarge ? { postback: null, errors: { request: [TOO_LARGE] } } : readPostback(values, receivedAt);
		if (postback === null) {
			const answer = invalid(errors);
			waitUntil(keepQuietly(deps, record("rejected", answer, null)));
			return answer;
		}
		try {
			await keep(deps, record("accepted", RECEIVED, postback));
			return RECEIVED;
		} catch (error) {
			logError("postback.not_kept", error, { platform });
			waitUntil(keepQuietly(deps, record("failed", FAILED, null)));
			return FAILED;
		}
	} catch (error) {
		logError("postback.failed", error);
		return FAILED;
	}
}

/** Hands a message to the queue, or else settles it here. @throws Error where neither has it */
async function keep(deps: PostbackDeps, message: PostbackMessage): Promise<void> {
	if (deps.postbacks !== undefined) {
		try {
			return await withTimeout(deps.postbacks.send(message), SEND_TIMEOUT_MS);
		} catch (error) {
			logError("postback.not_queued", error);
		}
	}
	await settlePostbacks(deps, [message]);
}

/** For the ledger's sake alone: the answer does not depend on it. */
async function keepQuietly(deps: PostbackDeps, message: PostbackMessage): Promise<void> {
	try {
		await keep(deps, message);
	} catch (error) {
		logError("postback.not_in_ledger", error, { outcome: message.kind === "postback" ? message.intake.outcome : null });
	}
}

async function withTimeout(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | null = null;
	const expired = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error("the queue did not answer in time")), timeoutMs);
	});
	try {
		await Promise.race([promise, expired]);
	} finally {
		clearTimeout(timer);
	}
}

/** What stands in the path after the endpoint, a closing slash aside. */
function readKey(url: string): string {
	const path = url.slice(url.indexOf(PATH) + PATH.length + 1).split(/[?#]/, 1)[0] ?? "";
	return decodeText(path.replaceAll("+", "%2B").replace(/\/$/, ""));
}

/** Ids in the ledger are for finding; what could not be one is in the query text. */
function ledgerId(text: string | undefined): string | null {
	return text === undefined ? null : text.slice(0, 255).toWellFormed();
}
