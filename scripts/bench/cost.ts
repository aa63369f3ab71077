/** What bids cost on Cloudflare, by list prices: what the plan includes is not taken off. */
import { PRICES } from "../scale/prices.ts";
import { type Figure, tell } from "./figure.ts";

const UNIT = "$ a million bids";

/**
 * A million bids' cost: requests, CPU and KV reads.
 * @param cpuMicros CPU of a bid, in microseconds: workerd's, which does more than what is billed; null where it cannot be read
 * @param keysRead keys read from KV, a bid
 */
export function tellCost(name: string, cpuMicros: number | null, keysRead: number): Figure[] {
	if (cpuMicros === null) return [];
	const requests = PRICES.requests.dollars;
	// A million bids of one microsecond are a thousand milliseconds.
	const cpu = (cpuMicros / 1_000) * PRICES.cpu.dollars;
	const kvReads = keysRead * PRICES.kvReads.dollars;
	return [
		tell(`${name}.cost`, requests + cpu + kvReads, UNIT),
		tell(`${name}.cost.requests`, requests, UNIT),
		tell(`${name}.cost.cpu`, cpu, UNIT),
		tell(`${name}.cost.kv_reads`, kvReads, UNIT),
	];
}
