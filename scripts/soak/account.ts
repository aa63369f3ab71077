/** Holds the service's books against the tally: every difference, in words. Empty where all that was acknowledged is accounted for. */
import type { Stack } from "../stack/start-stack.ts";
import type { SoakDatabase } from "./database.ts";
import { ACCESS_KEY } from "./network.ts";
import type { Receiver } from "./receiver.ts";
import type { Order, Tally } from "./tally.ts";

/** Differences that are listed; more are only counted. */
const MAX_TOLD = 20;

type ClickRow = { hash: string; redirects: number; billed: number };
type ConversionRow = { txnid: string; stage: string; status: string };

export async function findDifferences(stack: Stack, database: SoakDatabase, tally: Tally, receiver: Receiver): Promise<string[]> {
	const differences = [
		...compareClicks(
			await database.read<ClickRow>(
				stack,
				"SELECT click_hash AS hash, COUNT(*) AS redirects, COUNT(*) - COUNT(reason) AS billed FROM clicks GROUP BY click_hash",
			),
			tally,
		),
		...compareConversions(await database.read<ConversionRow>(stack, "SELECT txnid, stage, status FROM conversions"), tally),
		...compareCallbacks(tally, receiver),
		...(await compareSums(stack, tally)),
	];
	return differences.length <= MAX_TOLD ? differences : [...differences.slice(0, MAX_TOLD), `… and ${differences.length - MAX_TOLD} more`];
}

/** Each redirect is recorded, and each auction's click is billed once. */
function compareClicks(rows: readonly ClickRow[], tally: Tally): string[] {
	const stored = new Map(rows.map((row) => [row.hash, row]));
	const missing = [...tally.redirects].flatMap(([hash, redirects]) => {
		const row = stored.get(hash);
		if (row === undefined) return [`click ${hash} was redirected ${redirects} times and is not recorded`];
		if (row.redirects !== redirects) return [`click ${hash} was redirected ${redirects} times and recorded ${row.redirects} times`];
		return row.billed === 1 ? [] : [`click ${hash} is billed ${row.billed} times`];
	});
	const invented = rows
		.filter(({ hash }) => !tally.redirects.has(hash))
		.map(({ hash }) => `click ${hash} is recorded and was never answered`);
	return [...missing, ...invented];
}

/** Each order stands as it was last acknowledged. */
function compareConversions(rows: readonly ConversionRow[], tally: Tally): string[] {
	const stored = new Map(rows.map((row) => [row.txnid, row]));
	return [...tally.orders].flatMap(([txnid, { status }]) => {
		const row = stored.get(txnid);
		if (row === undefined) return [`${txnid} was acknowledged and is not stored`];
		if (row.stage !== "settled") return [`${txnid} is ${row.stage}`];
		return row.status === status ? [] : [`${txnid} was last acknowledged as ${status} and stands as ${row.status}`];
	});
}

/** Credits and cancellations come in turns, a credit first, and the last says how the order stands. */
function compareCallbacks(tally: Tally, { confirmed }: Receiver): string[] {
	const differences = [...tally.orders].flatMap(([txnid, order]) => judgeCallbacks(txnid, order, confirmed.get(txnid) ?? []));
	const invented = [...confirmed.keys()]
		.filter((txnid) => !tally.orders.has(txnid))
		.map((txnid) => `${txnid} was called back and never reported`);
	return [...differences, ...invented];
}

function judgeCallbacks(txnid: string, { status }: Order, calls: readonly string[]): string[] {
	const inTurns = calls.every((call, at) => call === (at % 2 === 0 ? "approved" : "cancelled"));
	const last = calls.at(-1);
	const expected = status === "approved" ? "approved" : last === undefined ? undefined : "cancelled";
	return inTurns && last === expected ? [] : [`${txnid} stands as ${status} and was called back: ${calls.join(", ") || "never"}`];
}

/** All reports give the same sum: that of the orders. */
async function compareSums(stack: Stack, tally: Tally): Promise<string[]> {
	const sums = await Promise.all(
		["daywise", "source_level", "clickid_level"].map(async (type) => ({ type, micros: await sumReport(stack, type) })),
	);
	return sums
		.filter(({ micros }) => micros !== tally.revenueMicros)
		.map(({ type, micros }) => `${type} adds up to ${micros} micro-dollars, the orders to ${tally.revenueMicros}`);
}

async function sumReport(stack: Stack, type: string): Promise<number> {
	const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
	const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
	let micros = 0;
	for (let page = 1, pages = 1; page <= pages; page++) {
		const response = await fetch(`${stack.origin}/api/reporting/revenue-share`, {
			method: "POST",
			headers: { AccessKey: ACCESS_KEY },
			body: new URLSearchParams({ report_type: type, start_date: yesterday, end_date: tomorrow, page: String(page), limit: "5000" }),
		});
		const body = (await response.json()) as { data: { publisher_revenue: string }[]; total_pages: number };
		for (const record of body.data) micros += Math.round(Number(record.publisher_revenue) * 1_000_000);
		pages = body.total_pages;
	}
	return micros;
}
