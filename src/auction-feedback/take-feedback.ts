/** POST /api/auction-feedback: what became of the auctions that our bids were in. Each is counted once, by its id; nothing is paid by it. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import { type Database, runTransaction } from "../db/client.ts";
import { addColumns, insertRows } from "../db/json-rows.ts";
import { auctionFeedback, auctionFeedbackDays } from "../db/schema/auction-feedback.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { count, listOfAtMost } from "../lib/shapes.ts";
import { utcDay } from "../lib/time.ts";

export const MAX_AUCTIONS = 1_000;
export const MAX_FEEDBACK_BYTES = 512 * 1_024;
/** Of a publisher's auctions so many are counted a day: each is a row for some days. */
export const MAX_AUCTIONS_A_DAY = 200_000;
const MAX_AUCTION_ID_LENGTH = 255;
/** USD a click. */
const MAX_PRICE = 1_000;

const price = v.pipe(
	v.union([v.pipe(v.string(), v.regex(/^\d{1,9}(?:\.\d{1,18})?$/), v.transform(Number)), v.number()], 'must be an amount such as "0.4200"'),
	v.finite("must be an amount"),
	v.minValue(0, "must not be negative"),
	v.maxValue(MAX_PRICE, `must be at most ${MAX_PRICE}`),
);

const auction = v.strictObject({
	id: v.pipe(
		v.string("must be a text"),
		v.check((text) => text.trim() !== "", "must not be blank"),
		v.maxLength(MAX_AUCTION_ID_LENGTH, `must have at most ${MAX_AUCTION_ID_LENGTH} characters`),
		v.check((text) => text.isWellFormed() && !text.includes("\0"), "must be Unicode text without NUL"),
		v.description("The `id` of your bid request."),
	),
	loss: v.pipe(
		v.number("must be a code"),
		v.integer("must be a code"),
		v.minValue(0, "must not be negative"),
		v.maxValue(9_999, "must be at most 9999"),
		v.description("Loss code of OpenRTB, as the macro AUCTION_LOSS gives it; 0 where the bid won."),
	),
	price: v.nullish(v.pipe(price, v.description("What the auction was sold for, USD a click; 0 where nobody knows.")), null),
});

export const feedbackRequestSchema = v.strictObject({
	auctions: v.pipe(
		listOfAtMost(auction, MAX_AUCTIONS, `must have at most ${MAX_AUCTIONS} auctions`),
		v.minLength(1, "must name at least one auction"),
	),
});

export const feedbackTakenSchema = v.strictObject({
	counted: count,
	known: v.pipe(count, v.description("Told before: what was told first counts.")),
	over_limit: v.pipe(count, v.description(`Not counted: past ${MAX_AUCTIONS_A_DAY} auctions of a UTC day.`)),
});

type Feedback = v.InferOutput<typeof feedbackRequestSchema>;
type Taken = v.InferOutput<typeof feedbackTakenSchema>;
type Row = typeof auctionFeedback.$inferInsert;

/**
 * Counts each auction that is new, the first first while the day has room for it. The same request twice counts once, at the same time,
 * too, and one that is known takes no room: the table decides, and databases let one batch write at a time.
 */
export async function takeFeedback(db: Database, publisherId: string, { auctions }: Feedback, now: number): Promise<Taken> {
	const date = utcDay(now);
	const batchId = newTimeOrderedId(now);
	const rows = new Map<string, Row>();
	for (const { id, loss, price: usd } of auctions) {
		const priceMicros = Math.round((usd ?? 0) * 1_000_000) || null;
		if (!rows.has(id)) rows.set(id, { publisherId, auctionId: id, loss, priceMicros, batchId, at: now });
	}
	const told = JSON.stringify(auctions.map(({ id }) => id));
	const isNew = sql`publisher_id = ${publisherId} AND auction_id IN (SELECT atom FROM json_each(${told})) AND batch_id = ${batchId}`;
	const results = await runTransaction(db, [
		insertRows(
			auctionFeedback,
			[...rows.values()],
			sql`AND NOT EXISTS (SELECT 1 FROM auction_feedback k WHERE k.publisher_id = ${publisherId} AND k.auction_id = value ->> 'auctionId')
				ORDER BY key LIMIT (${roomOf(date, publisherId)}) ON CONFLICT DO NOTHING`,
		),
		addDay(date, isNew),
		sql`SELECT COUNT(*) AS kept, COUNT(DISTINCT CASE WHEN f.batch_id = ${batchId} THEN f.auction_id END) AS counted
			FROM json_each(${told}) t CROSS JOIN auction_feedback f WHERE f.publisher_id = ${publisherId} AND f.auction_id = t.atom`,
	]);
	const [sums] = (results[2]?.results ?? []) as { kept: number; counted: number }[];
	const { kept = 0, counted = 0 } = sums ?? {};
	return { counted, known: kept - counted, over_limit: auctions.length - kept };
}

/** How many auctions of a publisher's the day may still count. */
function roomOf(date: string, publisherId: string): SQL {
	return sql`SELECT CASE WHEN COALESCE(SUM(auctions), 0) < ${MAX_AUCTIONS_A_DAY}
			THEN CAST(${MAX_AUCTIONS_A_DAY} - COALESCE(SUM(auctions), 0) AS BIGINT) ELSE 0 END
		FROM auction_feedback_days WHERE date = ${date} AND publisher_id = ${publisherId}`;
}

function addDay(date: string, isNew: SQL): SQL {
	return sql`INSERT INTO auction_feedback_days (date, publisher_id, loss, auctions, priced, price_micros)
		SELECT ${date}, publisher_id, loss, COUNT(*), COUNT(price_micros), COALESCE(SUM(price_micros), 0) FROM auction_feedback WHERE ${isNew}
		GROUP BY publisher_id, loss
		ON CONFLICT (date, publisher_id, loss) DO UPDATE SET ${addColumns(auctionFeedbackDays, ["auctions", "priced", "priceMicros"])}`;
}
