import { HOUR_MS, isEventTime, MINUTE_MS, SECOND_MS } from "../lib/time.ts";

const SECONDS = /^\d{10}$/;
const MILLISECONDS = /^\d{13}$/;
// A "+" that was not escaped arrives as a space, so a space may stand for the sign of an offset, behind another one, too.
const DATE_TIME =
	/^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?(Z|z|UTC|GMT)|([+ -]| [+ -])(\d{2}):?(\d{2})?)?)?$/;

/**
 * Reads `edate`: an ISO date (midnight UTC), a datetime with `T` or a space, with or without an offset (then UTC), Unix seconds
 * (10 digits) or milliseconds (13). Null where it is none of them, no day of the calendar, before 2000, or over a day ahead of `now`.
 * @returns Unix milliseconds
 */
export function readEventDate(text: string, now: number): number | null {
	const trimmed = text.trim();
	const at = readTime(trimmed);
	return at === null || !isEventTime(at, now) ? null : at;
}

/** The same of any year; null where it is no time. */
export function readTime(text: string): number | null {
	if (SECONDS.test(text)) return Number(text) * SECOND_MS;
	if (MILLISECONDS.test(text)) return Number(text);
	const match = DATE_TIME.exec(text);
	if (match === null) return null;
	const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", , sign, offsetHour = "0", offsetMinute = "0"] = match;
	const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
	// A day that the calendar lacks becomes another one.
	const calendar = new Date(midnight);
	if (calendar.getUTCDate() !== Number(day) || calendar.getUTCMonth() !== Number(month) - 1) return null;
	if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
	if (Number(offsetHour) > 18 || Number(offsetMinute) > 59) return null;
	const offset = (Number(offsetHour) * HOUR_MS + Number(offsetMinute) * MINUTE_MS) * (sign?.includes("-") ? -1 : 1);
	const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
	return midnight + Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * SECOND_MS + milliseconds - offset;
}
