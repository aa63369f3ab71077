/** What others call the fields of a postback: pure. */

/** Names by which networks and trackers call what we call otherwise, in lower case without what joins words. */
export const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
	txnid: [
		"transactionid",
		"txid",
		"tid",
		"transid",
		"trxid",
		"orderid",
		"actionid",
		"conversionid",
		"receiptid",
		"leadid",
		"transaction",
		"txn",
	],
	cid: ["clickid", "clickref", "subid", "subid1", "sub1", "affsub", "sid", "epi", "externalid", "click", "affclickid", "clickhash"],
	edate: ["date", "eventdate", "datetime", "timestamp", "time", "transactiondate", "actiondate", "conversiondate", "conversiontime"],
	payout: ["commission", "amount", "sum", "price", "revenue", "earnings", "payoutamount", "payment"],
};

/** The name of a parameter as {@link OTHER_NAMES} has it. */
export function plainName(name: string): string {
	return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** What is an id in no network: of other names, such as `click` or `sub1`, and of three letters somebody may have made one. */
const NAME_OF_AN_ID = /..(?:id|ref|hash)$/;

/** Values that are a field's own name, or another's for it: somebody's macro without the signs around it, or with unknown ones. */
const NAMES_IN_PLACE: ReadonlyMap<string, ReadonlySet<string>> = new Map([
	...Object.entries(OTHER_NAMES).map(([field, others]): [string, Set<string>] => {
		const isId = field === "txnid" || field === "cid";
		return [field, new Set([field, ...(isId ? others.filter((name) => NAME_OF_AN_ID.test(name)) : others)])];
	}),
	["currency", new Set(["currency", "currencycode"])],
]);
/** Letters that {@link plainName} takes out may be what tells an id. */
const ASCII = /^[\x20-\x7e]*$/;
/** Longer than any of these names, with what joins its words. */
const LONGEST_IN_PLACE = 40;
/** As macros without signs are written. */
const CAPITALS = /^[A-Z]+(?:_[A-Z]+)*$/;

/** Whether a value is the name of what it should be, such as the `TRANSACTION_ID` of an address that nobody has filled in. */
export function isNameInPlace(field: string, value: string): boolean {
	// A click may have any text as its id, and its sale names that: by other names no click is found.
	return (field !== "cid" || CAPITALS.test(value)) && isNameOf(field, value);
}

/** Whether a click id is the name of one, in whatever letters. */
export function isNameOfClickId(cid: string): boolean {
	return isNameOf("cid", cid);
}

function isNameOf(field: string, value: string): boolean {
	return value.length <= LONGEST_IN_PLACE && ASCII.test(value) && (NAMES_IN_PLACE.get(field)?.has(plainName(value)) ?? false);
}
