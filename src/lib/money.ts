/**
 * Money is an integer number of micro-dollars (1 USD = 1,000,000) everywhere inside; decimals exist only at the edges.
 */

export const MICROS_PER_USD = 1_000_000;

/** Largest earnings per click an import accepts, in micro-dollars: keeps EPC × share exact in a double. */
export const MAX_EPC_MICROS = 1_000 * MICROS_PER_USD;

/**
 * What one conversion may pay at the most where neither its platform nor its campaign says, and whatever they say. Nine thousand
 * conversions of the most a day reach what a double holds exactly, nine million what SQLite's integers do: sums stand there, and reports
 * read them in two parts.
 */
export const DEFAULT_MAX_PAYOUT_MICROS = 10_000 * MICROS_PER_USD;
export const ABSOLUTE_MAX_PAYOUT_MICROS = 1_000_000 * MICROS_PER_USD;
/** What one conversion may have sold at the most, whatever anyone says. */
export const ABSOLUTE_MAX_SALES_MICROS = 5 * ABSOLUTE_MAX_PAYOUT_MICROS;

/** Revenue shares are parts per million, so that 0.8 is the integer 800000. */
export const SHARE_SCALE = 1_000_000;

/** A price is bid in ten-thousandths of a dollar: the four decimals of the interface. */
export const PRICE_SCALE = 10_000;

/** What is held back of a bid is told in ten-thousandths: all of it is bid at this. */
export const HELD_SCALE = 10_000;

/** A share or factor to so many digits behind the point, for whoever reads it. */
export function roundTo(value: number, digits: number): number {
	return Number(value.toFixed(digits));
}

const DECIMAL = /^(-?)(\d{1,12})(?:\.(\d+))?$/;

/**
 * Reads a plain decimal such as `"0.4200"` into an integer scaled by 10^digits, exactly.
 * Returns null for anything else: exponents, signs other than a leading minus, or more decimals than `digits`
 * (trailing zeros past them are allowed).
 */
export function parseDecimal(text: string, digits: number): number | null {
	const match = DECIMAL.exec(text.trim());
	if (match === null) return null;
	const [, sign, whole = "", fraction = ""] = match;
	const kept = fraction.slice(0, digits);
	if (/[1-9]/.test(fraction.slice(digits))) return null;
	const scaled = Number(whole + kept.padEnd(digits, "0"));
	if (!Number.isSafeInteger(scaled)) return null;
	return sign === "-" && scaled !== 0 ? -scaled : scaled;
}

/** A decimal amount of USD as micro-dollars, or null when it is not a decimal with at most six places. */
export function parseMicros(text: string): number | null {
	return parseDecimal(text, 6);
}

/**
 * The price offered to a publisher, in ten-thousandths of a dollar: EPC × revenue share, rounded half up to four decimals.
 * @param epcMicros gross earnings per click in micro-dollars, 0 to MAX_EPC_MICROS
 * @param sharePpm  the publisher's part, in parts per million, 0 to SHARE_SCALE
 */
export function priceOf(epcMicros: number, sharePpm: number): number {
	const unit = (MICROS_PER_USD / PRICE_SCALE) * SHARE_SCALE;
	return Math.floor((epcMicros * sharePpm + unit / 2) / unit);
}

/**
 * What a click cost before the share of which this amount was bid, to the rounding of bids: exact wherever EPC × share has no more
 * than four decimals. Micro-dollars.
 * @param sharePpm parts per million; of a share of zero nothing can be told, and the amount itself is answered
 */
export function beforeShare(bidMicros: number, sharePpm: number): number {
	return sharePpm === 0 ? bidMicros : Math.round((bidMicros * SHARE_SCALE) / sharePpm);
}

/** A price in ten-thousandths of a dollar as the number it is in JSON: trailing zeros are gone. */
export function priceToUsd(price: number): number {
	return price / PRICE_SCALE;
}

/** A price in ten-thousandths of a dollar as a decimal string with exactly four places. */
export function formatPrice(price: number): string {
	return (price / PRICE_SCALE).toFixed(4);
}

/** A price in ten-thousandths of a dollar, in micro-dollars. */
export function priceToMicros(price: number): number {
	return price * (MICROS_PER_USD / PRICE_SCALE);
}

/**
 * An amount of micro-dollars as a decimal string with four places, exactly: an amount that is finer than that, which nothing we
 * credit is, shows all its digits.
 * @example formatUsd(12_500_000) // "12.5000"
 */
export function formatUsd(micros: number | bigint): string {
	const digits = micros.toString().replace("-", "").padStart(7, "0");
	const fraction = digits.slice(-6).replace(/0{1,2}$/, "");
	return `${micros < 0 ? "-" : ""}${digits.slice(0, -6)}.${fraction}`;
}

/** Micro-dollars as a decimal string with exactly four places, rounded half up. Not negative. */
export function microsToDecimal4(micros: number): string {
	const tenThousandths = Math.floor((micros + MICROS_PER_USD / PRICE_SCALE / 2) / (MICROS_PER_USD / PRICE_SCALE));
	return `${Math.floor(tenThousandths / PRICE_SCALE)}.${String(tenThousandths % PRICE_SCALE).padStart(4, "0")}`;
}
