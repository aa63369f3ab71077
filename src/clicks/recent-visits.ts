/**
 * Visits of users whose privacy signals say no, in this isolate's memory alone: nothing of them is written anywhere, and rules on repeats
 * and on too many clicks still find those that come to the same isolate (docs/decisions/0043).
 */
import { putBounded } from "../lib/bounded-map.ts";
import { hashOf } from "../lib/hash.ts";
import { HOUR_MS, hourOf, MINUTE_MS } from "../lib/time.ts";
import { isUnseen, type TrafficPolicy } from "../lib/traffic-rules.ts";
import type { ClickMessage } from "./message.ts";
import type { ClickFacts } from "./payable.ts";

/** Where a click came from: a keyed hash of its connection, its IPv6 network of 48 bits or null, and its browser. */
export type Place = { connection: string; network: string | null; userAgent: string };
/** `browser` is a hash of the user agent, which may be as long as headers may, `bid` one of the click hash. */
type Visit = { at: number; brandId: number; browser: number; bid: number };
/** Of `until` on no rule asks for it. */
type Connection = { visits: Visit[]; unpaid: number[]; until: number };

/** Connections that are remembered; the one that was idle for longest goes first. */
const MAX_CONNECTIONS = 10_000;
/** IPv6 networks of which an hour's paid clicks are remembered, likewise. */
const MAX_NETWORKS = 10_000;
/** All are gone through this often, if clicks come at all. */
const FORGETTING_MS = MINUTE_MS;
/** Clicks of one that are remembered: more than any rule counts by default. */
const MAX_CLICKS = 600;
/** Longest part of a user agent that is hashed, in UTF-16 units. */
const MAX_LENGTH = 1_024;

export class RecentVisits {
	readonly #connections = new Map<string, Connection>();
	/** Paid clicks of the present hour of the clock, by publisher and network. */
	readonly #networks = new Map<string, { hour: number; count: number }>();
	#forgotAt = 0;

	/** How many connections are remembered. */
	get size(): number {
		return this.#connections.size;
	}

	/** What earlier clicks of the visitor, of its connection and of its IPv6 network, where it has one, say of this one. */
	factsOf(click: ClickMessage, { connection, network, userAgent }: Place, policy: TrafficPolicy): ClickFacts {
		const { publisher, brandId, at, kind } = click;
		const near = this.#connections.get(keyOf(publisher, connection))?.visits ?? [];
		const browser = browserOf(userAgent);
		const bid = hashOf(click.hash);
		const ofVisitor = near.filter((visit) => visit.browser === browser);
		const lastHour = (visits: readonly Visit[]) => visits.filter((visit) => at - visit.at < HOUR_MS).length;
		return {
			duplicate: kind !== "link" && near.some((visit) => visit.bid === bid),
			repeat: ofVisitor.some((visit) => visit.brandId === brandId && at - visit.at < policy.repeatMinutes * MINUTE_MS),
			velocity:
				lastHour(ofVisitor) >= policy.visitorPerHour ||
				lastHour(near) >= policy.addressPerHour ||
				this.#paidOf(publisher, network, at) >= policy.networkPerHour,
		};
	}

	/**
	 * Remembers a click. @returns false where its connection has had so many unpaid ones in an hour that it need not be recorded: of a bid that
	 * its user has not seen it is all the same, since its sale is reviewed for that
	 */
	remember(click: ClickMessage, { connection, network, userAgent }: Place, policy: TrafficPolicy): boolean {
		const { publisher, brandId, at, reason, hash, kind } = click;
		if (at - this.#forgotAt >= FORGETTING_MS) this.#forget(at);
		const known = this.#keep(keyOf(publisher, connection));
		const windowMs = Math.max(HOUR_MS, policy.repeatMinutes * MINUTE_MS);
		known.until = Math.max(known.until, at + windowMs);
		known.visits = known.visits.filter((visit) => at - visit.at < windowMs).slice(1 - MAX_CLICKS);
		known.unpaid = known.unpaid.filter((time) => at - time < HOUR_MS);
		if (reason === undefined) {
			known.visits.push({ at, brandId, browser: browserOf(userAgent), bid: hashOf(hash) });
			if (network !== null) this.#countNetwork(publisher, network, at);
		} else if (known.unpaid.length >= MAX_CLICKS) return kind !== "link" && isUnseen(reason);
		else known.unpaid.push(at);
		return true;
	}

	#paidOf(publisher: string, network: string | null, at: number): number {
		const known = network === null ? undefined : this.#networks.get(keyOf(publisher, network));
		return known === undefined || known.hour !== hourOf(at) ? 0 : known.count;
	}

	#countNetwork(publisher: string, network: string, at: number): void {
		const count = this.#paidOf(publisher, network, at) + 1;
		putBounded(this.#networks, keyOf(publisher, network), { hour: hourOf(at), count }, MAX_NETWORKS);
	}

	#keep(key: string): Connection {
		const known = this.#connections.get(key) ?? { visits: [], unpaid: [], until: 0 };
		return putBounded(this.#connections, key, known, MAX_CONNECTIONS);
	}

	#forget(now: number): void {
		this.#forgotAt = now;
		for (const [key, { until }] of this.#connections) if (until <= now) this.#connections.delete(key);
		for (const [key, { hour }] of this.#networks) if (hour < hourOf(now)) this.#networks.delete(key);
	}
}

function browserOf(userAgent: string): number {
	return hashOf(userAgent.slice(0, MAX_LENGTH));
}

function keyOf(publisher: string, connection: string): string {
	return `${publisher} ${connection}`;
}
