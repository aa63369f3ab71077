/** What a growing load runs into, in which order, and what to do there: pure. */
import type { Values } from "./assumptions.ts";
import { batchesOf, d1Gb, type Needs, needsOf, postgresSize } from "./model.ts";

const DAY_SECONDS = 86_400;

export type Wall = {
	name: string;
	/** Walls of the engine that was left behind stand no more. */
	engine: "D1" | "PostgreSQL" | null;
	/** What happens past it. */
	effect: string;
	remedy: string;
	/** Part of the limit that a load takes; above 1 it is past the wall. Grows with the load. */
	use: (needs: Needs, v: Values) => number;
};

const TO_POSTGRES = "PostgreSQL";

export const WALLS: readonly Wall[] = [
	{
		name: "D1 full, with clicks kept by default",
		engine: "D1",
		effect: "nothing is written; queues keep what comes",
		remedy: "a shorter `CLICK_RETENTION_DAYS`, with the archive",
		use: (needs, v) => d1Gb(needs, v.retentionDays, v) / v.d1Gb,
	},
	{
		name: "D1 full, with clicks kept shortest",
		engine: "D1",
		effect: "nothing is written; queues keep what comes",
		remedy: TO_POSTGRES,
		use: (needs, v) => d1Gb(needs, v.leastRetentionDays, v) / v.d1Gb,
	},
	{
		name: "old clicks removed as fast as they come",
		engine: "D1",
		effect: "D1 fills in spite of the retention",
		remedy: `${TO_POSTGRES}: a week is a partition, dropped at once`,
		use: (needs, v) => (needs.clicks * 60) / v.removedPerMinute,
	},
	{
		name: "batches of clicks in turn, on D1",
		engine: "D1",
		effect: "clicks are counted late, caps hold late",
		remedy: TO_POSTGRES,
		// Read beside each other; whether commits are, nobody tells.
		use: (needs, v) => peakBatches(needs, v) * ((v.clickBatchMs + v.d1CallMs) / 1_000),
	},
	{
		name: "batches of clicks in turn, on PostgreSQL",
		engine: "PostgreSQL",
		effect: "clicks are counted late, caps hold late",
		remedy: "a queue and a `click_sequence` for each group of publishers, on Citus",
		use: (needs, v) => peakBatches(needs, v) * (v.batchSize / v.postgresClicksPerSecond),
	},
	{
		name: "clicks fill more than one PostgreSQL node",
		engine: "PostgreSQL",
		effect: "restoring takes longer than a few hours",
		remedy: "a shorter `CLICK_RETENTION_DAYS`, or [Citus](operations/postgresql.md#more-than-one-node)",
		use: (needs, v) => postgresSize(needs, v.retentionDays, v).storageGb / (v.postgresNodeTb * 1_000),
	},
	{
		name: "all conversions checked every night",
		engine: null,
		effect: "the turn takes more than a day",
		remedy: "a larger `CONVERSIONS_A_RUN`",
		use: (needs, v) => (needs.conversions * DAY_SECONDS * v.conversionDays) / (v.checkedPerMinute * 24 * 60),
	},
	{
		name: "conversions checked once written",
		engine: null,
		effect: "the check falls behind",
		remedy: "a larger `CONVERSIONS_A_RUN`",
		use: (needs, v) => (needs.postbacks * 60) / v.checkedPerMinute,
	},
	{
		name: "a day's digests within a day",
		engine: null,
		effect: "publishers see digests late",
		remedy: "a larger `RECORDS_A_RUN`",
		use: (needs, v) => ((needs.clicks + needs.conversions) * 60) / v.digestedPerMinute,
	},
	{
		name: "counters of three days compared within an hour",
		engine: null,
		effect: "earlier days wait",
		remedy: "a larger `PARTS_A_RUN`",
		use: (needs, v) => (3 * needs.clicks * DAY_SECONDS) / (v.clicksAPart * v.partsPerMinute * 60),
	},
	{
		name: "the queue of clicks holds a day's outage",
		engine: null,
		effect: "sends fail, and KV keeps the clicks",
		remedy: "several queues, by publisher",
		use: (needs, v) => (needs.clicks * DAY_SECONDS * (v.clickMessageBytes + v.messageOverheadBytes)) / (v.queueBacklogGb * 1e9),
	},
	{
		name: "messages a second of one queue",
		engine: null,
		effect: "sends fail, and KV keeps the clicks",
		remedy: "several queues, or several clicks a message",
		use: (needs, v) => (needs.clicks * v.peakFactor) / v.queueRate,
	},
	{
		name: "callbacks under way at once",
		engine: null,
		effect: "callbacks come late",
		remedy: "a higher `max_concurrency`",
		use: (needs, v) => (needs.callbacks * v.peakFactor * v.receiverSeconds) / (v.callbackConsumers * v.callbacksAtOnce),
	},
];

function peakBatches({ clicks }: Needs, v: Values): number {
	return batchesOf(clicks * v.peakFactor, v.batchSize, v.clickBatchSeconds);
}

export type Reached = Wall & { bidsPerSecond: number };

/** The walls in the order in which a growing load reaches them, each with the load that does. */
export function wallsInOrder(v: Values): Reached[] {
	return WALLS.map((wall) => ({ ...wall, bidsPerSecond: reachedAt(wall, v) })).sort((a, b) => a.bidsPerSecond - b.bidsPerSecond);
}

/** The least load that is past a wall, bids a second, to one part in a million. */
function reachedAt({ use }: Wall, v: Values): number {
	let [below, above] = [0, 1];
	const isPast = (bidsPerSecond: number) => use(needsOf({ bidsPerSecond }, v), v) > 1;
	while (!isPast(above)) {
		above *= 2;
		if (above > 1e12) return Number.POSITIVE_INFINITY;
	}
	while (above - below > above / 1e6) {
		const middle = (below + above) / 2;
		if (isPast(middle)) above = middle;
		else below = middle;
	}
	return above;
}
