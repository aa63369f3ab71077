/** Turns a record of a feed into an entry of the network file, whose schema then decides. */
import { hostOfAddress, readWebAddress } from "../../lib/host.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ProductEntry, SellerProductEntry } from "../network/network-file.ts";
import { readEntry } from "../network/read-entry.ts";
import type { FeedReport } from "./feed-answer.ts";
import { type ColumnPlan, type FeedKind, fieldsOf } from "./feed-columns.ts";
import type { FeedRecord } from "./feed-text.ts";
import { type FeedPrice, readingsOf, readPrice, yenOrYuan } from "./read-price.ts";
import { unescapeText } from "./unescape-text.ts";

export type FeedEntry = {
	line: number;
	entry: ProductEntry | SellerProductEntry;
	/** Canonical host of the product's page. */
	host: string;
};
export type Rejected = FeedReport["rejected_lines"][number];

export type RecordOptions = {
	kind: FeedKind;
	plan: ColumnPlan;
	/** Field → value, which holds for every product whatever its columns say. */
	constants: ReadonlyMap<string, string>;
	idPrefix: string;
	now: number;
};

class RecordFault extends Error {
	override readonly name = "RecordFault";
}

/** Reads one record. Only the first field at fault is reported. */
export function readFeedRecord(record: FeedRecord, options: RecordOptions): FeedEntry | Rejected {
	const { line } = record;
	if ("fault" in record) return { line, reason: record.fault };
	try {
		return { line, ...readFields(record.get, options) };
	} catch (error) {
		if (error instanceof RecordFault) return { line, reason: error.message };
		throw error;
	}
}

type Get = (column: string) => unknown;

function readFields(get: Get, options: RecordOptions): Omit<FeedEntry, "line"> {
	const { kind, constants, idPrefix } = options;
	const take = (field: string) => constants.get(field) ?? cellOf(get, options.plan, field);
	const fields: Record<string, string | null | undefined> = {};
	for (const field of fieldsOf(kind)) if (!COMPUTED.has(field)) fields[field] = take(field) ?? undefined;
	const id = kind === "products" ? "id" : "asin";
	if (fields[id] !== undefined) fields[id] = idPrefix + fields[id];
	if (typeof fields.url !== "string") throw new RecordFault("url is required");
	// As the click tracker reads it: of any other it would lead to the brand's homepage.
	const address = readWebAddress(fields.url);
	const host = address === null ? null : hostOfAddress(address);
	if (host === null) throw new RecordFault("url must be an http(s) address");
	fields.domain ??= host;
	Object.assign(fields, readPrices(get, options, take("currency")));
	const read = kind === "products" ? readEntry("products", fields, "") : readEntry("seller_products", fields, "");
	if ("entry" in read) return { entry: read.entry, host };
	const [fault] = read.faults;
	throw new RecordFault(fault === undefined ? "is not a product" : `${fault.path.slice(1)} ${fault.message}`.trim());
}

const COMPUTED = new Set(["currency", "regular_price", "final_price", "current_price", "sale_price_effective_date"]);

/** What people read and search by. Addresses and ids stay as they are, and descriptions, which may be HTML. */
const NAMES = new Set(["name", "brand", "category", "seller_name", "manufacturer", "catalog_name"]);

/** The first of a field's columns that is not blank, as text. */
function cellOf(get: Get, plan: ColumnPlan, field: string): string | null {
	for (const column of plan.get(field) ?? []) {
		const text = textOf(get(column), field);
		if (text !== null) return NAMES.has(field) ? unescapeText(text) : text;
	}
	return null;
}

function textOf(cell: unknown, field: string): string | null {
	if (cell === undefined || cell === null) return null;
	if (typeof cell === "string") return cell.trim() === "" ? null : cell.trim();
	// Two ids that differ in their last digits would be one.
	if (Number.isInteger(cell) && !Number.isSafeInteger(cell))
		throw new RecordFault(`${field} has too many digits for a number: write a text`);
	// A sum such as 0.1 + 0.2 has more digits than were meant.
	if (typeof cell === "number") return String(Number(cell.toFixed(6)));
	if (typeof cell === "boolean") return String(cell);
	throw new RecordFault(`${field} must be a text`);
}

/** `text`: as it is written; absent for a number of JSON, whose point is one. */
type WrittenPrice = FeedPrice & { text?: string };

/** Whether it is in what `¥` stands for, and no code says what that is. */
function isYenSign({ text = "" }: WrittenPrice): boolean {
	return text.includes("¥") && !/[a-z]/i.test(text);
}

/** The prices and their currency. A price of zero beside a higher one means none. */
function readPrices(get: Get, options: RecordOptions, currency: string | null): Record<string, string | null | undefined> {
	const { kind, constants, plan, now } = options;
	const read = (field: string, columns: readonly string[]): WrittenPrice | null => {
		const constant = constants.get(field);
		const cells = constant === undefined ? columns.map((column) => get(column)) : [constant];
		const prices = cells.flatMap((cell): WrittenPrice[] => {
			const text = textOf(cell, field);
			if (text === null) return [];
			const price = readPrice(text);
			if (price === null) throw new RecordFault(`${field} must be a price such as 12.00 or 12.00 USD`);
			return [typeof cell === "number" ? price : { ...price, text }];
		});
		return prices.find(({ amount }) => Number(amount) > 0) ?? prices[0] ?? null;
	};
	const onSale = isSaleOn(cellOf(get, plan, "sale_price_effective_date"), now);
	const columnsOf = (field: string) => (plan.get(field) ?? []).filter((column) => onSale || column !== "saleprice");
	const isSeller = kind === "seller_products";
	const present = read(isSeller ? "current_price" : "final_price", columnsOf(isSeller ? "current_price" : "final_price"));
	const regular = isSeller ? null : read("regular_price", columnsOf("regular_price"));
	const prices = [present, regular].filter((price) => price !== null);
	const codes = new Set(
		[currency?.toUpperCase(), ...prices.map((price) => (isYenSign(price) ? null : price.currency))].filter(
			(code) => code !== undefined && code !== null,
		),
	);
	if (prices.some(isYenSign)) codes.add(yenOrYuan(codes));
	if (codes.size > 1) throw new RecordFault(`is priced in more than one currency: ${[...codes].join(", ")}`);
	const [code = "USD"] = codes;
	if (isSeller) {
		if (present !== null && code !== "USD") throw new RecordFault(`current_price must be in USD, not ${code}`);
		return { current_price: present?.amount ?? null };
	}
	demandOneReading("final_price", present, code);
	demandOneReading("regular_price", regular, code);
	const regularAmount = regular !== null && Number(regular.amount) > 0 ? regular.amount : null;
	return { currency: code, regular_price: regularAmount, final_price: present?.amount };
}

/** @throws RecordFault where a price may be a thousand times another: the wrong one would be shown to users */
function demandOneReading(field: string, price: WrittenPrice | null, currency: string): void {
	const readings = price?.text === undefined ? null : readingsOf(price.text, currency);
	if (readings === null) return;
	const [grouped, decimal] = readings;
	throw new RecordFault(`${field} ${price?.text} may be ${grouped} or ${decimal} in ${currency}: write ${grouped}.00 or ${decimal}0`);
}

/** Google's `2026-11-01T00:00Z/2026-11-30T23:59Z`; a bare day is in it to its end. What cannot be read does not end a sale. */
function isSaleOn(period: string | null, now: number): boolean {
	const [start = "", end = ""] = period?.split("/") ?? [];
	const lasts = /^\d{4}-\d{2}-\d{2}$/.test(end.trim()) ? DAY_MS : 0;
	return !(Date.parse(start) > now) && !(Date.parse(end) + lasts < now);
}
