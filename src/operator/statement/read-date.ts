/** Dates as exports write them: pure. */
import { readTime } from "../../conversions/read-event-date.ts";
import type { DateOrder } from "../../lib/enums.ts";
import { isEventTime } from "../../lib/time.ts";

const WEEKDAY = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? /i;
const TIME = String.raw`(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([AP])M)?(?: ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?`;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})${TIME}$`, "i");
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})[/.-](\d{1,2})[/.-](\d{2}|\d{4})${TIME}$`, "i");
/** Of years in two digits, the first that can be one: `26-11-05` and `26-Nov-05` are of 2026, as nothing was counted in 2005. */
const FIRST_YEAR = 20;
/** A name of a zone, which may be that of several. */
const ZONE = / ?\(?[A-Z]{2,5}\)?$/;

/** A date, UTC where it names no zone. Null where it is none, or where its parts cannot be told apart: `26-10-25` may be of 2025 or of 2026. */
export function readDate(text: string, order: DateOrder | null, now: number): number | null {
	const plain = readTime(text);
	if (plain !== null) return plain;
	const date = text.replace(WEEKDAY, "");
	const named = nameDate(date);
	if (named !== null) return readDate(named, "mdy", now);
	const [, ofYear = "", month = "", day = "", ...time] = YEAR_FIRST.exec(date) ?? [];
	if (ofYear !== "") return readParts(ofYear, month, day, time);
	const [, first = "", second = "", year = "", ...rest] = YEAR_LAST.exec(date) ?? [];
	const mayBeYear = year.length === 2 && Number(first) >= FIRST_YEAR && !/^\d+\./.test(date) && order !== "dmy";
	const told = Number(first) > 12 ? "dmy" : Number(second) > 12 ? "mdy" : first === second ? "dmy" : order;
	if (year === "" || told === null) return null;
	if (year.length === 2 && Number(year) < FIRST_YEAR) return null;
	if (mayBeYear && isEventTime(readParts(`20${first}`, second, year, rest) ?? Number.NaN, now)) return null;
	const [ofDay, ofMonth] = told === "dmy" ? [first, second] : [second, first];
	return readParts(year.length === 2 ? `20${year}` : year, ofMonth, ofDay, rest);
}

/** Why {@link readDate} reads none, to be said behind the text. */
export function faultOfDate(text: string, order: DateOrder | null, now: number): string {
	if (readDate(text, "dmy", now) !== null)
		return order === null ? "could be two days: say date_order" : `is none whose date_order is ${order}`;
	const isOfZone = ZONE.test(text) && readDate(text.replace(ZONE, ""), "dmy", now) !== null;
	return isOfZone ? "is no date that can be read: a time zone has to be UTC, or an offset as +01:00" : "is no date that can be read";
}

function readParts(year: string, month: string, day: string, time: readonly (string | undefined)[]): number | null {
	const [hour = "0", minute = "00", second = "00", fraction = "0", half, zone = "Z"] = time;
	const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === "P" ? 12 : 0);
	const padded = (value: string | number) => String(value).padStart(2, "0");
	return readTime(`${year}-${padded(month)}-${padded(day)}T${padded(hours)}:${minute}:${second}.${fraction}${zone.toUpperCase()}`);
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Nov 22, 2026 18:50` and `22-Nov-26 18:50` as `11/22/2026 18:50`; null for a date whose month has no English name. */
function nameDate(text: string): string | null {
	const match = /^(?:([a-z]{3,9})\.?[ -](\d{1,2})|(\d{1,2})[ -]([a-z]{3,9})\.?)(?:,? |-)(\d{4}|\d{2})(?!\d)(.*)$/i.exec(text);
	if (match === null) return null;
	const [, monthBefore, dayBehind, dayBefore, monthBehind, year, rest] = match;
	const month = MONTHS.indexOf((monthBefore ?? monthBehind ?? "").slice(0, 3).toLowerCase()) + 1;
	return month === 0 ? null : `${month}/${dayBehind ?? dayBefore}/${year}${rest}`;
}
