/** What needs a person, as the status names it and alerts tell of it. */
import * as v from "valibot";
import { count, time, usd } from "../../lib/shapes.ts";

/** The most urgent first: what loses money or stops everything, what publishers are owed, what only waits. */
export const PROBLEM_KINDS = [
	"database_full",
	"dead_letters_clicks",
	"dead_letters_postbacks",
	"dead_letters_callbacks",
	"cron_late",
	"book_stale",
	"prices_stale",
	"products_full",
	"queue_backlog_clicks",
	"queue_backlog_postbacks",
	"queue_backlog_callbacks",
	"kept_in_kv",
	"alerts_fail",
	"sums_differ",
	"ledger_differs",
	"credited_without_rate",
	"paid_twice",
	"no_rate",
	"above_ceiling",
	"in_review",
	"postbacks_rejected",
	"unmatched",
	"waiting",
	"unknown_status",
	"callbacks_exhausted",
	"callback_addresses_paused",
	"claims_open",
	"publisher_suspended",
	"prices_broke",
	"database_filling",
	"products_filling",
	"campaigns_paused",
] as const;
/** Told by the status alone: an alert of it would fail as well. */
export const UNTOLD_KIND = "alerts_fail";
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

export const problemSchema = v.strictObject({
	kind: v.picklist(PROBLEM_KINDS),
	text: v.string(),
	since: v.pipe(v.nullable(time), v.description("When the oldest of it began; null where that is not kept.")),
	count: v.pipe(count, v.description("How many; of more than ten thousand as many or more.")),
	cost: v.pipe(
		v.nullable(usd),
		v.description(
			"What it keeps back, USD: what platforms pay for conversions, or publishers were not told of; of `paid_twice`, what was paid twice; null where that cannot be said. Payouts in other currencies count once they have a rate.",
		),
	),
	command: v.pipe(
		v.nullable(v.string()),
		v.description(
			"A command of `npm run operator --` that mends it, or lists what `text` says how to mend; null where `text` says all there is to do.",
		),
	),
});

export type Problem = v.InferOutput<typeof problemSchema>;
