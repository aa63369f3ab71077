import type { ClickRow, EarningRow, TakenBackRow } from "./cohorts.ts";
import { HISTORY_DAYS } from "./settings.ts";

/** Days that keep a row of their own; older ones share one by week. */
const DAILY_DAYS = 14;
export const WEEK_DAYS = 7;
const MIDDLE_OF_WEEK = 3;

/** The first day of a day's week, as rows are folded: days since the epoch. */
export function weekOf(day: number): number {
	return Math.floor(day / WEEK_DAYS) * WEEK_DAYS;
}

/**
 * The day under which a click's row stands on a day: its own, or the middle of its week once all of that week is older than 14 days.
 * Whatever is written later goes by it too, so rows do not depend on when they were written.
 */
export function rowDay(day: number, today: number): number {
	const week = weekOf(day);
	return week < firstDaily(today) ? week + MIDDLE_OF_WEEK : day;
}

/** The first day of the first week that is not all older than 14 days: from then on days stand by themselves. */
export function firstDaily(today: number): number {
	return weekOf(today - DAILY_DAYS);
}

/** A number that stays the same from one day to the next where no row that stood right on the one has to move, or go, on the other. */
export function foldings(today: number): number {
	const firstKept = Math.ceil((today - HISTORY_DAYS - MIDDLE_OF_WEEK) / WEEK_DAYS);
	return firstDaily(today) + firstKept;
}

/** Whether a day changes nothing about rows. */
export function staysAsIs(rows: readonly { day: number }[], today: number): boolean {
	return rows.every(({ day }) => day >= today - HISTORY_DAYS && rowDay(day, today) === day);
}

/** A cell's rows as they stand on a day: weeks folded, and what is too old to teach anything dropped. */
export function foldClicks(rows: readonly ClickRow[], today: number): ClickRow[] {
	const folded = new Map<number, ClickRow>();
	for (const row of rows) {
		if (row.day < today - HISTORY_DAYS) continue;
		const day = rowDay(row.day, today);
		const sum = folded.get(day);
		if (sum === undefined) folded.set(day, { ...row, day });
		else {
			sum.clicks += row.clicks;
			sum.paidMicros += row.paidMicros;
		}
	}
	return [...folded.values()];
}

/** The same of what they earned. Rows of which all was taken back are gone. */
export function foldEarnings(rows: readonly EarningRow[], today: number): EarningRow[] {
	const folded = new Map<string, EarningRow>();
	for (const row of rows) {
		if (row.day < today - HISTORY_DAYS) continue;
		const day = rowDay(row.day, today);
		const key = `${day} ${row.sizeClass}`;
		const sum = folded.get(key);
		if (sum === undefined) folded.set(key, { ...row, day });
		else {
			sum.conversions += row.conversions;
			sum.netMicros += row.netMicros;
		}
	}
	return [...folded.values()].filter(({ conversions }) => conversions !== 0);
}

/** The same of those that were taken back. */
export function foldTakenBack(rows: readonly TakenBackRow[], today: number): TakenBackRow[] {
	const folded = new Map<number, TakenBackRow>();
	for (const row of rows) {
		if (row.day < today - HISTORY_DAYS) continue;
		const day = rowDay(row.day, today);
		const sum = folded.get(day);
		if (sum === undefined) folded.set(day, { ...row, day });
		else sum.conversions += row.conversions;
	}
	return [...folded.values()].filter(({ conversions }) => conversions !== 0);
}
