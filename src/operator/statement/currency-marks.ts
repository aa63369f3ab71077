/** What stands beside an amount and says what it is in: pure. */

/** As they stand in a cell; null for none. */
export type Marks = { code: string | null; symbol: string | null };

/** Symbols that are one currency's. */
const SURE: ReadonlyMap<string, string> = new Map(
	Object.entries({
		"€": "EUR",
		"£": "GBP",
		"₹": "INR",
		"₩": "KRW",
		"₪": "ILS",
		"₺": "TRY",
		"₽": "RUB",
		"₴": "UAH",
		"₫": "VND",
		"₦": "NGN",
		"฿": "THB",
	}),
);
const YENS = ["JPY", "CNY"];
/** Symbols of several. */
const SHARED: ReadonlyMap<string, readonly string[]> = new Map(
	Object.entries({
		$: ("USD AUD BBD BMD BND BSD BZD CAD FJD GYD HKD JMD KYD LRD NAD NZD SBD SGD SRD TTD TWD XCD " + "ARS CLP COP CUP DOP MXN UYU").split(
			" ",
		),
		"¥": YENS,
		"￥": YENS,
	}),
);

/**
 * The currency of an amount, upper case; null where nothing names it, and the platform's own holds. A symbol of several currencies names
 * none: it has to be one of what the amount is in anyway.
 * @param named what the row names beside it; null for nothing
 * @param byDefault the platform's
 */
export function currencyOf(
	{ code, symbol }: Marks,
	named: string | null,
	byDefault: string,
): { currency: string | null } | { fault: string } {
	const sure = symbol === null ? undefined : SURE.get(symbol);
	const [currency = null, ...others] = new Set([named, code, sure].filter((one) => one != null));
	const contradicted = { fault: "is in another currency than its row says" };
	if (others.length > 0) return contradicted;
	if (symbol === null || sure !== undefined) return { currency };
	const shared = SHARED.get(symbol);
	if (shared?.includes(currency ?? byDefault) ?? currency !== null) return { currency };
	return currency === null ? { fault: "may be in several currencies: add a column of currencies" } : contradicted;
}
