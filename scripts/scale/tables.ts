/** The tables of docs/scale.md. */
import { ASSUMPTIONS, type Assumption, type Values } from "./assumptions.ts";
import { bookNeeds, bookOf } from "./book.ts";
import { charge, cloudflareTotal, costsOf } from "./costs.ts";
import { d1Gb, daysToFill, MONTH_SECONDS, needsOf, postgresSize } from "./model.ts";
import { PRICES, type Price } from "./prices.ts";
import { wallsInOrder } from "./walls.ts";
import { writeDollars, writeExactly, writeNumber, writeTable } from "./write.ts";

const LOADS: readonly number[] = [1_000, 10_000, 100_000, 1_000_000];
const CATALOGUES: readonly number[] = [1_000, 10_000, 100_000, 1_000_000];

/** Every table, by the name that the page has it under. */
export function writeTables(v: Values, loads: readonly number[] = LOADS): Record<TableName, string> {
	return {
		walls: writeWalls(v),
		loads: writeLoads(v, loads),
		needs: writeNeeds(v, loads),
		costs: writeCosts(v, loads),
		catalogues: writeCatalogues(v),
		assumptions: writeAssumptions(),
	};
}

export const TABLE_NAMES = ["walls", "loads", "needs", "costs", "catalogues", "assumptions"] as const;
export type TableName = (typeof TABLE_NAMES)[number];

function writeWalls(v: Values): string {
	const rows = wallsInOrder(v).map(({ name, effect, remedy, bidsPerSecond }, at) => [
		String(at + 1),
		name,
		writeNumber(bidsPerSecond),
		effect,
		remedy,
	]);
	return writeTable(["", "wall", ">reached at bids/s", "then", "what to do"], rows);
}

/** Of each load, on D1 and then on PostgreSQL: the walls that are behind it, and the next one. */
function writeLoads(v: Values, loads: readonly number[]): string {
	const walls = wallsInOrder(v).map((wall, at) => ({ ...wall, number: at + 1 }));
	const rows = loads.map((load) => {
		const cells = (["D1", "PostgreSQL"] as const).flatMap((engine) => {
			const standing = walls.filter((wall) => wall.engine === null || wall.engine === engine);
			const past = standing.filter(({ bidsPerSecond }) => bidsPerSecond <= load).map(({ number }) => number);
			const next = standing.find(({ bidsPerSecond }) => bidsPerSecond > load);
			return [past.join(", ") || "none", next === undefined ? "none" : `${next.number}, at ${writeNumber(next.bidsPerSecond)}`];
		});
		return [writeNumber(load), ...cells];
	});
	return writeTable([">bids/s", "on D1, past", "next", "on PostgreSQL, past", "next"], rows);
}

function writeNeeds(v: Values, loads: readonly number[]): string {
	const columns = loads.map((bidsPerSecond) => {
		const needs = needsOf({ bidsPerSecond }, v);
		return { needs, postgres: postgresSize(needs, v.retentionDays, v) };
	});
	const row = (what: string, value: (column: (typeof columns)[number]) => number) => [
		what,
		...columns.map((column) => writeNumber(value(column))),
	];
	const rows = [
		row("clicks a second", ({ needs }) => needs.clicks),
		row("conversions a day", ({ needs }) => needs.conversions * 86_400),
		row("Workers: requests a month, millions", ({ needs }) => (needs.requests * MONTH_SECONDS) / 1e6),
		row("Workers: CPU, cores busy", ({ needs }) => needs.cpuMs / 1_000),
		row("isolates that bid", ({ needs }) => needs.isolates),
		row("KV: keys read a second", ({ needs }) => needs.kvReads),
		row("KV: keys written an hour", ({ needs }) => needs.kvWrites * 3_600),
		row("queues: messages a second, at the peak", ({ needs }) => (needs.clicks + needs.postbacks + needs.callbacks) * v.peakFactor),
		row(`queues: hours of clicks in ${v.queueBacklogGb} GB`, ({ needs }) => {
			const bytes = v.clickMessageBytes + v.messageOverheadBytes;
			return (v.queueBacklogGb * 1e9) / (needs.clicks * bytes * 3_600);
		}),
		row("D1: rows written a second", ({ needs }) => needs.rowsWritten),
		row(`D1: days until ${v.d1Gb} GB, nothing removed`, ({ needs }) => daysToFill(needs, v)),
		row(`D1: GB, with ${v.leastRetentionDays} days of clicks and ${v.conversionDays} of conversions`, ({ needs }) =>
			d1Gb(needs, v.leastRetentionDays, v),
		),
		row(
			`PostgreSQL: TB, with ${v.retentionDays} days of clicks and ${v.conversionDays} of conversions`,
			({ postgres }) => postgres.storageGb / 1_000,
		),
		row("PostgreSQL: GB of WAL a day", ({ postgres }) => postgres.walGbPerDay),
		row("PostgreSQL: IOPS at the peak", ({ postgres }) => postgres.iops),
		row("PostgreSQL: cores", ({ postgres }) => postgres.cores),
		row("PostgreSQL: nodes (beyond one: Citus)", ({ postgres }) => postgres.nodes),
		row(
			"Hyperdrive: connections of consumers and cron, of 100",
			() => v.clickConsumers + v.postbackConsumers + v.callbackConsumers * v.callbacksAtOnce + 1,
		),
		row("logs: GB a month", ({ needs }) => (needs.logBytes * MONTH_SECONDS) / 1e9),
	];
	return writeTable(["bids a second", ...loads.map((load) => `>${writeNumber(load)}`)], rows);
}

function writeCosts(v: Values, loads: readonly number[]): string {
	const columns = loads.map((bidsPerSecond) => ({ bidsPerSecond, costs: costsOf(needsOf({ bidsPerSecond }, v), v.retentionDays, v) }));
	const row = (what: string, value: (column: (typeof columns)[number]) => number) => [
		what,
		...columns.map((column) => writeDollars(value(column))),
	];
	const rows = [
		row("Workers: plan and requests", ({ costs }) => costs.plan + costs.requests),
		row("Workers: CPU", ({ costs }) => costs.cpu),
		row("KV", ({ costs }) => costs.kv),
		row("Queues", ({ costs }) => costs.queues),
		row("Logs", ({ costs }) => costs.logs),
		row("**Cloudflare, with PostgreSQL**", ({ costs }) => cloudflareTotal(costs)),
		row("a million bids", ({ bidsPerSecond, costs }) => (cloudflareTotal(costs) * 1e6) / (bidsPerSecond * MONTH_SECONDS)),
		row("PostgreSQL, primary and standby (assumed price)", ({ costs }) => costs.postgres),
		row("instead: the ledger on D1, if it held so much", ({ costs }) => costs.d1),
		row("besides, where bound: Analytics Engine", ({ costs }) => costs.dataPoints),
	];
	return writeTable(["US dollars a month, at bids a second", ...loads.map((load) => `>${writeNumber(load)}`)], rows);
}

/** Costs of KV's reads for a million bids, at 10,000 bids a second, so that isolates are busy. */
const CATALOGUE_BIDS_PER_SECOND = 10_000;

function writeCatalogues(v: Values): string {
	const rows = CATALOGUES.map((campaigns) => {
		const book = bookOf(campaigns, v);
		const { kvReads } = bookNeeds(CATALOGUE_BIDS_PER_SECOND, campaigns, v);
		const perMillion = (kvReads * 1e6) / CATALOGUE_BIDS_PER_SECOND;
		return [
			writeNumber(campaigns),
			writeNumber(book.bytes / 1e6),
			writeExactly(book.shards),
			writeNumber((book.residentShare * book.bytes) / 1e6),
			`${writeNumber(book.waitedShare * 100)} %`,
			writeNumber(perMillion),
			writeDollars(charge(perMillion / 1e6, { ...PRICES.kvReads, included: 0 })),
		];
	});
	return writeTable(
		[
			">campaigns",
			">MB in KV",
			">shards",
			`>MB of an isolate's ${v.isolateMb}`,
			">bids that read KV",
			">keys read a million bids",
			">dollars a million bids",
		],
		rows,
	);
}

/** What nobody has measured and no page says: the values to replace by one's own. */
function writeAssumptions(): string {
	const values = Object.values<Assumption>(ASSUMPTIONS)
		.filter(({ source }) => source.kind === "assumed")
		.map(({ value, unit, what }) => [`${writeExactly(value)} ${unit}`, what]);
	const prices = Object.values<Price>(PRICES)
		.filter(({ page }) => page === null)
		.map(({ of, dollars, unit }) => [`$${dollars} a ${unit}`, of]);
	return writeTable(["value", "of"], [...values, ...prices]);
}
