/**
 * How often an isolate bid, and why it did not: a message in the `clicks` queue, the only one the edge produces to. The contract between
 * the bid path (which writes it) and the consumer.
 *
 * Two versions of the Worker read each other's messages: a new field must be optional, and what a reader does not know it ignores. A
 * consumer that knows no such message, or not its format, keeps it as a dead letter, to be replayed by the newer one.
 */
import * as v from "valibot";
import { COUNTED_ENDPOINTS, type CountedEndpoint, NOTICE_KINDS, type NoticeKind } from "../lib/enums.ts";
import { NO_BID_CODES, type NoBidReason } from "../openrtb/no-bid.ts";

export const BID_COUNTS = "bid_counts";
export const BID_COUNTS_FORMAT = 1;

export type BidOutcome = "bid" | NoBidReason | NoticeKind;
/** What may become of a request: a bid, or why there was none; and of a bid, as notices tell. */
export const BID_OUTCOMES = [
	"bid",
	...(Object.keys(NO_BID_CODES) as NoBidReason[]),
	...NOTICE_KINDS,
] as const satisfies readonly BidOutcome[];

/** Longest name of a publisher that is told; whoever asks by a longer one is nobody. */
export const MAX_REQUESTER_LENGTH = 64;

/** Hour (Unix time in hours), endpoint, the name by which the publisher asked (empty: of nobody), outcome, how often. */
export type BidCount = [hour: number, endpoint: CountedEndpoint, requester: string, outcome: BidOutcome, count: number];

export type BidCountsMessage = {
	kind: typeof BID_COUNTS;
	format: typeof BID_COUNTS_FORMAT;
	/** Time-ordered. The same id is the same message, however often it comes: it counts once. */
	id: string;
	/** When it was made, Unix milliseconds. */
	at: number;
	counts: BidCount[];
};

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const schema = v.object({
	kind: v.literal(BID_COUNTS),
	format: v.literal(BID_COUNTS_FORMAT),
	id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)),
	at: whole,
	counts: v.array(
		v.tuple([
			whole,
			v.picklist(COUNTED_ENDPOINTS),
			v.pipe(v.string(), v.maxLength(MAX_REQUESTER_LENGTH)),
			// A newer version may have further reasons.
			v.pipe(v.string(), v.regex(/^[a-z_]{1,64}$/)),
			whole,
		]),
	),
});

/** Whether a body of the queue says that it is such a message: whether it can be read is another question. */
export function isBidCounts(body: unknown): boolean {
	return typeof body === "object" && body !== null && "kind" in body && body.kind === BID_COUNTS;
}

/** A read message; null where it cannot be read. Reasons that this version does not know are kept as they are. */
export function readBidCounts(body: unknown): BidCountsMessage | null {
	const result = v.safeParse(schema, body);
	return result.success ? (result.output as BidCountsMessage) : null;
}
