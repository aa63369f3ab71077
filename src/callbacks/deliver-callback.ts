/** One delivery: claim, call, record, and let go ahead what waited for it. */
import type { Database } from "../db/client.ts";
import { logInfo } from "../lib/log.ts";
import type { Measure } from "../lib/measure.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type AttemptDeps, attemptCallback } from "./attempt-callback.ts";
import { openSecrets } from "./callback-secrets.ts";
import { claimCallback } from "./claim-callback.ts";
import { type CallbackQueue, enqueueCallbacks } from "./enqueue.ts";
import { isSoon, recordDelivered, recordFailed, recordNoUrl } from "./record-attempt.ts";
import { releasePaused } from "./release-paused.ts";
import { scheduleRetry } from "./schedule.ts";

export type CallbackDeps = AttemptDeps & {
	db: Database;
	queue: CallbackQueue;
	/** Opens the secrets that callbacks are signed with. */
	box: SecretBox;
	/** 0 to 1: the jitter of retries. */
	chance: () => number;
	/** Told of every attempt; absent where nobody counts them. */
	measure?: Measure | undefined;
};

/** A call of a publisher's address, until all was read that is kept of its answer. */
export type CallTime = { publisherId: string; milliseconds: number };

/**
 * Delivers a callback if it is due; what it says then is in the outbox. At least once: where the publisher's 2xx is lost, or the
 * database fails after it, the publisher is called again with the same Idempotency-Key.
 * @returns how long the call took; null where there was none
 * @throws where the database fails; whatever the receiver does is an outcome
 */
export async function deliverCallback(deps: CallbackDeps, id: string): Promise<CallTime | null> {
	const { db, queue, now } = deps;
	const claimed = await claimCallback(deps, id);
	if (claimed === null) return null;
	const { url, publisherId } = claimed;
	if (url === null) {
		const { next } = await recordNoUrl(db, claimed, now());
		await enqueueCallbacks(queue, next);
		return null;
	}
	const secrets = await openSecrets(deps.box, publisherId, claimed.secrets);
	const attempt = await attemptCallback(deps, { url, facts: claimed, secrets });
	const at = now();
	const time = { publisherId, milliseconds: at - attempt.startedAt };
	deps.measure?.({
		event: "callback",
		publisher: publisherId,
		outcome: attempt.httpStatus === null ? "no answer" : String(attempt.httpStatus),
		channel: claimed.status,
		amountMicros: claimed.payoutMicros,
		milliseconds: attempt.latencyMs,
	});
	if (attempt.confirmed) {
		const { next, resumed } = await recordDelivered(db, claimed, url, attempt, at);
		logInfo("callback.delivered", { id, request: claimed.intakeId, publisher: publisherId, status: attempt.httpStatus });
		await enqueueCallbacks(queue, next);
		if (resumed) {
			logInfo("callbacks.resumed", { publisher: publisherId });
			await releasePaused(deps, publisherId);
		}
		return time;
	}
	const retryAt = scheduleRetry({ step: claimed.scheduleStep, now: at, retryAfterMs: attempt.retryAfterMs, chance: deps.chance() });
	const recorded = await recordFailed(db, claimed, url, attempt, retryAt, at);
	const { state } = recorded;
	logInfo("callback.failed", {
		id,
		request: claimed.intakeId,
		publisher: publisherId,
		status: attempt.httpStatus,
		state,
		probe: claimed.probe,
	});
	if (recorded.paused) logInfo("callbacks.paused", { publisher: publisherId });
	if (recorded.retryAt !== null && isSoon(recorded.retryAt, at)) {
		await enqueueCallbacks(queue, [id], Math.ceil((recorded.retryAt - at) / SECOND_MS));
	}
	return time;
}
