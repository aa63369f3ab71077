/** How the network is doing, in words. */

import { counted } from "../../src/lib/counted.ts";
import type { Status } from "../../src/operator/status/status-answer.ts";
import { REASONS } from "./click-reasons.ts";
import { describeLedgerDifference } from "./describe-ledger.ts";
import { describeSum } from "./describe-sum.ts";

/** A line a figure; what needs a look in lines below it. */
export function describeStatus(status: Status): string[] {
	const {
		book,
		book_changes_waiting,
		queues,
		callbacks,
		clicks,
		conversions,
		sums,
		ledger,
		days,
		cron,
		dead_letters,
		kept,
		database_bytes,
		paused_campaigns,
	} = status;
	const { undelivered, overdue, exhausted, paused } = callbacks;
	const rows: [string, string][] = [
		[
			"Campaign book",
			book === null
				? "none in KV: nothing was imported yet, or see the problems"
				: `version ${book.version}, published ${describeAge(book.age_seconds)} ago`,
		],
	];
	if (book_changes_waiting > 0) rows.push(["", `changes that wait to be published: ${book_changes_waiting}`]);
	for (const [name, queue] of Object.entries(queues)) {
		rows.push([
			`Queue ${name}`,
			queue === null
				? "not told"
				: `${counted(queue.messages, "message")}${queue.oldest_at === null ? "" : `, the oldest of ${queue.oldest_at}`}`,
		]);
	}
	const oldest = undelivered.oldest_age_seconds === null ? "" : `, the oldest ${describeAge(undelivered.oldest_age_seconds)} old`;
	rows.push(["Callbacks", `${undelivered.count} undelivered${oldest}; ${overdue} overdue, ${exhausted} exhausted`]);
	for (const { publisher, since, failures_in_a_row } of paused) {
		rows.push(["", `the address of ${publisher} is paused since ${since}, after ${failures_in_a_row} failures in a row`]);
	}
	rows.push(...describeClicks(clicks));
	const { waiting, unmatched, held_for } = conversions;
	rows.push(["Conversions", `${waiting} waiting for their click, ${unmatched} unmatched, ${held_for.no_rate} without an exchange rate`]);
	if (conversions.quarantined > held_for.no_rate) {
		rows.push([
			"",
			`held: ${held_for.amount} above their ceiling, ${held_for.review} for review, ${held_for.publisher_suspended} of suspended publishers`,
		]);
	}
	if (conversions.credited_without_rate > 0) {
		rows.push(["", `credited, and now without an exchange rate: ${conversions.credited_without_rate}; import the rate, or void them`]);
	}
	const { unknown_status } = conversions;
	if (unknown_status.count > 0) rows.push(["", `pending for a status that no map knows: ${unknown_status.count}`]);
	for (const { platform, word, count, newest_at } of unknown_status.words) {
		rows.push(["", `${platform} says ${JSON.stringify(word)}: ${count}, the newest of ${newest_at}`]);
	}
	rows.push(...describeSums(sums), ...describeLedger(ledger), describeDays(days), ...describeCron(cron));
	rows.push([
		"Dead letters",
		Object.entries(dead_letters)
			.map(([queue, count]) => `${count} of ${queue}`)
			.join(", "),
	]);
	if (kept.clicks + kept.dead_letters > 0) {
		rows.push([
			"Kept in KV",
			`${counted(kept.clicks, "click")} that the queue refused, ${counted(kept.dead_letters, "dead letter")} that the database refused`,
		]);
	}
	rows.push([
		"Database",
		database_bytes === null
			? "not told"
			: `${(database_bytes / 1e6).toFixed(1)} MB ${status.database_engine === "d1" ? "of 10 GB" : "in PostgreSQL"}`,
	]);
	if (status.database_alert !== null) {
		rows.push(["", `over ${status.database_alert} % full: when it is full nothing more is written; shorten CLICK_RETENTION_DAYS`]);
	}
	const { products_bytes, products_alert } = status;
	rows.push(["Products", products_bytes === null ? "not told" : `${(products_bytes / 1e6).toFixed(1)} MB of 10 GB`]);
	if (products_alert !== null) {
		rows.push(["", `over ${products_alert} % full: when it is full no feed is taken over; remove products that are sold no more`]);
	}
	const { count, campaigns } = paused_campaigns;
	const more = count > campaigns.length ? ", …" : "";
	rows.push(["Paused campaigns", count === 0 ? "none" : `${count}: ${campaigns.join(", ")}${more}`]);
	rows.push(...describeProblems(status.problems));
	return rows.map(([name, text]) => `${name.padEnd(16)}  ${text}`);
}

function describeProblems(problems: Status["problems"]): [string, string][] {
	if (problems.length === 0) return [["Problems", "none"]];
	return problems.map(({ text, count, since, cost, command }, at) => [
		at === 0 ? "Problems" : "",
		[
			`${count} ${text}`,
			since === null ? "" : `, since ${since}`,
			cost === null ? "" : `, worth ${cost} USD`,
			command === null ? "" : `: \`${command}\``,
		].join(""),
	]);
}

function describeClicks({ since, paid, unpaid, dropped }: Status["clicks"]): [string, string][] {
	const total = unpaid.reduce((sum, { count }) => sum + count, 0);
	return [
		[
			"Clicks",
			`${paid} paid and ${total} unpaid since ${since}${dropped === 0 ? "" : `; ${dropped} more unpaid ones were counted, not stored`}`,
		],
		...unpaid.map(({ reason, count }): [string, string] => ["", `unpaid: ${count}, ${REASONS[reason]}`]),
	];
}

function describeSums({ compared_at, difference_count, differences }: Status["sums"]): [string, string][] {
	if (difference_count === 0)
		return [["Counters", compared_at === null ? "not compared with their rows yet" : `right, compared ${compared_at}`]];
	return [
		["Counters", `${difference_count} sums differ from their rows: \`reconcile-sums --repair\` writes them right`],
		...differences.map((difference): [string, string] => ["", describeSum(difference)]),
	];
}

function describeLedger({ whole, difference_count, differences }: Status["ledger"]): [string, string][] {
	const checked = whole === null ? "not all checked yet" : `${counted(whole.conversions, "conversion")} checked by ${whole.ended_at}`;
	return [
		["Ledger", difference_count === 0 ? `right, ${checked}` : `${difference_count} things differ; ${checked}`],
		...differences.map((difference): [string, string] => ["", describeLedgerDifference(difference)]),
	];
}

function describeDays({ selected_at, without_digest, to_renew, oldest }: Status["days"]): [string, string] {
	if (selected_at === null) return ["Day digests", "not looked for yet"];
	const waiting = `${counted(without_digest, "day")} without one, ${to_renew} to be made again${oldest === null ? "" : `, from ${oldest} on`}`;
	return ["Day digests", `${oldest === null ? "all made" : waiting}; looked for at ${selected_at}`];
}

function describeCron(jobs: Status["cron"]): [string, string][] {
	const failing = jobs.flatMap(({ job, ended_at, failing_since }): [string, string][] =>
		failing_since === null ? [] : [["", `${job} fails since ${failing_since}; it last came to its end ${ended_at}`]],
	);
	const newest = jobs
		.map(({ ended_at }) => ended_at)
		.toSorted()
		.at(-1);
	return [
		["Cron", newest === undefined ? "has not run yet" : `${jobs.length} jobs, the last of which came to its end ${newest}`],
		...failing,
	];
}

function describeAge(seconds: number): string {
	if (seconds < 120) return `${seconds} s`;
	if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)} min`;
	return seconds < 48 * 3_600 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
