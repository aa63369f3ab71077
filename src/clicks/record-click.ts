/** Records a click after its redirect was answered: in the queue, or where that refuses it, in KV until the cron takes it. */
import { within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import type { TrafficPolicy } from "../lib/traffic-rules.ts";
import { type ClickBatches, MAX_KEEPING_MS } from "./click-batches.ts";
import { hashConnection } from "./hash-connection.ts";
import { hashUserAgent } from "./hash-user-agent.ts";
import type { ClickMessage } from "./message.ts";
import { judge } from "./payable.ts";
import type { RecentVisits } from "./recent-visits.ts";

export type ClickStore = {
	queue: { send(message: ClickMessage): Promise<unknown> };
	/** Where a click goes that the queue refuses. */
	batches: Pick<ClickBatches, "keep">;
	/** Waits before a try is repeated, in milliseconds. */
	pause: (milliseconds: number) => Promise<void>;
	/** Key of the hash of connections: an address cannot be found by trying them all. */
	connectionKey: string;
	/** Clicks a minute, by address, by a bid's token, and of stripped ones by publisher and address; absent where no limit is bound. */
	limits: { address: Limit | undefined; token: Limit | undefined; stripped: Limit | undefined };
	/** Visits that are written nowhere. */
	visits: RecentVisits;
};

type Limit = { limit: (of: { key: string }) => Promise<{ success: boolean }> };

/** What of a visitor is needed for a click's record, and goes no further. */
export type Visitor = { userAgent: string | null /** See `connectionOf`. */; connection: string | null };

/** How a click is recorded of whose visitor nothing may be kept; null for all others. */
export type Stripped = TrafficPolicy | null;

/** Stands in for a queue that is not bound: every click is kept in KV. */
export const CLICKS_UNBOUND: ClickStore["queue"] = {
	send: () => Promise.reject(new Error("the queue CLICKS is not bound")),
};

/**
 * What is done after an answer is cut off 30 s later, and then nobody hears of it. So every step has an end of its own, and all of them
 * together stay below that: {@link MAX_RECORDING_MS}.
 */
const SEND_TIMEOUT_MS = 3_000;
const SEND_PAUSES_MS = [100, 1_000];
/** A limit that answers later than this limits nothing. */
const LIMIT_TIMEOUT_MS = 1_000;

/** The longest that a click is being recorded, milliseconds: three limits, the queue, and KV. */
export const MAX_RECORDING_MS = 3 * LIMIT_TIMEOUT_MS + SEND_TIMEOUT_MS + MAX_KEEPING_MS;

/**
 * Adds the hashes of user agent and connection to a click, holds it against the limits of its address and its token, and sends it to
 * the queue. Never rejects. A click that neither the queue nor KV takes is told in the log, one line a click, so that they can be counted.
 */
export async function recordClick(
	store: ClickStore,
	click: ClickMessage,
	{ userAgent, connection }: Visitor,
	stripped: Stripped,
): Promise<void> {
	let hashOfConnection: string | undefined;
	if (connection !== null) {
		const hash = hashConnection(store.connectionKey, connection);
		hashOfConnection = hash instanceof Promise ? await hash : hash;
	}
	if (stripped === null) {
		click.connection = hashOfConnection;
		if (userAgent !== null && userAgent !== "") {
			const hash = hashUserAgent(userAgent);
			click.userAgentHash = hash instanceof Promise ? await hash : hash;
		}
	}
	const { address, token } = store.limits;
	const hasLimits = address !== undefined || token !== undefined || (stripped !== null && store.limits.stripped !== undefined);
	if (hasLimits && (await isOverLimit(store, click, hashOfConnection, stripped))) click.reason ??= "velocity";
	if (stripped === null || hashOfConnection === undefined || holdAgainstRecent(store, click, hashOfConnection, userAgent ?? "", stripped))
		await send(store, click);
}

/** Holds a click against those that are remembered in memory alone. @returns whether it is to be recorded */
function holdAgainstRecent(
	{ visits }: ClickStore,
	click: ClickMessage,
	connection: string,
	userAgent: string,
	policy: TrafficPolicy,
): boolean {
	if (click.reason === undefined) {
		const { reason, flags } = judge(visits.factsOf(click, connection, userAgent, policy), policy);
		click.reason = reason ?? undefined;
		if (flags.length > 0) click.flags = [...new Set([...(click.flags ?? []), ...flags])];
	}
	return visits.remember(click, connection, userAgent, policy);
}

/** Past a limit a click is not paid. Where a limit fails it limits nothing. */
async function isOverLimit(
	{ limits }: ClickStore,
	{ kind, hash, publisher }: ClickMessage,
	connection: string | undefined,
	stripped: Stripped,
): Promise<boolean> {
	const refuses = async (limit: Limit | undefined, key: string) =>
		limit !== undefined && (await within(limit.limit({ key }), LIMIT_TIMEOUT_MS, null))?.success === false;
	try {
		if (connection !== undefined && (await refuses(limits.address, connection))) return true;
		const isCounted = stripped?.modes.velocity === "unpaid" && connection !== undefined;
		if (isCounted && (await refuses(limits.stripped, `${publisher} ${connection}`))) return true;
		// A bid's token is one auction's; a tracking link is everyone's.
		return kind !== "link" && (await refuses(limits.token, hash));
	} catch (error) {
		logError("click.limit_failed", error);
		return false;
	}
}

/**
 * Sends a click, and keeps it where that fails or takes too long. A send that hangs (one of 57 s was seen) is not waited for: it may still
 * work, and then the same click comes twice and counts once. Nearly always there is one try, which has nothing of what others need.
 */
function send(store: ClickStore, click: ClickMessage): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	let isLate = false;
	// Async: one that throws at once is one that refuses, too.
	const attempt = async () => (isLate ? undefined : store.queue.send(click));
	const sent = () => {
		clearTimeout(timer);
		resolve();
	};
	const refused = (error: unknown) => {
		clearTimeout(timer);
		isLate = true;
		logError("click.queue_refused", error, { click: click.id });
		resolve(keepClick(store, click));
	};
	const timer = setTimeout(() => refused(new Error("the queue did not answer in time")), SEND_TIMEOUT_MS);
	attempt().then(sent, (error: unknown) => tryAgain(store, attempt, error).then(sent, refused));
	return promise;
}

async function keepClick({ batches }: ClickStore, click: ClickMessage): Promise<void> {
	try {
		await batches.keep(click);
	} catch (error) {
		const { id, hash, kind, publisher, brandId, campaignId, bidMicros, reason } = click;
		logError("click.lost", error, {
			click: id,
			hash,
			kind,
			publisher,
			brand: brandId,
			campaign: campaignId,
			bid_micros: bidMicros,
			reason,
		});
	}
}

/** @throws what the last try threw */
async function tryAgain(store: ClickStore, attempt: () => Promise<unknown>, error: unknown): Promise<void> {
	let last = error;
	for (const pauseMs of SEND_PAUSES_MS) {
		await store.pause(pauseMs);
		try {
			await attempt();
			return;
		} catch (again) {
			last = again;
		}
	}
	throw last;
}
