/** Largest amount a postback may state, in millionths of its currency: what a double still holds exactly. */
export const MAX_AMOUNT_MICROS = 9_000_000_000_000_000;

const AMOUNT = /^([+-]?)(?=\.?\d)(\d{0,12})(?:\.(\d{0,40}))?$/;

/**
 * Reads an amount such as `12.5`, `+3`, `.5` or `-1.234567` into millionths, rounded half up (away from zero) past the sixth place.
 * Null for anything else: thousands separators, comma decimals, exponents, hexadecimal, NaN, Infinity, currency signs, and amounts
 * past nine billion. None of these has one safe reading.
 */
export function readAmount(text: string): number | null {
	const match = AMOUNT.exec(text.trim());
	if (match === null) return null;
	const [, sign = "", whole = "", fraction = ""] = match;
	const kept = Number((whole + fraction.slice(0, 6).padEnd(6, "0")).padStart(1, "0"));
	const micros = kept + (fraction.charAt(6) >= "5" ? 1 : 0);
	if (micros > MAX_AMOUNT_MICROS) return null;
	return sign === "-" && micros !== 0 ? -micros : micros;
}
