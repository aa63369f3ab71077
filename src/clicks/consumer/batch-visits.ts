/** Paid clicks by who made them, as they come to be within a batch: what repeats, and what is too many of an hour. */
import { HOUR_MS, hourOf, MINUTE_MS } from "../../lib/time.ts";
import type { TrafficPolicy } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import type { ClickFacts } from "../payable.ts";
import { type ClickState, networkHourKey, type PaidNetwork, type PaidVisit } from "./click-state.ts";
import type { PublisherFacts } from "./facts.ts";

/** The earliest and latest paid click that may make one of these times a repeat or too many, milliseconds around them. */
export function visitWindowMs(policy: TrafficPolicy): number {
	return Math.max(HOUR_MS, policy.repeatMinutes * MINUTE_MS);
}

export class BatchVisits {
	readonly #visits = new Map<string, PaidVisit[]>();
	readonly #networks = new Map<string, PaidNetwork>();
	readonly #networksBefore: ReadonlyMap<string, number>;

	constructor({ visits, paidOfNetworks }: Pick<ClickState, "visits" | "paidOfNetworks">) {
		this.#networksBefore = paidOfNetworks;
		for (const visit of visits) this.#keepVisit(visit);
	}

	/** Networks of the clicks that were counted. */
	get networks(): PaidNetwork[] {
		return [...this.#networks.values()];
	}

	/** Counts a paid click. */
	count(click: ClickMessage, publisher: PublisherFacts | undefined, policy: TrafficPolicy): void {
		const visit = visitOf(click, publisher);
		if (visit !== null) this.#keepVisit(visit);
		this.#countNetwork(click, publisher, policy);
	}

	/** Nothing is told of a click whose publisher is not known, and little of one whose connection is not. */
	factsOf(click: ClickMessage, publisher: PublisherFacts | undefined, policy: TrafficPolicy): ClickFacts {
		if (publisher === undefined) return {};
		const { connection, at, brandId } = click;
		const isOfFullNetwork = this.#paidOfNetwork(click, publisher) >= policy.networkPerHour;
		if (connection === undefined) return { velocity: isOfFullNetwork };
		const near = this.#visits.get(visitsKey(publisher.id, connection)) ?? [];
		// Without a User-Agent its address is known, and no visitor.
		const browser = browserOf(click);
		const ofVisitor = near.filter((visit) => visit.userAgentHash === browser);
		return {
			repeat: ofVisitor.some(
				(visit) => !visit.isVoided && visit.brandId === brandId && Math.abs(visit.clickedAt - at) < policy.repeatMinutes * MINUTE_MS,
			),
			velocity: isOfFullNetwork || hasHourOf(policy.visitorPerHour, ofVisitor, at) || hasHourOf(policy.addressPerHour, near, at),
		};
	}

	/** Paid clicks of the click's hour, of its network where that is an IPv6 one. */
	#paidOfNetwork(click: ClickMessage, { id }: PublisherFacts): number {
		const network = networkOfClick(click);
		if (network === null) return 0;
		const key = networkHourKey(id, network, hourOf(click.at));
		return (this.#networksBefore.get(key) ?? 0) + (this.#networks.get(key)?.clickCount ?? 0);
	}

	#countNetwork(click: ClickMessage, publisher: PublisherFacts | undefined, { modes, networkPerHour }: TrafficPolicy): void {
		const network = networkOfClick(click);
		if (network === null || publisher === undefined) return;
		const hour = hourOf(click.at);
		const key = networkHourKey(publisher.id, network, hour);
		const counted = this.#networks.get(key);
		const before = this.#networksBefore.get(key) ?? 0;
		// Where a number decides nothing, no batch need be decided again for it.
		const most = modes.velocity === "unpaid" ? networkPerHour : Number.MAX_SAFE_INTEGER;
		if (counted === undefined) this.#networks.set(key, { publisherId: publisher.id, network, hour, before, clickCount: 1, most });
		else {
			counted.clickCount++;
			counted.most = Math.min(counted.most, most);
		}
	}

	#keepVisit(visit: PaidVisit): void {
		const key = visitsKey(visit.publisherId, visit.connection);
		const known = this.#visits.get(key);
		if (known === undefined) this.#visits.set(key, [visit]);
		else known.push(visit);
	}
}

/** Of a click that had none: it counts for its address, and repeats no visitor's. */
const NO_USER_AGENT = "";

/** A browser of a connection: that of another network of the site is another visitor's, though it is as many others are. */
function browserOf({ userAgentHash, network = "" }: ClickMessage): string | undefined {
	return userAgentHash === undefined ? undefined : userAgentHash + network;
}

/** The IPv6 network of 48 bits that a click came from; null for an IPv4 one, which has few more addresses than people. */
export function networkOfClick({ ipPrefix }: ClickMessage): string | null {
	return ipPrefix?.endsWith(WIDE_NETWORK) ? ipPrefix : null;
}

const WIDE_NETWORK = "::/48";

/** A paid click as the visit that later ones are held against; null where its connection or publisher is not known. */
export function visitOf(click: ClickMessage, publisher: PublisherFacts | undefined): PaidVisit | null {
	const { id, connection, brandId, at } = click;
	if (connection === undefined || publisher === undefined) return null;
	const userAgentHash = browserOf(click) ?? NO_USER_AGENT;
	return { clickId: id, publisherId: publisher.id, connection, userAgentHash, brandId, clickedAt: at, isVoided: false };
}

/** Whether any hour of which `at` is a part has as many visits: clicks arrive out of order, and later ones may be paid already. */
function hasHourOf(count: number, visits: readonly PaidVisit[], at: number): boolean {
	if (visits.length < count) return false;
	const times = visits.map(({ clickedAt }) => clickedAt).filter((time) => Math.abs(time - at) < HOUR_MS);
	if (times.length < count) return false;
	times.sort((a, b) => a - b);
	let most = 0;
	let first = 0;
	for (const [last, time] of times.entries()) {
		while ((times[first] ?? time) <= Math.max(time, at) - HOUR_MS) first++;
		most = Math.max(most, last - first + 1);
	}
	return most >= count;
}

function visitsKey(publisherId: string, connection: string): string {
	return `${connection} ${publisherId}`;
}
