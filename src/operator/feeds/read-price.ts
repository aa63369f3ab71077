/** Reads the prices of feeds: `12.00`, `12.00 USD`, `EUR 12,50`, `$1,299.00`. */

export type FeedPrice = {
	/** A plain decimal. */
	amount: string;
	/** ISO code or what the symbol stands for; null without one, and for `$`, which many currencies share. */
	currency: string | null;
};

const SYMBOLS: Readonly<Record<string, string | null>> = { $: null, "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR" };
const PRICE = /^(?:([A-Za-z]{3})\s*|([$€£¥₹])\s*)?([\d.,\s']*\d)(?:\s*([A-Za-z]{3})|\s*([$€£¥₹]))?$/;

/** Currencies of countries that group thousands by dots. */
const GROUPED_BY_DOTS = new Set("EUR DKK NOK ISK RON RSD MKD BAM TRY BRL ARS CLP COP UYU PYG VND IDR".split(" "));

/**
 * Both readings of a text such as `1.299` in a currency in which that may mean either; null where it has one. A comma in its place is
 * read as a thousands separator everywhere: nobody writes cents with three digits.
 */
export function readingsOf(text: string, currency: string): [grouped: string, decimal: string] | null {
	const digits = /[\d.,\s']*\d/.exec(text)?.[0].replaceAll(/[\s']/g, "") ?? "";
	if (!GROUPED_BY_DOTS.has(currency) || !/^[1-9]\d{0,2}\.\d{3}$/.test(digits)) return null;
	return [digits.replace(".", ""), digits];
}

/** The sign of yen is that of yuan, too: what it stands for beside currencies that are told. */
export function yenOrYuan(told: ReadonlySet<string>): "JPY" | "CNY" {
	return told.has("CNY") && !told.has("JPY") ? "CNY" : "JPY";
}

/** Null where the text is no price. */
export function readPrice(text: string): FeedPrice | null {
	const match = PRICE.exec(text.trim());
	if (match === null) return null;
	const [, codeBefore, symbolBefore, digits = "", codeBehind, symbolBehind] = match;
	const amount = readAmount(digits.replaceAll(/[\s']/g, ""));
	if (amount === null) return null;
	const code = codeBefore ?? codeBehind;
	const symbol = symbolBefore ?? symbolBehind;
	return { amount, currency: code?.toUpperCase() ?? (symbol === undefined ? null : (SYMBOLS[symbol] ?? null)) };
}

/**
 * The decimal point is the last separator, unless it groups thousands: once with three digits behind it as a comma, or repeated. Nothing
 * groups thousands behind a zero.
 */
function readAmount(digits: string): string | null {
	if (/^\d+(?:\.\d+)?$/.test(digits)) return digits;
	if (/^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(digits)) return digits.replaceAll(",", "");
	if (/^[1-9]\d{0,2}(?:\.\d{3})+,\d+$/.test(digits) || /^[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(digits))
		return digits.replaceAll(".", "").replace(",", ".");
	if (/^\d+,\d+$/.test(digits)) return digits.replace(",", ".");
	return null;
}
