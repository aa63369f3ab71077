/** Times are integer milliseconds since the epoch, in UTC; names of such values end in `At`. */
import { putBounded } from "./bounded-map.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** 2000-01-01: dates of sales and of money before it are a mistake, as there was nothing to report. */
export const EARLIEST_EVENT_AT = 946_684_800_000;

/** Whether an event that is told of at `now` may have been then: not before 2000, nor over a day ahead. */
export function isEventTime(at: number, now: number): boolean {
	return at >= EARLIEST_EVENT_AT && at <= now + DAY_MS;
}

/** Hours of the clock since 1970, as counters by hour are keyed. */
export const hourOf = (at: number) => Math.floor(at / HOUR_MS);

/** A time as answers have it: ISO 8601 in UTC, with milliseconds. */
export function isoTime(at: number): string {
	return new Date(at).toISOString();
}

/** The same of a time that there may be none of. */
export function isoTimeOrNull(at: number | null): string | null {
	return at === null ? null : isoTime(at);
}

/** Whole seconds from `at` until `now`; 0 where a clock is behind. */
export function ageSeconds(at: number, now: number): number {
	return Math.max(0, Math.floor((now - at) / SECOND_MS));
}

/** Every time-zone offset in use is a multiple of a quarter of an hour, so the local hour holds for that long. */
export const QUARTER_MS = 15 * MINUTE_MS;

type ZoneHour = { quarter: number; hour: number; format: Intl.DateTimeFormat };
const zones = new Map<string, ZoneHour>();

/**
 * The hour (0 to 23) that clocks in an IANA time zone show at `now`, right across daylight-saving changes.
 * @throws RangeError where the zone is unknown; imports refuse such zones
 */
export function localHour(timeZone: string, now: number): number {
	const quarter = Math.floor(now / QUARTER_MS);
	let zone = zones.get(timeZone);
	if (zone?.quarter === quarter) return zone.hour;
	const format = zone?.format ?? new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", hourCycle: "h23" });
	zone = { quarter, hour: Number(format.format(now)), format };
	zones.set(timeZone, zone);
	return zone.hour;
}

const known = new Set<string>();

/** True where `timeZone` is an IANA name this runtime knows: it takes offsets such as `+05:07`, too, which may be of any minute. */
export function isTimeZone(timeZone: string): boolean {
	if (known.has(timeZone)) return true;
	if (!/^[a-z]/i.test(timeZone)) return false;
	try {
		new Intl.DateTimeFormat("en-US", { timeZone });
	} catch (error) {
		if (error instanceof RangeError) return false;
		throw error;
	}
	known.add(timeZone);
	return true;
}

/** Days that were asked for, by their number: few are, and often. */
const utcDays = new Map<number, string>();
const MAX_UTC_DAYS = 1_000;

/** The UTC calendar day of a time, as YYYY-MM-DD. */
export function utcDay(at: number): string {
	const number = Math.floor(at / DAY_MS);
	return utcDays.get(number) ?? putBounded(utcDays, number, isoTime(at).slice(0, 10), MAX_UTC_DAYS);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day of the calendar, as YYYY-MM-DD. Date.parse takes 30 February for 2 March. */
export function isUtcDay(text: string): boolean {
	const at = DAY.test(text) ? Date.parse(text) : Number.NaN;
	return !Number.isNaN(at) && utcDay(at) === text;
}

type ZoneDay = { quarter: number; day: string; format: Intl.DateTimeFormat };
const zoneDays = new Map<string, ZoneDay>();

/**
 * The calendar day that clocks in an IANA time zone show at `at`, as YYYY-MM-DD.
 * @throws RangeError where the zone is unknown; imports refuse such zones
 */
export function localDay(timeZone: string, at: number): string {
	if (timeZone === "UTC") return utcDay(at);
	const quarter = Math.floor(at / QUARTER_MS);
	let zone = zoneDays.get(timeZone);
	if (zone?.quarter === quarter) return zone.day;
	const format = zone?.format ?? new Intl.DateTimeFormat("en-US", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
	const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
	zone = { quarter, day: `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`, format };
	zoneDays.set(timeZone, zone);
	return zone.day;
}
