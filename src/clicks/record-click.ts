/** Records a click after its redirect was answered: what is known of its visitor, what limits say of it, and off to the queue. */
import { within } from "../lib/async.ts";
import { splitConnection, wideNetworkOf } from "../lib/ip.ts";
import { logError } from "../lib/log.ts";
import { DEFAULT_POLICY, type TrafficPolicy } from "../lib/traffic-rules.ts";
import { hashConnection } from "./hash-connection.ts";
import { hashUserAgent } from "./hash-user-agent.ts";
import type { ClickMessage } from "./message.ts";
import { judge } from "./payable.ts";
import type { Place, RecentVisits } from "./recent-visits.ts";
import { type ClickSender, MAX_SENDING_MS } from "./send-click.ts";

export type ClickStore = {
	sender: Pick<ClickSender, "send">;
	/** Key of the hash of connections: an address cannot be found by trying them all. */
	connectionKey: string;
	/**
	 * Clicks a minute, by address, by a bid's token, and of stripped ones by publisher and address, and by publisher and IPv6 network of 48
	 * bits; absent where no limit is bound.
	 */
	limits: Partial<Record<"address" | "token" | "stripped" | "strippedNetwork", Limit | undefined>>;
	/** Visits that are written nowhere. */
	visits: RecentVisits;
};

type Limit = { limit: (of: { key: string }) => Promise<{ success: boolean }> };

/** What of a visitor is needed for a click's record, and goes no further. */
export type Visitor = { userAgent: string | null /** See `connectionOf`. */; connection: string | null };

/** How a click is recorded of whose visitor nothing may be kept; null for all others. */
export type Stripped = TrafficPolicy | null;

/** A limit that answers later than this limits nothing. */
const LIMIT_TIMEOUT_MS = 1_000;

/**
 * The longest that a click is being recorded, milliseconds: four limits, and sending it. What is done after an answer is cut off 30 s
 * later, and then nobody hears of it: so every step has an end of its own, and all of them together stay below that.
 */
export const MAX_RECORDING_MS = 4 * LIMIT_TIMEOUT_MS + MAX_SENDING_MS;

/**
 * Adds the hashes of user agent and connection to a click, holds it against the limits of its address and its token, and sends it.
 * Never rejects. No async function, for it is part of a redirect: nearly always hashes are known, and sending alone is waited for.
 */
export function recordClick(store: ClickStore, click: ClickMessage, visitor: Visitor, stripped: Stripped): Promise<void> {
	const { userAgent, connection } = visitor;
	try {
		const place = connection === null ? undefined : splitConnection(connection);
		const ofConnection = place === undefined ? undefined : hashConnection(store.connectionKey, place.site);
		const ofUserAgent = stripped !== null || userAgent === null || userAgent === "" ? undefined : hashUserAgent(userAgent);
		if (!(ofConnection instanceof Promise || ofUserAgent instanceof Promise))
			return recordHashed(store, click, visitor, { connection: ofConnection, network: place?.network, userAgent: ofUserAgent }, stripped);
		return Promise.all([ofConnection, ofUserAgent]).then(([ofThat, ofThis]) =>
			recordHashed(store, click, visitor, { connection: ofThat, network: place?.network, userAgent: ofThis }, stripped),
		);
	} catch (error) {
		return Promise.reject(error);
	}
}

/** `network` is no hash, but 8 bits that tell nothing without what the connection's hash is of. */
type Hashes = { connection: string | undefined; network: string | undefined; userAgent: string | undefined };

function recordHashed(store: ClickStore, click: ClickMessage, visitor: Visitor, hashes: Hashes, stripped: Stripped): Promise<void> {
	const { connection, network } = hashes;
	if (stripped === null) {
		click.connection = connection;
		if (network !== "") click.network = network;
		click.userAgentHash = hashes.userAgent;
	}
	const wide = stripped === null ? null : wideNetworkOf(visitor.connection ?? "");
	const send = () =>
		stripped === null ||
		connection === undefined ||
		holdAgainstRecent(store, click, { connection, network: wide, userAgent: `${network ?? ""}${visitor.userAgent ?? ""}` }, stripped)
			? store.sender.send(click)
			: Promise.resolve();
	const { address, token, stripped: ofStripped, strippedNetwork } = store.limits;
	const hasLimits =
		address !== undefined || token !== undefined || (stripped !== null && (ofStripped !== undefined || strippedNetwork !== undefined));
	if (!hasLimits) return send();
	return isOverLimit(store, click, { connection, wide }, stripped).then((isOver) => {
		if (isOver) click.reason ??= "velocity";
		return send();
	});
}

/** Holds a click against those that are remembered in memory alone. @returns whether it is to be recorded */
function holdAgainstRecent({ visits }: ClickStore, click: ClickMessage, place: Place, policy: TrafficPolicy): boolean {
	if (click.reason === undefined) {
		const { reason, flags } = judge(visits.factsOf(click, place, policy), policy);
		click.reason = reason ?? undefined;
		if (flags.length > 0) click.flags = [...new Set([...(click.flags ?? []), ...flags])];
	}
	return visits.remember(click, place, policy);
}

/** Past a limit a click is not paid. Where a limit fails it limits nothing. */
async function isOverLimit(
	{ limits, connectionKey }: ClickStore,
	{ kind, hash, publisher, reason }: ClickMessage,
	{ connection, wide }: { connection: string | undefined; wide: string | null },
	stripped: Stripped,
): Promise<boolean> {
	const refuses = async (limit: Limit | undefined, key: string) =>
		limit !== undefined && (await within(limit.limit({ key }), LIMIT_TIMEOUT_MS, null))?.success === false;
	try {
		if (connection !== undefined && (await refuses(limits.address, connection))) return true;
		// What is not paid anyway uses up nobody's.
		const isCounted = stripped?.modes.velocity === "unpaid" && connection !== undefined && reason === undefined;
		if (isCounted && (await refuses(limits.stripped, `${publisher} ${connection}`))) return true;
		// A limit has one number: a network that may have more in an hour than by default is told by memory alone.
		if (isCounted && wide !== null && stripped.networkPerHour <= DEFAULT_POLICY.networkPerHour) {
			if (await refuses(limits.strippedNetwork, `${publisher} ${await hashConnection(connectionKey, wide)}`)) return true;
		}
		// A bid's token is one auction's; a tracking link is everyone's.
		return kind !== "link" && (await refuses(limits.token, hash));
	} catch (error) {
		logError("click.limit_failed", error);
		return false;
	}
}
