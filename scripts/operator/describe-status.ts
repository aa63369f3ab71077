/** How the network is doing, in words. */
import { counted, countedAs } from "../../src/lib/counted.ts";
import type { Status } from "../../src/operator/status/status-answer.ts";
import { REASONS } from "./click-reasons.ts";
import { describeLedgerDifference } from "./describe-ledger.ts";
import { describeSum } from "./describe-sum.ts";

/** Of these there is one or none: their text is a sentence, and says how bad it is. */
const UNCOUNTED_KINDS: ReadonlySet<Status["problems"][number]["kind"]> = new Set([
	"database_full",
	"database_filling",
	"products_full",
	"products_filling",
	"prices_stale",
]);

/** The name of a figure, which a line below it leaves empty, and what it comes to. */
type Row = [name: string, text: string];

/** A line a figure; what needs a look in lines below it. */
export function describeStatus(status: Status): string[] {
	const rows: Row[] = [
		...describeBook(status),
		...describeQueues(status.queues),
		...describeCallbacks(status.callbacks),
		...describeClicks(status.clicks),
		...describeConversions(status.conversions),
		...describeSums(status.sums),
		...describeLedger(status.ledger),
		describeDays(status.days),
		...describeCron(status.cron),
		...describeKept(status),
		...describeSizes(status),
		describePauses(status.paused_campaigns),
		...describeProblems(status.problems),
	];
	return rows.map(([name, text]) => `${name.padEnd(16)}  ${text}`);
}

function describeBook({ book, book_changes_waiting }: Status): Row[] {
	const none = "none in KV: nothing was imported yet, or see the problems";
	const rows: Row[] = [["Campaign book", book === null ? none : `version ${book.version}, published ${describeAge(book.age_seconds)} ago`]];
	if (book_changes_waiting > 0) rows.push(["", `changes that wait to be published: ${book_changes_waiting}`]);
	return rows;
}

function describeQueues(queues: Status["queues"]): Row[] {
	return Object.entries(queues).map(([name, queue]) => {
		if (queue === null) return [`Queue ${name}`, "not told"];
		const oldest = queue.oldest_at === null ? "" : `, the oldest of ${queue.oldest_at}`;
		return [`Queue ${name}`, `${counted(queue.messages, "message")}${oldest}`];
	});
}

function describeCallbacks({ undelivered, overdue, exhausted, paused }: Status["callbacks"]): Row[] {
	const oldest = undelivered.oldest_age_seconds === null ? "" : `, the oldest ${describeAge(undelivered.oldest_age_seconds)} old`;
	return [
		["Callbacks", `${undelivered.count} undelivered${oldest}; ${overdue} overdue, ${exhausted} exhausted`],
		...paused.map(
			({ publisher, since, failures_in_a_row }): Row => [
				"",
				`the address of ${publisher} is paused since ${since}, after ${failures_in_a_row} failures in a row`,
			],
		),
	];
}

function describeConversions({
	waiting,
	unmatched,
	quarantined,
	held_for,
	credited_without_rate,
	unknown_status,
}: Status["conversions"]): Row[] {
	const { no_rate, amount, review, publisher_suspended } = held_for;
	const rows: Row[] = [["Conversions", `${waiting} waiting for their click, ${unmatched} unmatched, ${no_rate} without an exchange rate`]];
	if (quarantined > no_rate) {
		rows.push(["", `held: ${amount} above their ceiling, ${review} for review, ${publisher_suspended} of suspended publishers`]);
	}
	if (credited_without_rate > 0) {
		rows.push(["", `credited, and now without an exchange rate: ${credited_without_rate}; import the rate, or void them`]);
	}
	if (unknown_status.count > 0) rows.push(["", `pending for a status that no map knows: ${unknown_status.count}`]);
	for (const { platform, word, count, newest_at } of unknown_status.words) {
		rows.push(["", `${platform} says ${JSON.stringify(word)}: ${count}, the newest of ${newest_at}`]);
	}
	return rows;
}

/** What could not be taken when it came, and is kept elsewhere. */
function describeKept({ dead_letters, kept }: Status): Row[] {
	const dead = Object.entries(dead_letters).map(([queue, count]) => `${count} of ${queue}`);
	const rows: Row[] = [["Dead letters", dead.join(", ")]];
	if (kept.clicks + kept.dead_letters > 0) {
		rows.push([
			"Kept in KV",
			`${counted(kept.clicks, "click")} that the queue refused, ${counted(kept.dead_letters, "dead letter")} that the database refused`,
		]);
	}
	return rows;
}

function describeSizes({ database_bytes, database_engine, database_alert, products_bytes, products_alert }: Status): Row[] {
	const size = (bytes: number | null, of: string) => (bytes === null ? "not told" : `${(bytes / 1e6).toFixed(1)} MB ${of}`);
	const rows: Row[] = [["Database", size(database_bytes, database_engine === "d1" ? "of 10 GB" : "in PostgreSQL")]];
	if (database_alert !== null) {
		rows.push(["", `over ${database_alert} % full: when it is full nothing more is written; shorten CLICK_RETENTION_DAYS`]);
	}
	rows.push(["Products", size(products_bytes, "of 10 GB")]);
	if (products_alert !== null) {
		rows.push(["", `over ${products_alert} % full: when it is full no feed is taken over; remove products that are sold no more`]);
	}
	return rows;
}

function describePauses({ count, campaigns }: Status["paused_campaigns"]): Row {
	const more = count > campaigns.length ? ", …" : "";
	return ["Paused campaigns", count === 0 ? "none" : `${count}: ${campaigns.join(", ")}${more}`];
}

function describeProblems(problems: Status["problems"]): Row[] {
	if (problems.length === 0) return [["Problems", "none"]];
	return problems.map(({ kind, text, count, since, cost, command }, at) => [
		at === 0 ? "Problems" : "",
		[
			UNCOUNTED_KINDS.has(kind) ? text : `${count} ${text}`,
			since === null ? "" : `, since ${since}`,
			cost === null ? "" : `, worth ${cost} USD`,
			command === null ? "" : `: \`${command}\``,
		].join(""),
	]);
}

function describeClicks({ since, paid, unpaid, dropped }: Status["clicks"]): Row[] {
	const total = unpaid.reduce((sum, { count }) => sum + count, 0);
	return [
		[
			"Clicks",
			`${paid} paid and ${total} unpaid since ${since}${dropped === 0 ? "" : `; ${countedAs(dropped, "more unpaid one was", "more unpaid ones were")} counted, not stored`}`,
		],
		...unpaid.map(({ reason, count }): Row => ["", `unpaid: ${count}, ${REASONS[reason]}`]),
	];
}

function describeSums({ compared_at, difference_count, differences }: Status["sums"]): Row[] {
	if (difference_count === 0)
		return [["Counters", compared_at === null ? "not compared with their rows yet" : `right, compared ${compared_at}`]];
	return [
		[
			"Counters",
			`${countedAs(difference_count, "sum differs from its rows", "sums differ from their rows")}: \`reconcile-sums --repair\` writes them right`,
		],
		...differences.map((difference): Row => ["", describeSum(difference)]),
	];
}

function describeLedger({ whole, difference_count, differences }: Status["ledger"]): Row[] {
	const checked = whole === null ? "not all checked yet" : `${counted(whole.conversions, "conversion")} checked by ${whole.ended_at}`;
	return [
		[
			"Ledger",
			difference_count === 0 ? `right, ${checked}` : `${countedAs(difference_count, "thing differs", "things differ")}; ${checked}`,
		],
		...differences.map((difference): Row => ["", describeLedgerDifference(difference)]),
	];
}

function describeDays({ selected_at, without_digest, to_renew, oldest }: Status["days"]): Row {
	if (selected_at === null) return ["Day digests", "not looked for yet"];
	const waiting = `${counted(without_digest, "day")} without one, ${to_renew} to be made again${oldest === null ? "" : `, from ${oldest} on`}`;
	return ["Day digests", `${oldest === null ? "all made" : waiting}; looked for at ${selected_at}`];
}

function describeCron(jobs: Status["cron"]): Row[] {
	const failing = jobs.flatMap(({ job, ended_at, failing_since }): Row[] =>
		failing_since === null ? [] : [["", `${job} fails since ${failing_since}; it last came to its end ${ended_at}`]],
	);
	const newest = jobs
		.map(({ ended_at }) => ended_at)
		.toSorted()
		.at(-1);
	return [
		["Cron", newest === undefined ? "has not run yet" : `${counted(jobs.length, "job")}, the last of which came to its end ${newest}`],
		...failing,
	];
}

function describeAge(seconds: number): string {
	if (seconds < 120) return `${seconds} s`;
	if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)} min`;
	return seconds < 48 * 3_600 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
