/** Takes exchange rates, products of both kinds, and the network's own settings: each laid over what is stored. */
import type { exchangeRates } from "../../db/schema/platforms.ts";
import { isObject } from "../../lib/json.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import {
	compactEntry,
	exportProduct,
	exportRate,
	exportSellerProduct,
	exportTraffic,
	type FileEntry,
	type Stored,
} from "./export-entry.ts";
import { type Given, type ImportRun, SETTING_NAMES, type SettingName } from "./import-run.ts";
import { exportLearning, networkLearningSchema } from "./learning-file.ts";
import { type Entries, type ExchangeRateEntry, productSchema, sellerProductSchema } from "./network-file.ts";
import { mergeEntry, readEntry, readSettings } from "./read-entry.ts";
import { writeProduct, writeSellerProduct } from "./stage-entries.ts";
import {
	findRatesBefore,
	findStoredProducts,
	findStoredRates,
	findStoredSellerProducts,
	isSameRow,
	readNetworkSettings,
} from "./stored-entries.ts";
import { trafficSchema } from "./traffic-file.ts";
import { unknownFields } from "./unknown-fields.ts";

type Section = "exchange_rates" | "products" | "seller_products";

/** What sections have in common whose entries stand alone. */
type Kind<Row extends Record<string, unknown>, StoredRow extends object, Entry> = {
	section: Section;
	/** What an entry is called in faults. */
	noun: string;
	/** The natural key, as far as it can be read; empty where it cannot. */
	idOf: (value: Readonly<Record<string, unknown>>) => string;
	idOfEntry: (entry: Entry) => string;
	/** Where a fault of the key is. */
	keyField: string;
	write: (entry: Entry) => Row;
	export: (row: StoredRow | Row) => FileEntry;
	compact: (entry: FileEntry) => FileEntry;
};

const textOf = (value: unknown) => (typeof value === "string" ? value.trim() : "");

async function takeChunk<Name extends Section, Row extends Record<string, unknown>, StoredRow extends object>(
	run: ImportRun,
	chunk: readonly Given[],
	kind: Kind<Row, StoredRow, Entries[Name]> & { section: Name },
	found: ReadonlyMap<string, StoredRow>,
): Promise<void> {
	const { section } = kind;
	const stage = section === "exchange_rates" ? run.stages.network : run.stages.products;
	for (const { value, path, undoing } of chunk) {
		run.counts[section]++;
		const stored = isObject(value) ? found.get(kind.idOf(value)) : undefined;
		const base = stored === undefined ? null : kind.export(stored);
		const read = readEntry(section, mergeEntry(base, value), path);
		if ("faults" in read) {
			run.note(read.faults);
			continue;
		}
		run.noteUnknown(unknownFields(section, value, path));
		if ("domain" in read.entry) run.noteProductDomain(read.entry.domain, `${path}.domain`);
		const id = kind.idOfEntry(read.entry);
		run.note(run.index.claimKey(kind.noun, id, path, kind.keyField));
		if (undoing !== undefined) run.expect(section, id, undoing.expected, base);
		if (!run.isSound) continue;
		const row = kind.write(read.entry);
		const change =
			stored === undefined || base === null
				? run.difference.add(section, id, () => kind.compact(kind.export(row)))
				: isSameRow(stored, row)
					? null
					: run.difference.compare(section, id, base, kind.export(row));
		await run.record(change);
		// What a feed brought belongs to the network file from now on: no feed removes it.
		const isFeeds = stored !== undefined && "feedId" in stored && stored.feedId !== null;
		if (change !== null || isFeeds) await stage.add(section, row);
	}
}

function rateId({ currency, date }: Pick<ExchangeRateEntry, "currency" | "date">): string {
	return `${currency} ${date}`;
}

/** @param isLast no other part of the file comes behind */
export async function takeRates(run: ImportRun, chunk: readonly Given[], isLast: boolean): Promise<void> {
	const idOf = (value: Readonly<Record<string, unknown>>) =>
		rateId({ currency: textOf(value.currency).toUpperCase(), date: typeof value.date === "string" ? value.date : "" });
	const found = await findStoredRates(run.db, idsOf(chunk, idOf));
	const rates: ExchangeRate[] = [];
	await takeChunk(
		run,
		chunk,
		{
			section: "exchange_rates",
			noun: "rate",
			idOf,
			idOfEntry: rateId,
			keyField: "",
			write: (entry) => {
				const row = { id: rateId(entry), currency: entry.currency, date: entry.date, usdNanos: entry.usd };
				rates.push(row);
				return row;
			},
			export: exportRate,
			compact: (entry) => entry,
		},
		found,
	);
	const changed = new Set(rates.filter(({ id, usdNanos }) => found.get(id)?.usdNanos !== usdNanos).map(({ id }) => id));
	const known = [...run.newestRates.values(), ...[...run.oldestRates.values()].map(({ rate }) => rate), ...rates];
	const given = new Map(known.map((rate) => [rate.id, rate]));
	for (const rate of rates) if (rate.id >= (run.newestRates.get(rate.currency)?.id ?? "")) run.newestRates.set(rate.currency, rate);
	const before = changed.size === 0 ? new Map<string, ExchangeRate>() : await findRatesBefore(run.db, [...changed]);
	const told = [...run.oldestRates.values()];
	for (const { value, path } of chunk) {
		const rate = isObject(value) ? given.get(idOf(value)) : undefined;
		if (rate !== undefined && changed.has(rate.id)) told.push({ rate, path: `${path}.usd`, before: before.get(rate.id) });
	}
	if (told.length === 0) return;
	run.oldestRates.clear();
	const messages = warnOfRates([...given.values()], {
		before: new Map(told.map(({ rate, before: last }) => [rate.id, last])),
		lastDay: utcDay(run.options.startedAt + MOST_DAYS_AHEAD * DAY_MS),
	});
	const oldest = new Map(
		[...given.values()]
			.sort(byId)
			.toReversed()
			.map(({ currency, id }) => [currency, id]),
	);
	for (const one of told) {
		const message = messages.get(one.rate.id);
		// What it is to be compared with may come behind, where the newest come first.
		if (!isLast && oldest.get(one.rate.currency) === one.rate.id) run.oldestRates.set(one.rate.currency, { ...one, message });
		else if (message !== undefined) run.warn([{ path: one.path, message }]);
	}
}

const byId = (one: ExchangeRate, other: ExchangeRate) => (one.id < other.id ? -1 : 1);

type ExchangeRate = Stored<typeof exchangeRates>;

/** A rate moves by no more from one day that has one to the next, unless it is mistyped. */
const MOST_MOVED = 2;
/** Rates are agreed for the coming month at the most; one of a later day has a mistyped date. */
const MOST_DAYS_AHEAD = 31;

/**
 * What is odd about rates, by their ids.
 * @param rates all that are given together, and of those given before them the newest and the oldest
 * @param of    of each that is told of the last stored one before it, and the last day that none is after
 */
function warnOfRates(
	rates: readonly ExchangeRate[],
	of: { before: ReadonlyMap<string, ExchangeRate | undefined>; lastDay: string },
): ReadonlyMap<string, string> {
	const inOrder = [...rates].sort(byId);
	return new Map(
		inOrder.flatMap((rate, at): [string, string][] => {
			if (!of.before.has(rate.id)) return [];
			if (rate.currency === "USD") return [[rate.id, "counts nothing: amounts in USD are taken as they are"]];
			if (rate.date > of.lastDay) {
				return [[rate.id, `is of ${rate.date}, over ${MOST_DAYS_AHEAD} days ahead, and holds for that day alone: see that it is meant`]];
			}
			const [given, stored] = [inOrder[at - 1], of.before.get(rate.id)];
			const isGiven = given?.currency === rate.currency && (stored === undefined || given.id >= stored.id);
			const last = isGiven ? given : stored;
			if (last === undefined) return [];
			const isMore = rate.usdNanos > last.usdNanos * MOST_MOVED;
			if (!isMore && rate.usdNanos * MOST_MOVED >= last.usdNanos) return [];
			const way = isMore ? "more than twice" : "less than half";
			return [[rate.id, `is ${way} the rate before it, ${exportRate(last).usd} on ${last.date}: see that it is meant`]];
		}),
	);
}

export async function takeProducts(run: ImportRun, chunk: readonly Given[]): Promise<void> {
	const idOf = (value: Readonly<Record<string, unknown>>) => textOf(value.id);
	await takeChunk(
		run,
		chunk,
		{
			section: "products",
			noun: "product",
			idOf,
			idOfEntry: ({ id }) => id,
			keyField: ".id",
			write: writeProduct,
			export: exportProduct,
			compact: (entry) => compactEntry(entry, productSchema.entries),
		},
		await findStoredProducts(run.products, idsOf(chunk, idOf)),
	);
}

export async function takeSellerProducts(run: ImportRun, chunk: readonly Given[]): Promise<void> {
	const ids = chunk.flatMap(({ value }) => (isObject(value) ? [[textOf(value.asin), textOf(value.seller_id)] as const] : []));
	await takeChunk(
		run,
		chunk,
		{
			section: "seller_products",
			noun: "seller product",
			idOf: (value) => `${textOf(value.asin)} ${textOf(value.seller_id)}`,
			idOfEntry: (entry) => `${entry.asin} ${entry.seller_id}`,
			keyField: ".asin",
			write: writeSellerProduct,
			export: exportSellerProduct,
			compact: (entry) => compactEntry(entry, sellerProductSchema.entries),
		},
		await findStoredSellerProducts(run.products, ids),
	);
}

function idsOf(chunk: readonly Given[], idOf: (value: Readonly<Record<string, unknown>>) => string): string[] {
	return [...new Set(chunk.flatMap(({ value }) => (isObject(value) ? [idOf(value)] : [])))];
}

/** What the network's own settings are called in differences. */
const NETWORK = "network";

/** How each of them is read, where it is stored, and how it is written again. */
const SETTING_KINDS = {
	traffic: { schema: trafficSchema, column: "traffic", export: exportTraffic },
	epc_learning: { schema: networkLearningSchema, column: "epcLearning", export: exportLearning },
} as const;

/** Settings of the whole network: each that is given replaces the one stored; null sets none. */
export async function takeSettings(run: ImportRun, chunk: readonly Given[]): Promise<void> {
	const row = { id: 1, ...(await readNetworkSettings(run.db)) };
	let isChanged = false;
	for (const { value, undoing } of chunk) {
		const given = value as Partial<Record<SettingName, unknown>>;
		for (const name of SETTING_NAMES.filter((each) => given[each] !== undefined)) {
			const { schema, column, export: exportSettings } = SETTING_KINDS[name];
			const read = given[name] === null ? { settings: null } : readSettings(schema, given[name], name);
			if ("faults" in read) {
				run.note(read.faults);
				continue;
			}
			const before = { [name]: exportSettings(row[column]) };
			if (undoing !== undefined) run.expect(name, NETWORK, undoing.expected, before);
			const text = read.settings === null ? null : JSON.stringify(read.settings);
			const change = run.difference.compare(name, NETWORK, before, { [name]: exportSettings(text) });
			if (change === null || !run.isSound) continue;
			await run.record(change);
			row[column] = text;
			isChanged = true;
		}
	}
	if (isChanged && run.isSound) await run.stages.network.add("network_settings", row);
}
