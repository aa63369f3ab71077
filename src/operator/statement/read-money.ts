/** Reads an amount of a statement. */
import { readAmount } from "../../conversions/read-amount.ts";
import type { Marks } from "./currency-marks.ts";

/**
 * An amount as exports write it: with a currency sign or code, thousands separators, a decimal comma, and, where it is below zero, a sign
 * on either side or brackets. Null where it has no one reading: `1,234` may be above a thousand or below two.
 */
export function readMoney(text: string): (Marks & { micros: number }) | null {
	const written = text.replaceAll(/[\s']/g, "").replace(/(?<![A-Z])US\$/, "USD");
	const [, before = "", digits = "", behind = ""] = /^([^\d.,]*)([\d.,]+)([^\d.,]*)$/.exec(written) ?? [];
	const beside = `${before}#${behind}`;
	const [code = null, ...codes] = new Set(beside.match(/[A-Z]{3}/g));
	const [symbol = null, ...symbols] = new Set(beside.match(/\p{Sc}/gu));
	const around = beside.replaceAll(/[A-Z]{3}|\p{Sc}/gu, "").replaceAll("\u2212", "-");
	if (codes.length > 0 || symbols.length > 0 || !/^(?:[+-]?#|#-|-?\(-?#\))$/.test(around)) return null;
	const decimal = toDecimal(digits);
	const micros = decimal === null ? null : readAmount(decimal);
	if (micros === null) return null;
	return { micros: micros !== 0 && /[-(]/.test(around) ? -micros : micros, code, symbol };
}

function toDecimal(text: string): string | null {
	const [comma, point] = [text.lastIndexOf(","), text.lastIndexOf(".")];
	if (comma === -1) return text;
	if (point === -1) {
		if (/^\d+,\d{1,2}$/.test(text)) return text.replace(",", ".");
		return /^\d{1,3}(,\d{3}){2,}$/.test(text) ? text.replaceAll(",", "") : null;
	}
	const [thousands, mark] = comma < point ? [",", "."] : [".", ","];
	const [whole = "", fraction = "", ...more] = text.split(mark);
	const groups = whole.split(thousands);
	const isGrouped = groups.every((group, at) => (at === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(group));
	return more.length === 0 && isGrouped && /^\d+$/.test(fraction) ? `${groups.join("")}.${fraction}` : null;
}
