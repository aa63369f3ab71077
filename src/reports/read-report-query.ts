/** What a report request asks for. Pure: fields in, a query or the faults of each field out. */
import * as v from "valibot";
import { HttpError } from "../lib/http.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";
import type { Fields } from "./read-fields.ts";

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
export type ReportQuery = { period: Period; paging: Paging };

export const DEFAULT_LIMIT = 1_000;
export const MAX_LIMIT = 5_000;
/** No period has so many pages; up to it a page that does not exist is an empty one. */
export const MAX_PAGE = 1_000_000_000;
/** Days a revenue share report may cover. */
export const MAX_REVENUE_SHARE_DAYS = 31;
/** Days a click-level report may cover: its dates may be two days apart. */
export const MAX_CLICK_LEVEL_DAYS = 3;

const WHOLE_NUMBER = /^\+?\d{1,15}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** @throws HttpError 422 that names every field at fault */
export function readRevenueShareQuery(fields: Fields): ReportQuery & { reportType: ReportType } {
	const output = check(revenueShareSchema, fields);
	return { reportType: output.report_type, ...toQuery(output) };
}

/** @throws HttpError 422 that names every field at fault */
export function readClickLevelQuery(fields: Fields): ReportQuery {
	return toQuery(check(clickLevelSchema, fields));
}

const given = v.pipe(v.unknown(), v.transform(blankAsAbsent));

function blankAsAbsent(value: unknown): unknown {
	if (value === null) return undefined;
	if (typeof value !== "string") return value;
	const text = value.trim();
	return text === "" ? undefined : text;
}

/** A required field that is text, trimmed. */
const requiredText = (name: string) =>
	v.pipe(
		given,
		v.check((value) => value !== undefined, `The ${name} field is required.`),
		v.string(`The ${name} field must be a string.`),
	);

const day = (name: string) =>
	v.pipe(requiredText(name), v.check(isDay, `The ${name} field must be a date of the calendar, as YYYY-MM-DD.`));

const wholeNumber = (name: string, fallback: number, most: number) =>
	v.pipe(
		given,
		v.transform((value) => readWholeNumber(value ?? fallback)),
		v.number(`The ${name} field must be a whole number.`),
		v.minValue(1, `The ${name} field must be at least 1.`),
		v.maxValue(most, `The ${name} field must be at most ${most}.`),
	);

const reportType = v.pipe(
	requiredText("report_type"),
	v.toLowerCase(),
	v.picklist(REPORT_TYPES, `The report_type field must be one of ${REPORT_TYPES.join(", ")}.`),
);

const common = {
	start_date: day("start_date"),
	end_date: day("end_date"),
	page: wholeNumber("page", 1, MAX_PAGE),
	limit: wholeNumber("limit", DEFAULT_LIMIT, MAX_LIMIT),
};

const clickLevelSchema = v.pipe(v.object(common), ...periodChecks(MAX_CLICK_LEVEL_DAYS));
const revenueShareSchema = v.pipe(v.object({ ...common, report_type: reportType }), ...periodChecks(MAX_REVENUE_SHARE_DAYS));

type Dates = { start_date: string; end_date: string };

/** Rules of the two dates together; they say nothing while one of them is at fault itself. */
function periodChecks(mostDays: number) {
	const dates = [["start_date"], ["end_date"]] as const;
	const inOrder = ({ start_date, end_date }: Dates) => start_date <= end_date;
	const shortEnough = (of: Dates) => daysOf(of) <= mostDays;
	return [
		v.forward(v.partialCheck(dates, inOrder, "The end_date field must not be before start_date."), ["end_date"]),
		v.forward(v.partialCheck(dates, shortEnough, `The period may cover at most ${mostDays} days, both dates included.`), ["end_date"]),
	] as const;
}

function daysOf({ start_date, end_date }: Dates): number {
	return (Date.parse(end_date) - Date.parse(start_date)) / DAY_MS + 1;
}

function isDay(text: string): boolean {
	if (!DATE.test(text)) return false;
	const at = Date.parse(text);
	// Date.parse rolls 30 February over in some runtimes.
	return !Number.isNaN(at) && utcDay(at) === text;
}

/** NaN, which no check lets through, for what is not a whole number. */
function readWholeNumber(value: unknown): number {
	if (typeof value === "number") return Number.isInteger(value) ? value : Number.NaN;
	if (typeof value !== "string") return Number.NaN;
	if (/^-\d+$/.test(value)) return -1;
	if (/^\+?\d+$/.test(value) && !WHOLE_NUMBER.test(value)) return Number.MAX_SAFE_INTEGER;
	return WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN;
}

function check<Schema extends v.GenericSchema<object, object>>(schema: Schema, fields: Fields): v.InferOutput<Schema> {
	const names = ["report_type", "start_date", "end_date", "page", "limit"];
	const result = v.safeParse(schema, Object.fromEntries(names.map((name) => [name, fields.get(name)])), { abortPipeEarly: true });
	if (result.success) return result.output;
	throw new HttpError(422, { error: "Validation failed", messages: v.flatten(result.issues).nested });
}

function toQuery({ start_date, end_date, page, limit }: v.InferOutput<typeof clickLevelSchema>): ReportQuery {
	return {
		period: { startDate: start_date, endDate: end_date, startAt: Date.parse(start_date), endAt: Date.parse(end_date) + DAY_MS },
		paging: { page, limit },
	};
}
