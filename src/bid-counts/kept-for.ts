/** How long what is counted of bids, and of their auctions, is kept. */
import { DAY_MS } from "../lib/time.ts";

/** Hourly counts. */
export const BID_COUNTS_DAYS = 35;

/** How long it is known that a message was counted. An older one is not counted any more: nobody could tell whether it was. */
export const COUNTED_KNOWN_MS = 5 * DAY_MS;

/** How long an auction that a publisher tells of again is known to be counted. */
export const AUCTION_KNOWN_DAYS = 3;

/** Counts of auctions by day. */
export const FEEDBACK_DAYS = 400;
