/**
 * GET or POST /api/postback/{access_key}: takes a postback in. Every answer is HTTP 200 with a body of answers.ts; success is only said
 * once the queue, or else the database, has the postback.
 */
import type { FailedKeys } from "../http/failed-keys.ts";
import type { KeyOwners, PlatformSender } from "../keys/key-owners.ts";
import { type WaitUntil, within } from "../lib/async.ts";
import { inTime } from "../lib/away.ts";
import { sha256 } from "../lib/bytes.ts";
import { jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { logError } from "../lib/log.ts";
import { logErrorOnce } from "../lib/log-limit.ts";
import type { Measure } from "../lib/measure.ts";
import type { PerMinute } from "../lib/per-minute.ts";
import { decodeText } from "../lib/query.ts";
import { originHeaders, requestIdOf } from "../lib/request-id.ts";
import { isPathAt, pathStartOf } from "../lib/request-url.ts";
import { SECOND_MS } from "../lib/time.ts";
import { FAILED, invalid, type PostbackAnswer, RECEIVED, UNKNOWN_KEY } from "./answers.ts";
import { findSenderFault } from "./check-sender.ts";
import { type Intake, inBrief, MESSAGE_FORMAT, type Postback, type ReceivedPostback } from "./message.ts";
import type { PostbackBatcher } from "./postback-batcher.ts";
import { pickValues } from "./read-fields.ts";
import { readPostback } from "./read-postback.ts";
import { readRequest } from "./read-request.ts";
import { type SettleDeps, settlePostbacks } from "./settle-postbacks.ts";
import type { UnknownKeyLimit } from "./unknown-key-limit.ts";

export type PostbackDeps = SettleDeps & {
	keys: Pick<KeyOwners, "findPlatform" | "trustPlatform" | "findFormerPlatform" | "mayBeValid">;
	/** Whether the keys of this database are not, or not all, those of the network, which another has; absent where there is no other. */
	areKeysElsewhere?: (() => Promise<boolean>) | undefined;
	failedKeys: FailedKeys;
	/** The POSTBACKS queue; without it, and where it fails, postbacks are settled at once. */
	postbacks: PostbackBatcher | undefined;
	unknownKeys: UnknownKeyLimit;
	/** What this isolate has taken of each platform, and what it has refused. */
	perMinute: PerMinute;
	/** Told of every postback; absent where nobody counts them. */
	measure?: Measure | undefined;
};

/** How many postbacks that may not be the platform's an isolate puts into the ledger in a minute, of each platform. */
const MAX_REFUSED_KEPT_PER_MINUTE = 60;
/** Of one platform's ended keys: whoever has a leaked one must not push what the platform itself sends out of sight. */
const MAX_ENDED_TOLD_PER_MINUTE = 5;

/** How long a platform waits for the database: one that hangs up before its answer may be rid of its postback, and never send it again. */
const DATABASE_TIMEOUT_MS = 2 * SECOND_MS;
/** How long it waits to be settled at once, where there is no queue, or none that takes it. */
const SETTLING_TIMEOUT_MS = 5 * SECOND_MS;

const PATH = "/api/postback";

/** Asks nothing of a postback but that it can be read. */
const ANY_SENDER = { sourceRanges: null, postbackSecret: null };

/** Answers a postback; null where the path is another's. Recognised by its path, before any router, like a bid. */
export function routePostback(deps: PostbackDeps, request: Request, waitUntil: WaitUntil): Promise<Response> | null {
	const { url } = request;
	return isPathAt(url, pathStartOf(url), PATH, true) ? serve(deps, request, waitUntil) : null;
}

/** HEAD and the like report nothing: a link checker must not make a sale. */
async function serve(deps: PostbackDeps, request: Request, waitUntil: WaitUntil): Promise<Response> {
	const receivedAt = deps.now();
	const headers = { ...originHeaders(request, receivedAt), "cache-control": "no-store" };
	if (request.method !== "GET" && request.method !== "POST") return methodNotAllowed("GET, POST", headers);
	return jsonResponse(await takePostback(deps, request, receivedAt, waitUntil), 200, headers);
}

async function takePostback(deps: PostbackDeps, request: Request, receivedAt: number, waitUntil: WaitUntil): Promise<PostbackAnswer> {
	try {
		const key = readKey(request.url);
		const beforeLong: BeforeLong = (promise, late) => within(promise, receivedAt + DATABASE_TIMEOUT_MS - deps.now(), late);
		if (deps.failedKeys.secondsRefused(request) > 0 && !(await beforeLong(deps.keys.mayBeValid(key), true))) {
			count(deps, "", "unknown_key", null);
			return UNKNOWN_KEY;
		}
		const sender = await findSender(deps, key, beforeLong, waitUntil);
		if (sender === UNREAD) return await takeUnclaimed(deps, key, request, receivedAt);
		const { fields, sent, text } = await readRequest(request);
		const values = pickValues(fields);
		const id = requestIdOf(request, receivedAt);
		const received: Received = { id, receivedAt, platform: sender?.id ?? null, method: request.method, query: text, values };
		if (sender === null) {
			await deps.failedKeys.count(request);
			if (await deps.unknownKeys.allows(receivedAt)) {
				const former = await within(deps.keys.findFormerPlatform(key), DATABASE_TIMEOUT_MS, null);
				const isTold = former !== null && deps.perMinute.count(`ended ${former}`, receivedAt) <= MAX_ENDED_TOLD_PER_MINUTE;
				const platform = isTold ? former : null;
				waitUntil(keepQuietly(deps, waitUntil, toMessage(inBrief({ ...received, platform }), "unknown_key", UNKNOWN_KEY, null)));
			}
			count(deps, "", "unknown_key", null);
			return UNKNOWN_KEY;
		}
		const address = request.headers.get("CF-Connecting-IP");
		const fault = await findSenderFault(sender, { text: sent, signature: values.get("sig"), address });
		if (fault !== null) {
			const answer = invalid(fault);
			count(deps, sender.id, "rejected", null);
			if (deps.perMinute.count(`refused ${sender.id}`, receivedAt) <= MAX_REFUSED_KEPT_PER_MINUTE) {
				waitUntil(keepQuietly(deps, waitUntil, toMessage(inBrief(received), "rejected", answer, null)));
			}
			return answer;
		}
		const over = countOverRate(deps, sender, receivedAt);
		if (over > 0) {
			count(deps, sender.id, "failed", null);
			if (over === 1) waitUntil(keepQuietly(deps, waitUntil, toMessage(received, "failed", FAILED, null)));
			return FAILED;
		}
		return await takeFromPlatform(deps, sender.id, received, waitUntil);
	} catch (error) {
		logError("postback.failed", error);
		return FAILED;
	}
}

const UNREAD = Symbol("unread");
/** What a promise comes to, or `late` where the database has had its time: of one request, all waits together. */
type BeforeLong = <Value, Late>(promise: Promise<Value>, late: Late) => Promise<Value | Late>;

/** The platform whose key it is, or null; `UNREAD` where the database does not say, or not in time. */
async function findSender(
	deps: PostbackDeps,
	key: string,
	beforeLong: BeforeLong,
	waitUntil: WaitUntil,
): Promise<PlatformSender | null | typeof UNREAD> {
	try {
		const finding = deps.keys.findPlatform(key, waitUntil);
		const sender = await beforeLong(finding, UNREAD);
		if (sender === UNREAD) {
			// What it comes to is for the postbacks after this one.
			waitUntil(Promise.allSettled([finding]));
			// Without a queue its postback would only wait for the same database again.
			if (deps.postbacks === undefined) throw new Error("the database did not answer in time");
			return (await deps.keys.trustPlatform(key)) ?? UNREAD;
		}
		if (sender !== null || deps.areKeysElsewhere === undefined) return sender;
		return (await beforeLong(deps.areKeysElsewhere(), true)) ? UNREAD : null;
	} catch (error) {
		logErrorOnce("postback.key_unread", error, deps.now());
		return UNREAD;
	}
}

/**
 * Takes a postback while it cannot be told whose it is: no conversion is lost for that. The queue keeps it, and its consumer finds out
 * (claim-postbacks.ts). Without a queue it is a failure.
 */
async function takeUnclaimed(deps: PostbackDeps, key: string, request: Request, receivedAt: number): Promise<PostbackAnswer> {
	if (deps.postbacks === undefined) return FAILED;
	const { fields, sent, text } = await readRequest(request);
	const values = pickValues(fields);
	const [signature = null, address] = [values.get("sig"), request.headers.get("CF-Connecting-IP")];
	const fault = await findSenderFault(ANY_SENDER, { text: sent, signature: undefined, address });
	const { postback, errors } = readPostback(values, receivedAt);
	if (fault !== null) return invalid(fault);
	if (postback === null) return invalid(errors);
	const id = requestIdOf(request, receivedAt);
	const received: Received = { id, receivedAt, platform: null, method: request.method, query: text, values };
	await deps.postbacks.sendAlone({
		format: MESSAGE_FORMAT,
		kind: "unclaimed",
		keyHash: (await sha256(key)).toHex(),
		sent: signature === null ? "" : (sent ?? ""),
		signature,
		address,
		intake: toMessage(received, "accepted", RECEIVED, postback).intake,
		postback,
	});
	return RECEIVED;
}

/** Takes a postback that is its platform's. */
async function takeFromPlatform(deps: PostbackDeps, platform: string, received: Received, waitUntil: WaitUntil): Promise<PostbackAnswer> {
	const { postback, errors } = readPostback(received.values, received.receivedAt);
	if (postback === null) {
		const answer = invalid(errors);
		count(deps, platform, "rejected", null);
		waitUntil(keepQuietly(deps, waitUntil, toMessage(received, "rejected", answer, null)));
		return answer;
	}
	try {
		await keep(deps, toMessage(received, "accepted", RECEIVED, postback), waitUntil);
		count(deps, platform, "accepted", postback);
		return RECEIVED;
	} catch (error) {
		count(deps, platform, "failed", null);
		logError("postback.not_kept", error, { platform, request: received.id });
		waitUntil(keepQuietly(deps, waitUntil, toMessage(received, "failed", FAILED, null)));
		return FAILED;
	}
}

/** By how many this postback is over its platform's rate, in this isolate and minute; 0 where it is not. */
function countOverRate({ perMinute }: PostbackDeps, { id, postbacksPerMinute }: PlatformSender, receivedAt: number): number {
	return postbacksPerMinute === null ? 0 : Math.max(0, perMinute.count(`taken ${id}`, receivedAt) - postbacksPerMinute);
}

/** Whose conversion it is shows only later: a postback is counted for its platform. */
function count({ measure }: PostbackDeps, platform: string, outcome: Intake["outcome"], postback: Postback | null): void {
	measure?.({ event: "postback", publisher: "", outcome, channel: platform, amountMicros: postback?.payoutMicros ?? 0 });
}

type Received = Pick<Intake, "id" | "receivedAt" | "platform" | "method" | "query"> & { values: ReadonlyMap<string, string> };

function toMessage(received: Received, outcome: Intake["outcome"], answer: PostbackAnswer, postback: Postback | null): ReceivedPostback {
	const { id, receivedAt, platform, method, query, values } = received;
	return {
		format: 1,
		kind: "postback",
		intake: {
			id,
			receivedAt,
			platform,
			method,
			query,
			txnid: postback?.txnid ?? ledgerId(values.get("txnid")),
			cid: postback?.cid ?? ledgerId(values.get("cid")),
			outcome,
			answer: JSON.stringify(answer),
		},
		postback,
	};
}

/** Hands a message to the queue, or else settles it here. @throws Error where neither has it, or not in time */
async function keep(deps: PostbackDeps, message: ReceivedPostback, waitUntil: WaitUntil): Promise<void> {
	if (deps.postbacks !== undefined) {
		try {
			return await deps.postbacks.send(message, waitUntil);
		} catch (error) {
			logErrorOnce("postback.not_queued", error, deps.now());
		}
	}
	const settling = settlePostbacks(deps, [message]);
	// What is settled after all is settled: a platform that was told otherwise sends it again, which changes nothing.
	let isLate = false;
	waitUntil(
		settling.catch((error: unknown) => {
			if (isLate) logErrorOnce("postback.not_settled", error, deps.now());
		}),
	);
	try {
		await inTime(settling, SETTLING_TIMEOUT_MS, "the database");
	} catch (error) {
		isLate = true;
		throw error;
	}
}

/** Only for the ledger: the answer does not depend on it. */
async function keepQuietly(deps: PostbackDeps, waitUntil: WaitUntil, message: ReceivedPostback): Promise<void> {
	try {
		await keep(deps, message, waitUntil);
	} catch (error) {
		logError("postback.not_in_ledger", error, { outcome: message.intake.outcome });
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
