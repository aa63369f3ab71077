/** What of the status needs a person, the most urgent first: pure. */
import { QUEUE_NAMES } from "../../lib/enums.ts";
import { formatUsd } from "../../lib/money.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { HOUR_MS, isoTime, isoTimeOrNull, MINUTE_MS } from "../../lib/time.ts";
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

type Found = { count: number; text: string; command: string | null; since?: number | null; costMicros?: bigint };

export function findProblems(status: Omit<Status, "problems">, facts: ProblemFacts, { late, paidTwice }: Named, now: number): Problem[] {
	const found = new Map<ProblemKind, Found>();
	const add = (kind: ProblemKind, problem: Found) => {
		if (problem.count > 0) found.set(kind, problem);
	};
	const { book, conversions, callbacks, database_alert: percent } = status;
	if (percent !== null) {
		const kind = percent >= 95 ? "database_full" : "database_filling";
		add(kind, {
			count: 1,
			text: `the network's database is over ${percent} % full: when it is full, nothing more is written; shorten CLICK_RETENTION_DAYS, or move to PostgreSQL`,
			command: "database move",
		});
	}
	if (status.products_alert !== null) {
		add(status.products_alert >= 95 ? "products_full" : "products_filling", {
			count: 1,
			text: `the products' database is over ${status.products_alert} % full: when it is full, no feed is taken over; remove products that are sold no more by --replace, or send smaller feeds`,
			command: "products",
		});
	}
	for (const queue of QUEUE_NAMES) {
		add(`dead_letters_${queue}`, {
			count: status.dead_letters[queue],
			text: `messages of the queue ${queue} that no consumer could take`,
			command: `replay --queue ${queue}`,
		});
		const backlog = status.queues[queue];
		const oldestAt = backlog?.oldest_at == null ? null : Date.parse(backlog.oldest_at);
		if (backlog === null || oldestAt === null || now - oldestAt < BACKLOG_LATE_MS) continue;
		add(`queue_backlog_${queue}`, {
			count: backlog.messages,
			text: `messages wait in the queue ${queue} for more than ten minutes: the log says what its consumer meets`,
			command: null,
			since: oldestAt,
		});
	}
	add("cron_late", {
		count: late.length,
		text: `jobs of the cron that have failed for ten minutes, or not come to their end for an hour; the log says why: ${late.map(({ name }) => name).join(", ")}`,
		command: null,
		since: Math.min(...late.map(({ since }) => since)),
	});
	if (facts.book_stale !== undefined) {
		add("book_stale", {
			count: book === null ? 1 : status.book_changes_waiting,
			text:
				book === null
					? "campaign book that KV does not have, so new isolates bid for nothing: the cron publishes it, unless it fails"
					: "changes of the network that bids do not know yet: the cron publishes them, unless it fails",
			command: null,
		});
	}
	add("prices_stale", {
		count: facts.prices_stale?.count ?? 0,
		text: "learned prices stay as they are, and the guards with them: no night has come to its end in a day and a half, or no hourly step in six hours",
		command: "learning show",
	});
	add("kept_in_kv", {
		count: status.kept.clicks + status.kept.dead_letters,
		text: "clicks that the queue refused, or dead letters that the database refused: the cron writes them",
		command: null,
	});
	add("sums_differ", {
		count: status.sums.difference_count,
		text: "counters differ from the rows they were made of",
		command: "reconcile-sums --repair",
	});
	add("ledger_differs", {
		count: status.ledger.difference_count,
		text: "conversions differ from their events, or from what publishers were told: the command names each; void and restore those with a wrong credit or amount, trace the others and settle them by hand",
		command: "check-ledger",
	});
	add("credited_without_rate", {
		count: conversions.credited_without_rate,
		text: "publishers hold a credit that no report shows, since it has no exchange rate any more: import the rate, or void them",
		command: "conversions list --reason no_rate",
	});
	const [oldest] = paidTwice;
	if (oldest !== undefined) {
		const names = paidTwice
			.slice(0, MAX_NAMED)
			.map(({ adjustment, amountMicros, earnedMicros }) => `${adjustment} (${usdOf(amountMicros)}, earns ${usdOf(earnedMicros)} more)`);
		// Where the sale has less than was granted for it, the rest is still owed.
		const whole = paidTwice.find(({ amountMicros, earnedMicros }) => usdOf(earnedMicros) === usdOf(amountMicros));
		add("paid_twice", {
			count: paidTwice.length,
			text: `amounts that granted claims, whose sales earn more by themselves since, within a month, as when they are reported after all: undo each whose sale has it now, and grant what is still owed by another amount; ${namesOf(names, paidTwice.length)}`,
			command:
				whole === undefined ? "claims list --state granted" : `adjust undo ${shellWord(whole.adjustment)} --text "The sale has it now."`,
			since: oldest.at,
			costMicros: paidTwice.reduce((sum, { earnedMicros }) => sum + BigInt(earnedMicros), 0n),
		});
	}
	const held = conversions.held_for;
	add("no_rate", {
		count: held.no_rate,
		text: "conversions without an exchange rate of their day: import it",
		command: "conversions list --reason no_rate",
	});
	add("above_ceiling", {
		count: held.amount,
		text: "conversions that pay more than their platform or campaign may",
		command: "conversions list --reason amount",
	});
	add("in_review", {
		count: held.review,
		text: "conversions of clicks that nobody saw: release them, or void them",
		command: "conversions list --reason review",
	});
	add("postbacks_rejected", {
		count: facts.postbacks_rejected?.count ?? 0,
		text: "postbacks of platforms that say no sale as they came, or came by a key that has ended, within a week: the command says what mends each",
		command: "postback-problems",
	});
	add("publisher_suspended", {
		count: held.publisher_suspended,
		text: "conversions of suspended publishers",
		command: "conversions list --reason publisher_suspended",
	});
	add("unmatched", {
		count: conversions.unmatched,
		text: "conversions for which no click was found: attach them",
		command: "conversions list --stage unmatched",
	});
	const waitingSince = facts.waiting?.since ?? null;
	if (waitingSince !== null && now - waitingSince > WAITING_LATE_MS) {
		add("waiting", {
			count: conversions.waiting,
			text: "conversions that wait for their click, some for more than an hour",
			command: "conversions list --stage waiting",
		});
	}
	add("unknown_status", {
		count: conversions.unknown_status.count,
		text: "conversions that stay pending, since no status map knows their platform's word",
		command: `postback-problems list${from(facts.unknown_status)}`,
	});
	add("callbacks_exhausted", {
		count: callbacks.exhausted,
		text: "callbacks that publishers' addresses never took",
		command: `callbacks replay --state exhausted${from(facts.callbacks_exhausted)}`,
	});
	add("callback_addresses_paused", {
		count: facts.callback_addresses_paused?.count ?? 0,
		text: `addresses of publishers that fail: ${namesOf(
			callbacks.paused.map(({ publisher }) => publisher),
			facts.callback_addresses_paused?.count ?? 0,
		)}`,
		command: `callbacks test --publisher ${shellWord(callbacks.paused[0]?.publisher ?? "")}`,
		since: Math.min(...callbacks.paused.map(({ since }) => Date.parse(since))),
	});
	add("claims_open", {
		count: facts.claims_open?.count ?? 0,
		text: "claims of publishers that wait for an answer: answer, grant or decline them",
		command: "claims list --state open",
	});
	add("prices_broke", {
		count: facts.prices_broke?.count ?? 0,
		text: "campaigns whose clicks came to earn far less, or more, than before within a week: look at them",
		command: "learning show",
	});
	add("campaigns_paused", {
		count: status.paused_campaigns.count,
		text: "campaigns stand still, since a cap is met",
		command: null,
	});
	return PROBLEM_KINDS.flatMap((kind) => {
		const problem = found.get(kind);
		return problem === undefined ? [] : [show(kind, problem, facts)];
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
		text,
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
