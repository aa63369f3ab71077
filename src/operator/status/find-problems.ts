/** What of the status needs a person, the most urgent first: pure. */
import type { ConversionHold, QueueName } from "../../lib/enums.ts";
import { formatUsd } from "../../lib/money.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { HOUR_MS, isoTime, isoTimeOrNull, MINUTE_MS } from "../../lib/time.ts";
import { atLeast, below, fullDatabase, fullProducts } from "./full-databases.ts";
import { PROBLEM_KINDS, type Problem, type ProblemKind } from "./problems-answer.ts";
import type { PaidTwice } from "./read-paid-twice.ts";
import type { ProblemFacts } from "./read-problems.ts";
import type { Status } from "./status-answer.ts";

/** A message that is older than this waits for more than its turn. */
const BACKLOG_LATE_MS = 10 * MINUTE_MS;
/** How long a postback may be there before its click, and nothing is wrong. */
const WAITING_LATE_MS = HOUR_MS;

/** How many adjustments a text names. */
const MAX_NAMED = 10;

/** What is told by name. */
export type Named = { late: readonly { name: string; since: number }[]; paidTwice: readonly PaidTwice[] };

/** What follows how many there are. */
type Text = string | { one: string; many: string };

type Found = { count: number; text: Text; command: string | null; since?: number | null; costMicros?: bigint };

type Given = Named & { status: Omit<Status, "problems">; facts: ProblemFacts; now: number };

/** How each kind is found, and told; one whose count is 0 is none. */
const KINDS: Record<ProblemKind, (given: Given) => Found> = {
	database_full: ({ status }) => fullDatabase(atLeast(95, status.database_alert)),
	dead_letters_clicks: deadLetters("clicks"),
	dead_letters_postbacks: deadLetters("postbacks"),
	dead_letters_callbacks: deadLetters("callbacks"),
	cron_late: ({ late }) => {
		const names = late.map(({ name }) => name).join(", ");
		return {
			count: late.length,
			text: {
				one: `job of the cron that has failed for ten minutes, or not come to its end for an hour; the log says why: ${names}`,
				many: `jobs of the cron that have failed for ten minutes, or not come to their end for an hour; the log says why: ${names}`,
			},
			command: null,
			since: Math.min(...late.map(({ since }) => since)),
		};
	},
	book_stale: ({ status: { book, book_changes_waiting: waiting }, facts }) => ({
		count: facts.book_stale === undefined ? 0 : book === null ? 1 : waiting,
		text:
			book === null
				? "campaign book that KV does not have, so new isolates bid for nothing: the cron publishes it, unless it fails"
				: {
						one: "change of the network that bids do not know yet: the cron publishes it, unless it fails",
						many: "changes of the network that bids do not know yet: the cron publishes them, unless it fails",
					},
		command: null,
	}),
	prices_stale: ({ facts }) => ({
		count: facts.prices_stale?.count ?? 0,
		text: "learned prices stay as they are: no night has come to its end in a day and a half, or, and then guards stay, too, no hourly step in six hours",
		command: "learning show",
	}),
	products_full: ({ status }) => fullProducts(atLeast(95, status.products_alert)),
	queue_backlog_clicks: backlog("clicks"),
	queue_backlog_postbacks: backlog("postbacks"),
	queue_backlog_callbacks: backlog("callbacks"),
	kept_in_kv: ({ status: { kept } }) => ({
		count: kept.clicks + kept.dead_letters,
		text: {
			one: "click that the queue refused, or dead letter that the database refused: the cron writes it",
			many: "clicks that the queue refused, or dead letters that the database refused: the cron writes them",
		},
		command: null,
	}),
	alerts_fail: ({ facts }) => ({
		count: facts.alerts_fail?.count ?? 0,
		text: {
			one: "alert that ALERT_URL does not take, so nobody is told of what begins and ends: the log says why (alerts.failed)",
			many: "alerts that ALERT_URL does not take, so nobody is told of what begins and ends: the log says why (alerts.failed)",
		},
		command: null,
	}),
	sums_differ: ({ status }) => ({
		count: status.sums.difference_count,
		text: {
			one: "counter differs from the rows it was made of",
			many: "counters differ from the rows they were made of",
		},
		command: "reconcile-sums --repair",
	}),
	ledger_differs: ({ status }) => ({
		count: status.ledger.difference_count,
		text: {
			one: "conversion differs from its events, or from what its publisher was told: the command names it; void and restore it if its credit or amount is wrong, else trace it and settle it by hand",
			many: "conversions differ from their events, or from what publishers were told: the command names each; void and restore those with a wrong credit or amount, trace the others and settle them by hand",
		},
		command: "check-ledger",
	}),
	credited_without_rate: ({ status }) => ({
		count: status.conversions.credited_without_rate,
		text: {
			one: "conversion whose credit its publisher holds, and no report shows, since it has no exchange rate any more: import the rate, or void it",
			many: "conversions whose credits publishers hold, and no report shows, since they have no exchange rate any more: import the rate, or void them",
		},
		command: "conversions list --reason no_rate",
	}),
	paid_twice: ({ paidTwice }) => {
		const names = paidTwice
			.slice(0, MAX_NAMED)
			.map(({ adjustment, amountMicros, earnedMicros }) => `${adjustment} (${usdOf(amountMicros)}, earns ${usdOf(earnedMicros)} more)`);
		// Where the sale has less than was granted for it, the rest is still owed.
		const all = namesOf(names, paidTwice.length);
		const whole = paidTwice.find(({ amountMicros, earnedMicros }) => usdOf(earnedMicros) === usdOf(amountMicros));
		return {
			count: paidTwice.length,
			text: {
				one: `amount that granted a claim, whose sale earns more by itself since, within a month, as when it is reported after all: undo it if the sale has it now, and grant what is still owed by another amount; ${all}`,
				many: `amounts that granted claims, whose sales earn more by themselves since, within a month, as when they are reported after all: undo each whose sale has it now, and grant what is still owed by another amount; ${all}`,
			},
			command:
				whole === undefined ? "claims list --state granted" : `adjust undo ${shellWord(whole.adjustment)} --text "The sale has it now."`,
			since: paidTwice[0]?.at ?? null,
			costMicros: paidTwice.reduce((sum, { earnedMicros }) => sum + BigInt(earnedMicros), 0n),
		};
	},
	no_rate: held("no_rate", {
		one: "conversion without an exchange rate of its day: import it, unless `postback-problems` says that its currency is none",
		many: "conversions without an exchange rate of their day: import it, unless `postback-problems` says that their currency is none",
	}),
	above_ceiling: held("amount", {
		one: "conversion that pays more than its platform or campaign may",
		many: "conversions that pay more than their platform or campaign may",
	}),
	in_review: held("review", {
		one: "conversion of a click that nobody saw: release it, or void it",
		many: "conversions of clicks that nobody saw: release them, or void them",
	}),
	postbacks_rejected: ({ facts }) => ({
		count: facts.postbacks_rejected?.count ?? 0,
		text: {
			one: "postback of a platform that says no sale as it came, or came by a key that has ended, within a week: the command says what mends it",
			many: "postbacks of platforms that say no sale as they came, or came by a key that has ended, within a week: the command says what mends each",
		},
		command: "postback-problems",
	}),
	unmatched: ({ status }) => ({
		count: status.conversions.unmatched,
		text: {
			one: "conversion for which no click was found: attach it",
			many: "conversions for which no click was found: attach them",
		},
		command: "conversions list --stage unmatched",
	}),
	waiting: ({ status, facts, now }) => ({
		count: now - (facts.waiting?.since ?? now) > WAITING_LATE_MS ? status.conversions.waiting : 0,
		text: {
			one: "conversion that waits for its click, for more than an hour",
			many: "conversions that wait for their click, some for more than an hour",
		},
		command: "conversions list --stage waiting",
	}),
	unknown_status: ({ status, facts }) => ({
		count: status.conversions.unknown_status.count,
		text: {
			one: "conversion that stays pending, since no status map knows its platform's word",
			many: "conversions that stay pending, since no status map knows their platform's word",
		},
		command: `postback-problems list${from(facts.unknown_status)}`,
	}),
	callbacks_exhausted: ({ status, facts }) => ({
		count: status.callbacks.exhausted,
		text: {
			one: "callback that its publisher's address never took",
			many: "callbacks that publishers' addresses never took",
		},
		command: `callbacks replay --state exhausted${from(facts.callbacks_exhausted)}`,
	}),
	callback_addresses_paused: ({ status: { callbacks }, facts }) => {
		const count = facts.callback_addresses_paused?.count ?? 0;
		const names = callbacks.paused.map(({ publisher }) => publisher);
		return {
			count,
			text: {
				one: `address of a publisher that fails: ${namesOf(names, count)}`,
				many: `addresses of publishers that fail: ${namesOf(names, count)}`,
			},
			command: `callbacks test --publisher ${shellWord(names[0] ?? "")}`,
			since: Math.min(...callbacks.paused.map(({ since }) => Date.parse(since))),
		};
	},
	claims_open: ({ facts }) => ({
		count: facts.claims_open?.count ?? 0,
		text: {
			one: "claim of a publisher that waits for an answer: answer, grant or decline it",
			many: "claims of publishers that wait for an answer: answer, grant or decline them",
		},
		command: "claims list --state open",
	}),
	publisher_suspended: held("publisher_suspended", {
		one: "conversion of a suspended publisher",
		many: "conversions of suspended publishers",
	}),
	prices_broke: ({ facts }) => ({
		count: facts.prices_broke?.count ?? 0,
		text: {
			one: "campaign whose clicks came to earn far less, or more, than before within a week: look at it",
			many: "campaigns whose clicks came to earn far less, or more, than before within a week: look at them",
		},
		command: "learning show",
	}),
	database_filling: ({ status }) => fullDatabase(below(95, status.database_alert)),
	products_filling: ({ status }) => fullProducts(below(95, status.products_alert)),
	campaigns_paused: ({ status }) => ({
		count: status.paused_campaigns.count,
		text: {
			one: "campaign stands still, since a cap is met",
			many: "campaigns stand still, since a cap is met",
		},
		command: null,
	}),
};

export function findProblems(status: Omit<Status, "problems">, facts: ProblemFacts, named: Named, now: number): Problem[] {
	return PROBLEM_KINDS.flatMap((kind) => {
		const found = KINDS[kind]({ ...named, status, facts, now });
		return found.count === 0 ? [] : [show(kind, found, facts)];
	});
}

function deadLetters(queue: QueueName) {
	return ({ status }: Given): Found => ({
		count: status.dead_letters[queue],
		text: {
			one: `message of the queue ${queue} that no consumer could take`,
			many: `messages of the queue ${queue} that no consumer could take`,
		},
		command: `replay --queue ${queue}`,
	});
}

function backlog(queue: QueueName) {
	return ({ status, now }: Given): Found => {
		const { messages = 0, oldest_at: oldest = null } = status.queues[queue] ?? {};
		const oldestAt = oldest === null ? now : Date.parse(oldest);
		return {
			count: now - oldestAt < BACKLOG_LATE_MS ? 0 : messages,
			text: {
				one: `message waits in the queue ${queue} for more than ten minutes: the log says what its consumer meets`,
				many: `messages wait in the queue ${queue} for more than ten minutes: the log says what its consumer meets`,
			},
			command: null,
			since: oldestAt,
		};
	};
}

function held(why: ConversionHold, text: Text) {
	return ({ status }: Given): Found => ({
		count: status.conversions.held_for[why],
		text,
		command: `conversions list --reason ${why}`,
	});
}

/** The option that has a command reach back as far as the problem does. */
function from(fact: { since: number | null } | undefined): string {
	return fact?.since == null ? "" : ` --from ${isoTime(fact.since)}`;
}

/** @param count how many there are, where that may be more than are named */
function namesOf(names: readonly string[], count: number): string {
	return count > names.length ? `${names.join(", ")}, …` : names.join(", ");
}

function show(kind: ProblemKind, { count, text, command, since, costMicros }: Found, facts: ProblemFacts): Problem {
	const at = since ?? facts[kind]?.since ?? null;
	const cost = costMicros ?? facts[kind]?.costMicros ?? null;
	return {
		kind,
		text: typeof text === "string" ? text : count === 1 ? text.one : text.many,
		since: isoTimeOrNull(at),
		count,
		cost: cost === null ? null : usdOf(cost),
		command,
	};
}

/** Amounts of the ledger have four decimals, those of postbacks may have more. */
function usdOf(micros: number | bigint): string {
	return formatUsd(((BigInt(micros) + 50n) / 100n) * 100n);
}
