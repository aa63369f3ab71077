/** What the service has acknowledged: the books that the soak test keeps by itself, to hold against the service's. */
import { SHARE } from "./network.ts";

export type Kind = "bid" | "click" | "postback" | "report";
export type Order = { status: string; payoutCents: number };

export class Tally {
	readonly counts: Record<Kind, { good: number; failed: number }> = {
		bid: { good: 0, failed: 0 },
		click: { good: 0, failed: 0 },
		postback: { good: 0, failed: 0 },
		report: { good: 0, failed: 0 },
	};
	/** Redirects that were answered, by click hash. */
	readonly redirects = new Map<string, number>();
	/** How each order was last acknowledged, by txnid. */
	readonly orders = new Map<string, Order>();

	answered(kind: Kind, good: boolean): void {
		this.counts[kind][good ? "good" : "failed"] += 1;
	}

	redirected(hash: string): void {
		this.redirects.set(hash, (this.redirects.get(hash) ?? 0) + 1);
	}

	reported(txnid: string, status: string, payoutCents: number): void {
		this.orders.set(txnid, { status, payoutCents });
	}

	/** What the publisher has earned: orders that are not cancelled, in micro-dollars. */
	get revenueMicros(): number {
		let sum = 0;
		for (const { status, payoutCents } of this.orders.values()) if (status !== "cancelled") sum += payoutCents * 10_000 * SHARE;
		return sum;
	}
}
