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
