/** What a report request asks for. Pure: fields in, a query or the faults of each field out. */
import { invalidFields } from "../http/errors.ts";
import type { HttpError } from "../lib/http.ts";
import { DAY_MS, isUtcDay } from "../lib/time.ts";

/** Fields of a request by name, as they came. */
export type Fields = ReadonlyMap<string, unknown>;

export const REPORT_TYPES = ["daywise", "clickid_level", "source_level"] as const;
export type ReportType = (typeof REPORT_TYPES)[number];

/** Days in UTC, both ends included. */
export type Period = {
	startDate: string;
	endDate: string;
	/** The first millisecond of the first day. */
	startAt: number;
	/** The first millisecond after the last day. */
	endAt: number;
};

export type Paging = { page: number; limit: number };
export type ReportQuery = {
	period: Period;
	paging: Paging;
	/** The moment that the page is to show, as an earlier answer said; null for the present. */
	asOf: number | null;
	/** Whether approved and pending revenue are wanted apart. */
	detail: boolean;
};

export const DEFAULT_LIMIT = 1_000;
export const MAX_LIMIT = 5_000;
/** No period has so many pages; up to it a page that does not exist is an empty one. */
export const MAX_PAGE = 1_000_000_000;
/** Days a revenue share report may cover. */
export const MAX_REVENUE_SHARE_DAYS = 31;
/** Days a click-level report may cover: its dates may be two days apart. */
export const MAX_CLICK_LEVEL_DAYS = 3;

const WHOLE_NUMBER = /^[+-]?\d{1,300}$/;

/** @throws HttpError 422 that names every field at fault */
export function readRevenueShareQuery(fields: Fields): ReportQuery & { reportType: ReportType } {
	const faults = new Faults();
	const reportType = readReportType(fields, faults);
	const query = readQuery(fields, MAX_REVENUE_SHARE_DAYS, faults);
	const isOfSums = reportType !== null && reportType !== "clickid_level";
	const mayHaveMoment = !isOfSums || readGiven(fields, "as_of") === undefined || faults.add("as_of", `is not for ${reportType}`);
	if (reportType === null || query === null || mayHaveMoment === null) throw faults.error();
	return { reportType, ...query };
}

/** @throws HttpError 422 that names every field at fault */
export function readClickLevelQuery(fields: Fields): ReportQuery {
	const faults = new Faults();
	const query = readQuery(fields, MAX_CLICK_LEVEL_DAYS, faults);
	if (query === null) throw faults.error();
	return query;
}

/** What is wrong, by field. */
class Faults {
	readonly #messages: Record<string, string[]> = {};

	/** Returns null, which a reader returns for a field at fault. */
	add(field: string, message: string): null {
		this.#messages[field] = [...(this.#messages[field] ?? []), `The ${field} field ${message}.`];
		return null;
	}

	error(): HttpError {
		return invalidFields(this.#messages);
	}
}

function readQuery(fields: Fields, mostDays: number, faults: Faults): ReportQuery | null {
	const startDate = readDay(fields, "start_date", faults);
	const endDate = readDay(fields, "end_date", faults);
	const period = startDate === null || endDate === null ? null : readPeriod(startDate, endDate, mostDays, faults);
	const page = readWholeNumber(fields, "page", { fallback: 1, most: MAX_PAGE }, faults);
	const limit = readWholeNumber(fields, "limit", { fallback: DEFAULT_LIMIT, most: MAX_LIMIT }, faults);
	const asOf = readAsOf(fields, faults);
	const detail = readFlag(fields, "detail", faults);
	if (period === null || page === null || limit === null || asOf === undefined || detail === null) return null;
	return { period, paging: { page, limit }, asOf, detail };
}

function readPeriod(startDate: string, endDate: string, mostDays: number, faults: Faults): Period | null {
	const startAt = Date.parse(startDate);
	const endAt = Date.parse(endDate) + DAY_MS;
	if (endAt <= startAt) return faults.add("end_date", "must not be before start_date");
	const days = (endAt - startAt) / DAY_MS;
	if (days > mostDays)
		return faults.add("end_date", `must be at most ${mostDays - 1} days after start_date: the period here has ${days} days`);
	return { startDate, endDate, startAt, endAt };
}

function readReportType(fields: Fields, faults: Faults): ReportType | null {
	const text = readText(fields, "report_type", faults)?.toLowerCase();
	if (text === undefined) return null;
	const known = REPORT_TYPES.find((type) => type === text);
	return known ?? faults.add("report_type", `must be one of ${REPORT_TYPES.join(", ")}`);
}

function readDay(fields: Fields, name: string, faults: Faults): string | null {
	const text = readText(fields, name, faults);
	if (text === null || isUtcDay(text)) return text;
	return faults.add(name, "must be a date of the calendar, as YYYY-MM-DD");
}

/** A required field that is text. */
function readText(fields: Fields, name: string, faults: Faults): string | null {
	const value = readGiven(fields, name);
	if (value === undefined) return faults.add(name, "is required");
	return typeof value === "string" ? value : faults.add(name, "must be text");
}

/** A whole number from 1 or what is the least, as a number or in digits. */
function readWholeNumber(
	fields: Fields,
	name: string,
	{ fallback, least = 1, most }: { fallback: number; least?: number; most: number },
	faults: Faults,
): number | null {
	const value = readGiven(fields, name) ?? fallback;
	const number = typeof value === "string" && WHOLE_NUMBER.test(value) ? Number(value) : value;
	if (typeof number !== "number" || !Number.isInteger(number)) return faults.add(name, "must be a whole number");
	if (number < least) return faults.add(name, `must be at least ${least}`);
	return number <= most ? number : faults.add(name, `must be at most ${most}`);
}

/** Null where it is not given, undefined where it is at fault. */
function readAsOf(fields: Fields, faults: Faults): number | null | undefined {
	if (readGiven(fields, "as_of") === undefined) return null;
	return readWholeNumber(fields, "as_of", { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER }, faults) ?? undefined;
}

/** 1 or 0, which it is by default. */
function readFlag(fields: Fields, name: string, faults: Faults): boolean | null {
	const value = readWholeNumber(fields, name, { fallback: 0, least: 0, most: 1 }, faults);
	return value === null ? null : value === 1;
}

function readGiven(fields: Fields, name: string): unknown {
	return givenOf(fields.get(name));
}

/** A field's value, text trimmed; undefined where it is absent, null or blank. */
export function givenOf(value: unknown): unknown {
	if (typeof value !== "string") return value ?? undefined;
	const text = value.trim();
	return text === "" ? undefined : text;
}
