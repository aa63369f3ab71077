/** Answer of GET /operator/status. */
import * as v from "valibot";
import { ledgerDifferenceSchema, netReasonsSchema } from "../../ledger-check/ledger-answers.ts";
import { CRON_JOBS, DATABASE_ENGINES, SIZE_ALERTS } from "../../lib/enums.ts";
import { count, perQueue, time } from "../../lib/shapes.ts";
import { CLICK_REASONS } from "../../lib/traffic-rules.ts";
import { sumDifferenceSchema } from "../../reconcile/reconcile-answers.ts";
import { problemSchema } from "./problems-answer.ts";

const backlogSchema = v.nullable(v.strictObject({ messages: count, oldest_at: v.nullable(time) }));

export const statusSchema = v.strictObject({
	at: time,
	problems: v.pipe(v.array(problemSchema), v.description("What needs a person, the most urgent first.")),
	/** Null before the first publish. */
	book: v.nullable(v.strictObject({ version: count, published_at: time, age_seconds: count })),
	/** Slots of the book that wait to be published; a rebuild under way, or a manifest that waits, counts as one more. */
	book_changes_waiting: count,
	queues: v.pipe(perQueue(backlogSchema), v.description("Null where the platform does not tell.")),
	callbacks: v.strictObject({
		/** Owed and not confirmed yet, also those that wait for their next attempt or for a pause to end. */
		undelivered: v.strictObject({ count, oldest_at: v.nullable(time), oldest_age_seconds: v.nullable(count) }),
		/** Of those, what could go out now. */
		overdue: count,
		/** Their schedule has ended; a replay sends them again. */
		exhausted: count,
		paused: v.array(v.strictObject({ publisher: v.string(), since: time, failures_in_a_row: count, next_probe_at: v.nullable(time) })),
	}),
	/** Of the last 24 hours, or of the newest ten thousand where there are more. */
	clicks: v.strictObject({
		since: v.pipe(time, v.description("When the first of those that are counted was made.")),
		paid: count,
		unpaid: v.pipe(v.array(v.strictObject({ reason: v.picklist(CLICK_REASONS), count })), v.description("The most frequent first.")),
		dropped: v.pipe(
			count,
			v.description(
				"Unpaid ones of the last 24 hours that were counted and not stored, since too many came from an address; again where the queue brings them again.",
			),
		),
	}),
	conversions: v.strictObject({
		waiting: count,
		unmatched: v.pipe(count, v.description("But for those that are cancelled, or tests, which need nobody.")),
		quarantined: v.pipe(count, v.description("The same of these.")),
		held_for: v.pipe(
			v.strictObject({ no_rate: count, amount: count, review: count, publisher_suspended: count }),
			v.description("What the quarantined ones wait for: a rate, a release, a review, a publisher that is active again."),
		),
		credited_without_rate: v.pipe(
			count,
			v.description(
				"Of those without a rate, what was credited before it lost its rate: its publisher holds a credit that no report shows.",
			),
		),
		unknown_status: v.pipe(
			v.strictObject({ count, words: v.array(v.strictObject({ platform: v.string(), word: v.string(), count, newest_at: time })) }),
			v.description(
				"Pending because no map knows the platform's word, an unfilled macro included: of the newest ten thousand, the twenty most frequent words, cut at 100 characters.",
			),
		),
	}),
	/** Counters against the rows they were made of, as the hourly comparison found them. */
	sums: v.strictObject({
		compared_at: v.pipe(v.nullable(time), v.description("When a day was last compared.")),
		difference_count: count,
		differences: v.pipe(v.array(sumDifferenceSchema), v.description("The first twenty that stand.")),
	}),
	/** Conversions against their events, and what publishers were told against reports, as the nightly check found them. */
	ledger: v.strictObject({
		checked_at: v.pipe(v.nullable(time), v.description("When conversions were last checked.")),
		/** The last time that all of them were. */
		whole: v.nullable(v.strictObject({ ended_at: time, conversions: count, reasons: netReasonsSchema })),
		difference_count: v.pipe(count, v.description("At most a thousand are kept.")),
		differences: v.pipe(v.array(ledgerDifferenceSchema), v.description("The newest twenty that stand.")),
	}),
	/** Closed days of publishers, each of which has a digest (GET /api/days). */
	days: v.strictObject({
		selected_at: v.pipe(v.nullable(time), v.description("When days that need one were last looked for: every hour.")),
		without_digest: v.pipe(count, v.description("Days of a publisher that have none yet; at most ten thousand are counted with the next.")),
		to_renew: v.pipe(count, v.description("Days that changed since theirs was computed.")),
		oldest: v.pipe(v.nullable(v.pipe(v.string(), v.isoDate())), v.description("The first day that waits, UTC.")),
	}),
	/** Jobs of the cron that have had a turn. */
	cron: v.array(
		v.strictObject({
			job: v.picklist(CRON_JOBS),
			ended_at: v.pipe(time, v.description("When it last came to its end, to some five minutes, or was first heard of.")),
			failing_since: v.pipe(v.nullable(time), v.description("Since when each of its runs has failed; null where the last one did not.")),
		}),
	),
	/** Messages that no consumer could take. */
	dead_letters: perQueue(count),
	/** What KV keeps, since the queue refused clicks or the database dead letters. */
	kept: v.pipe(
		v.strictObject({ clicks: count, dead_letters: count }),
		v.description("What KV keeps until the cron writes it; of more than a thousand entries the first thousand."),
	),
	database_engine: v.pipe(v.picklist(DATABASE_ENGINES), v.description("What holds the network's database.")),
	database_bytes: v.pipe(v.nullable(count), v.description("Size of the network's database; D1 holds 10 GB.")),
	database_alert: v.pipe(v.nullable(v.picklist(SIZE_ALERTS)), v.description("Percent of that which it has reached; null below the first.")),
	products_bytes: v.pipe(
		v.nullable(count),
		v.description("Size of the products' database, a D1 of its own; null where it does not answer."),
	),
	products_alert: v.pipe(v.nullable(v.picklist(SIZE_ALERTS)), v.description("As `database_alert`, of the products' database.")),
	/** Campaigns that stand still because a cap is met. */
	paused_campaigns: v.strictObject({ count, campaigns: v.array(count) }),
});

export type Status = v.InferOutput<typeof statusSchema>;
