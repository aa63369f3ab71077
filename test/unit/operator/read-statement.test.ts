/** Statements of platforms are read by their headers; what has no one reading is a fault. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDate } from "../../../src/operator/statement/read-date.ts";
import { readMoney } from "../../../src/operator/statement/read-money.ts";
import { readStatement } from "../../../src/operator/statement/read-statement.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

function read(text: string, mapping = {}, currency = "USD") {
	const platform = { currency, statusMap: {}, negativePayout: "cancel" } as const;
	const statement = readStatement(text, mapping, null, NOW, platform);
	if (!("sales" in statement)) throw new Error(statement.faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
	return statement;
}

describe("unit: a statement with a quote in a wrong place", () => {
	it("loses its own row alone, and knows of which transaction that is", () => {
		const text =
			'Order ID,Product,Sales,Total Commission\nR1,Hat,20.00,1.50\nR2,"Best" shoes,20.00,1.50\nR3,Boots 5",20.00,1.50\nR4,Hat,20.00,1.50\n';
		const { sales, faults, unread } = read(text, { txnid: "Order ID", payout: "Total Commission" });
		expect(sales.map(({ txnid }) => txnid)).toEqual(["R1", "R3", "R4"]);
		expect(faults).toEqual([{ line: 3, message: "has a quote in a wrong place" }]);
		expect([...unread]).toEqual(["R2"]);
	});
});

describe("unit: layouts of statements", () => {
	it.each([
		[
			"awin",
			'"Transaction ID","Click Ref","Transaction Date","Commission Amount","Sale Amount","Currency","Status"\n"T1","c1","11/10/2026 09:30","1.50","20.00","GBP","approved"\n',
			{
				txnid: "T1",
				cid: "c1",
				at: Date.parse("2026-10-11T09:30:00Z"),
				payoutMicros: 1_500_000,
				salesMicros: 20_000_000,
				currency: "GBP",
				status: "approved",
			},
		],
		[
			"impact",
			"Action Id;Action Date;Status;Action Earnings;Sale Amount;Payout Currency;Sub Id 1\nA.1;2026-11-10T09:30:00Z;REVERSED;1,50;20,00;EUR;c1\n",
			{
				txnid: "A.1",
				cid: "c1",
				at: Date.parse("2026-11-10T09:30:00Z"),
				payoutMicros: 1_500_000,
				salesMicros: 20_000_000,
				currency: "EUR",
				status: "REVERSED",
			},
		],
		[
			"cj",
			"Commission ID\tOrder ID\tEvent Date\tPosting Date\tCommission Amount\tSale Amount\tAction Status\tSID\n1\tO1\t11/10/2026 9:30 PM\t11/11/2026\t$1,234.50\t$2,000.00\tlocked\tc1\n2\tO1\t11/12/2026\t11/12/2026\t($34.50)\t$0.00\tlocked\tc1\n",
			{
				txnid: "O1",
				cid: "c1",
				at: Date.parse("2026-11-10T21:30:00Z"),
				payoutMicros: 1_200_000_000,
				salesMicros: 2_000_000_000,
				currency: null,
				status: "locked",
			},
		],
		[
			"rakuten",
			"Member ID (U1),MID,Order ID,Transaction Date,Sales,Total Commission\nc1,7,R1,11/10/26,20.00,1.50\nc1,7,R1,11/12/26,-20.00,-1.50\n",
			{ txnid: "R1", cid: "c1", at: Date.parse("2026-11-10"), payoutMicros: 0, salesMicros: 0, currency: null, status: null },
		],
	])("%s", (layout, text, sale) => {
		expect(read(text)).toMatchObject({ layout, sales: [sale], faults: [] });
		expect(read(`\uFEFF\r\n${text.replaceAll("\n", "\r\n")}`).sales).toEqual([sale]);
	});

	it.each([
		[
			"awin",
			"id,commissionStatus,commissionAmount.amount,commissionAmount.currency,clickRefs.clickRef,transactionDate\nT1,approved,1.50,GBP,c1,2026-11-10T09:30:00",
			"GBP",
		],
		["impact", 'Action Id,Status,Event Date,Payout,SubId1,Currency\nT1,APPROVED,"Nov 10, 2026 09:30",1.50,c1,EUR', "EUR"],
		[
			"cj",
			"Posting Date,Event Date,SID,Order ID,Commission ID,Sale Amount (USD),Publisher Commission (USD),Action Status\n11/11/2026,10-Nov-2026 9:30 AM,c1,T1,8,9.00,$1.50,new",
			"USD",
		],
		[
			"cj",
			"commissionId,orderId,eventDate,pubCommissionAmountUsd,pubCommissionAmountPubCurrency,pubCurrency,shopperId\n8,T1,2026-11-10T09:30:00Z,1.80,1.50,EUR,c1",
			"EUR",
		],
		["cj", "commissionId,orderId,eventDate,pubCommissionAmountUsd,pubCurrency,shopperId\n8,T1,2026-11-10T09:30:00Z,1.50,EUR,c1", "USD"],
	])("%s, as it is exported elsewhere, too: %s", (layout, text, currency) => {
		const sale = { txnid: "T1", cid: "c1", at: Date.parse("2026-11-10T09:30:00Z"), payoutMicros: 1_500_000, currency };
		expect(read(`${text}\n`)).toMatchObject({ layout, sales: [sale], faults: [] });
	});

	it("others by a mapping, which goes before the layout", () => {
		const text = "Ref,Fee,When\nX1,2.00,2026-11-10\n";
		expect(read(text, { txnid: "ref", payout: "Fee", date: "When" })).toMatchObject({
			layout: "mapping",
			sales: [{ txnid: "X1", payoutMicros: 2_000_000 }],
		});
		const cj = "Commission ID,Order ID,Event Date,Commission Amount\n9,O1,2026-11-10,1\n";
		expect(read(cj, { txnid: "Commission ID" }).sales[0]?.txnid).toBe("9");
	});

	it("columns that are named as the fields of postbacks", () => {
		const text = "txnid,cid,edate,payout,sales,currency,status\nX1,c1,1794303000,2.00,9.99,EUR,approved\n";
		const sale = { txnid: "X1", cid: "c1", at: 1_794_303_000_000, payoutMicros: 2_000_000, currency: "EUR" };
		expect(read(text)).toMatchObject({ layout: "mapping", sales: [sale], faults: [] });
		expect(read("txnid,payout,edate,date\nX1,2.00,2026-11-11,2026-11-10\n").sales[0]?.at).toBe(Date.parse("2026-11-10"));
	});

	it.each([
		["", /no rows/],
		["Ref,Fee\n", /no rows/],
		[
			"Ref,Fee\nX,1\n",
			/^mapping.txnid: no column is known to be it; mapping.payout: no column is known to be it; : the columns are Ref, Fee$/,
		],
		[`txnid,payout\n${"x,1\n".repeat(20_001)}`, /split it by days/],
	])("%j is refused", (text, fault) => {
		expect(() => read(text)).toThrow(fault);
	});

	it("names a column that is not there, and rows that cannot be read, with their line", () => {
		expect(() => read("txnid,payout\nX,1\n", { date: "Day" })).toThrow(
			"mapping.date: there is no column Day; : the columns are txnid, payout",
		);
		const wide = `${Array.from({ length: 60 }, (_, n) => `${"x".repeat(50)}${n}`).join(",")}\n1\n`;
		expect(() => read(wide)).toThrow(/the columns are (?:x{39}…, ){49}x{39}… and 10 more$/);
		expect(read("txnid,payout,date\nX,1.234,03/04/2026\n,1,\nY,1;2,\nZ,1,\n")).toMatchObject({
			sales: [{ txnid: "Z" }],
			faults: [{ line: 2 }, { line: 3 }, { line: 4 }],
		});
	});

	it("status and currency are read as a postback's are", () => {
		const text = `txnid,payout,currency,status\nA,1,"e\tur","${"x".repeat(3_000)}\n"\nB,1,"\t","\t"\n`;
		expect(read(text).sales).toMatchObject([
			{ currency: "EUR", status: "x".repeat(255) },
			{ currency: null, status: null },
		]);
	});

	it("an id may be as long as a postback's is, in characters", () => {
		const ids = ["🙂".repeat(255), "🙂".repeat(256)] as const;
		const { sales, faults } = read(`txnid,payout\n${ids.map((id) => `${id},1.50`).join("\n")}\n`);
		expect(sales.map(({ txnid }) => txnid)).toEqual([ids[0]]);
		expect(faults).toEqual([{ line: 3, message: "has no transaction id that could be one" }]);
	});

	it("a date that no postback could have is a fault of its row", () => {
		const rows = ["A,1,2206-11-10", "B,1,1970-01-01", "C,1,2026-11-22", "D,1,2026-11-21"];
		expect(read(["txnid,payout,date", ...rows, ""].join("\n"))).toMatchObject({
			sales: [{ txnid: "D" }],
			faults: [{ line: 2 }, { line: 3 }, { line: 4 }],
		});
	});
});

describe("unit: files as programs write them", () => {
	const HEADER = "Action Id,Action Date,Status,Payout,SubId1";

	it("a row whose amount is cut in two by the delimiter is at fault, and names its line: nothing is left out by the count", () => {
		const { sales, faults, unread } = read(
			`\n${HEADER},Note\n"A",2026-11-10,APPROVED,1.50,c1,"two\nlines"\n\nB,2026-11-10,APPROVED,1,234.50,c1,\nC,2026-11-10,APPROVED,1,50,c1,x\nD,2026-11-10,APPROVED,1.50,c1\n`,
		);
		expect(sales.map(({ txnid, payoutMicros }) => [txnid, payoutMicros])).toEqual([
			["A", 1_500_000],
			["D", 1_500_000],
		]);
		const message = "has 7 fields, but the header has 6: is an amount or a text not quoted?";
		expect(faults).toEqual([
			{ line: 6, message },
			{ line: 7, message },
		]);
		expect([...unread]).toEqual(["B", "C"]);
	});

	it("a delimiter behind each row is none of an amount's where that has a point, or the delimiter is no comma", () => {
		const sales = (text: string) => {
			const { sales, faults } = read(text);
			return [sales.map(({ txnid, payoutMicros }) => [txnid, payoutMicros]), faults.map(({ line }) => line)];
		};
		const ended = `${HEADER}\nA,2026-11-10,APPROVED,1.50,c1,\nB,2026-11-10,APPROVED,2.50,c2,\n`;
		const both = [
			["A", 1_500_000],
			["B", 2_500_000],
		];
		expect(sales(ended)).toEqual([both, []]);
		expect(sales(ended.replaceAll(",", ";").replaceAll(".", ","))).toEqual([both, []]);
		expect(sales(ended.replaceAll(/[12][.]50/g, (amount) => `"${amount.replace(".", ",")}"`))).toEqual([both, []]);
		expect(sales(`${ended.replaceAll(",\n", ",,\n")}C,2026-11-10,APPROVED,4,c3,\nD,2026-11-10,APPROVED,5,c4\n`)).toEqual([
			[...both, ["C", 4_000_000], ["D", 5_000_000]],
			[],
		]);
		// The amount's own comma, and nothing in the last field.
		for (const amount of ["1,50", "1.234,50", "1,234.50"])
			expect(sales(`${HEADER}\nA,2026-11-10,APPROVED,${amount},\n`)).toEqual([[], [2]]);
	});

	it.each([
		["the sale's currency is another", "Fee (EUR),Sales (GBP)", "5.00,100.00", { currency: "EUR", salesMicros: null }],
		["the sale has the payout's among several", "Fee (EUR),Sales (USD),Sales (EUR)", "5.00,9.00,8.00", { salesMicros: 8_000_000 }],
		["the sale has none of the payout's", "Fee (EUR),Sales (USD),Sales (GBP)", "5.00,9.00,8.00", { salesMicros: null }],
		["a word in brackets is no currency", "Fee (ALL)", "5.00", { currency: null, payoutMicros: 5_000_000 }],
		["two columns say the same", "Fee,Status,Status", "5.00,paid,paid", { status: "paid" }],
	])("%s", (_, names, values, sale) => {
		const [payout = ""] = names.split(",");
		expect(read(`Order,${names}\nA,${values}\n`, { txnid: "Order", payout }).sales).toMatchObject([{ txnid: "A", ...sale }]);
	});

	it("two columns of one name that differ can only be left out", () => {
		const text = "Order,Fee,Status,Status\nA,5.00,paid,void\n";
		expect(() => read(text, { txnid: "Order", payout: "Fee", status: "Status" })).toThrow(
			"several columns may be it: Status, Status: leave out",
		);
	});

	it("a column that is named for its date is not taken for the layout's", () => {
		const text = "Order,Click Ref,Date,Commission (EUR)\nA,c,03/04/2026,5.00\n";
		const { faults } = read(text, { txnid: "Order", payout: "Commission (EUR)", date: "Date" });
		expect(faults).toMatchObject([{ message: expect.stringContaining("could be two days") }]);
	});

	it("lines may end as on old Macintoshes, and a spreadsheet may have named the delimiter", () => {
		const text = `${HEADER}\nA,2026-11-10,APPROVED,1.50,c1\nB,2026-11-10,APPROVED,x,c1\n`;
		for (const same of [text, text.replaceAll("\n", "\r"), text.replaceAll("\n", "\r").trimEnd()])
			expect(read(same)).toMatchObject({ layout: "impact", sales: [{ txnid: "A" }], faults: [{ line: 3 }] });
		const told = `sep=;\r\n${text.replaceAll("\n", "\r\n").replaceAll(",", ";")}`;
		expect(read(told)).toMatchObject({ layout: "impact", sales: [{ txnid: "A" }], faults: [{ line: 4 }] });
	});

	it("a title above the header is told as what it is", () => {
		expect(() => read(`Report: November\n\n${HEADER}\nA,2026-11-10,APPROVED,1.50,c1\n`)).toThrow(
			/; : the columns are Report: November: remove what stands above the line that names them$/,
		);
	});

	it("an id that a spreadsheet has rounded is none: several would be one transaction", () => {
		const { sales, faults, unread } = read(
			`${HEADER}\n1.79431E+12,2026-11-10,APPROVED,1.50,c1\n="1794310000001",2026-11-10,APPROVED,2,="c2"\n`,
		);
		expect(sales).toMatchObject([{ txnid: "1794310000001", cid: "c2" }]);
		expect(faults).toEqual([
			{ line: 2, message: '"1.79431E+12" is an id that a spreadsheet has rounded: take the file as it was exported' },
		]);
		expect([...unread]).toEqual([]);
	});

	it("a column that there is twice is taken only where a mapping tells which", () => {
		const text = "Order,Commission %,Commission,Commission\nX,7,1.50,USD\n";
		expect(() => read(text, { txnid: "Order", payout: "commission" })).toThrow(
			/^mapping.payout: several columns may be it: Commission, Commission: leave out the others/,
		);
		const plain = "Order,Commission (%),Commission\nX,7,1.50\n";
		expect(() => read(plain, { txnid: "Order", payout: "commission " })).not.toThrow();
		expect(read(plain, { txnid: "Order", payout: "Commission" }).sales).toMatchObject([{ payoutMicros: 1_500_000 }]);
		expect(read(plain, { txnid: "Order", payout: "Commission (%)" }).sales).toMatchObject([{ payoutMicros: 7_000_000 }]);
		expect(() => read(`${HEADER},payout\nA,2026-11-10,APPROVED,1.50,c1,9\n`)).toThrow("several columns may be it: Payout, payout");
		expect(read(`${HEADER},Note,Note\nA,2026-11-10,APPROVED,1.50,c1,9,9\n`).sales).toHaveLength(1);
	});

	it("a mapping names a column however that is spelt, and blanks around names and values say nothing", () => {
		const text = " Order Ref , Net Fee ,Net fee\nX, 1.50 ,1.50\n";
		expect(read(text, { txnid: "order_ref", payout: "netfee" }).sales).toMatchObject([{ txnid: "X", payoutMicros: 1_500_000 }]);
		expect(() => read(" Report , , \nA,2026-11-10,1.50\n")).toThrow(/: the columns are Report, , : remove what stands above the line/);
	});

	it("a row may end with delimiters and blanks, where no amount can have been parted by its comma", () => {
		const header = "txnid,payout,quantity\n";
		expect(read(`${header}A,1.50,3,\nB,2.50,3, ,\n`).sales).toMatchObject([{ payoutMicros: 1_500_000 }, { payoutMicros: 2_500_000 }]);
		expect(read(`${header}A,1,50,3\n`)).toMatchObject({ sales: [], faults: [{ line: 2 }] });
	});

	it("a row of a transaction is at fault for what is wrong with it; one in another currency for that", () => {
		const { sales, faults } = read("txnid,payout,currency\nA,1.50,USD\nA,soon,USD\nB,1.50,USD\nB,1.50,EUR\nC,1.50,EUR\nC,1.50,EUR\n");
		expect(sales).toMatchObject([{ txnid: "C", payoutMicros: 3_000_000 }]);
		expect(faults).toEqual([
			{ line: 3, message: '"soon" is no amount' },
			{ line: 5, message: "is in another currency than other rows of its transaction" },
		]);
	});

	it.each([
		["Commission ID,Order ID,Event Date,Commission Amount (GBP)\n1,O1,2026-11-10,1.50\n", {}, "GBP"],
		["Commission ID,Order ID,Event Date,Pub Commission Amount [EUR]\n1,O1,2026-11-10,1.50\n", {}, "EUR"],
		["Ref,Fee (GBP)\nX,1.50\n", { txnid: "Ref", payout: "Fee (GBP)" }, "GBP"],
		["Ref,Fee (GBP),Currency\nX,1.50,EUR\n", { txnid: "Ref", payout: "Fee (GBP)", currency: "Currency" }, "EUR"],
		["Ref,Fee (NET)\nX,1.50\n", { txnid: "Ref", payout: "Fee (NET)" }, null],
	])("a currency in the payout's header is that of the amounts: %s", (text, mapping, currency) => {
		expect(read(text, mapping).sales).toMatchObject([{ payoutMicros: 1_500_000, currency }]);
	});
});

describe("unit: rows of one transaction", () => {
	/** What rows of amount, word, day and click come to, in any order: they have to come to one thing. */
	function joined(...rows: string[]): unknown {
		const orders = rows.flatMap((_, at) => {
			const turned = [...rows.slice(at), ...rows.slice(0, at)];
			return [turned, turned.toReversed()];
		});
		const sales = orders.map((order) => read(["txnid,payout,status,date,cid", ...order.map((row) => `O-1,${row}`), ""].join("\n")).sales);
		for (const other of sales) expect(other).toEqual(sales[0]);
		const [sale] = sales[0] ?? [];
		return [(sale?.payoutMicros ?? 0) / 1_000_000, sale?.status];
	}

	it.each<[string[], number, string | null]>([
		[["10.00,approved", "5.00,declined"], 10, "approved"],
		[["10.00,approved", "5.00,declined", "2.00,reversed", "1.00,paid"], 11, "approved"],
		[["10.00,approved", "-3.00,approved"], 7, "approved"],
		[["10.00,declined", "5.00,declined"], 15, "declined"],
		[["10.00,approved", "-10.00,reversed"], 0, "approved"],
		[["10.00,approved", "5.00,declined", "-5.00,reversed"], 10, "approved"],
		[["10.00,approved", "5.00,pending"], 15, "pending"],
		[["10.00,approved", "5.00,pending", "1.00,whatever"], 16, "whatever"],
		[["10.00,approved", "5.00,pending", "1.00,declined"], 15, "pending"],
		[["10.00,", "5.00,pending"], 15, "pending"],
		[["10.00,", "5.00,declined"], 10, null],
		[["10.00,paid", "5.00,approved"], 15, "approved"],
	])("%j are %d, %s", (rows, payout, status) => {
		expect(joined(...rows)).toEqual([payout, status]);
	});

	it("have the click and the day of the first that counts", () => {
		const rows = ["1.00,declined,2026-11-08,c0", "1.00,approved,2026-11-10,c2", "1.00,approved,2026-11-09,c1"];
		expect(joined(...rows)).toEqual([2, "approved"]);
		expect(read(["txnid,payout,status,date,cid", ...rows.map((row) => `O-1,${row}`), ""].join("\n")).sales).toMatchObject([
			{ cid: "c1", at: Date.parse("2026-11-09") },
		]);
	});

	it("mean what the platform's own words mean", () => {
		const platform = { currency: "USD", statusMap: { gone: "cancelled" }, negativePayout: "cancel" } as const;
		const statement = readStatement("txnid,payout,status\nA,10,ok\nA,5,gone\n", {}, null, 0, platform);
		expect(statement).toMatchObject({ sales: [{ payoutMicros: 10_000_000, status: "ok" }] });
	});
});

describe("unit: currencies beside amounts", () => {
	/** Of rows that name a currency, or nothing, in its column. @returns the row's currency, or why it is a fault */
	function currencyOf(payout: string, column: string | null, byDefault: string, sales = ""): unknown {
		const text = `txnid;payout;sales${column === null ? "" : ";currency"}\nX;${payout};${sales}${column === null ? "" : `;${column}`}\n`;
		const { sales: rows, faults } = read(text, {}, byDefault);
		return faults[0]?.message ?? [rows[0]?.payoutMicros, rows[0]?.currency, rows[0]?.salesMicros];
	}

	it.each<[string, string | null, string, string | null]>([
		["EUR 12.50", null, "USD", "EUR"],
		["€12.50", null, "USD", "EUR"],
		["12.50 EUR", null, "USD", "EUR"],
		["(EUR 12.50)", null, "USD", "EUR"],
		["£12.50", "", "USD", "GBP"],
		["€12.50 EUR", "EUR", "USD", "EUR"],
		["12.50", "eur", "USD", "EUR"],
		["$12.50", null, "USD", null],
		["$12.50", null, "CAD", null],
		["$12.50", "AUD", "EUR", "AUD"],
		["CAD $12.50", null, "EUR", "CAD"],
		["¥12.50", "CNY", "USD", "CNY"],
		["JPY ¥12.50", null, "USD", "JPY"],
		["₵12.50", "GHS", "USD", "GHS"],
	])("%s, column %s, of a platform in %s: %s", (payout, column, byDefault, currency) => {
		expect(currencyOf(payout, column, byDefault)).toEqual([payout.startsWith("(") ? -12_500_000 : 12_500_000, currency, null]);
	});

	it.each<[string, string | null, string, RegExp]>([
		["EUR 12.50", "USD", "USD", /^"EUR 12.50" is in another currency/],
		["€12.50", "USD", "USD", /another currency/],
		["$12.50", "EUR", "USD", /another currency/],
		["EUR $12.50", null, "USD", /another currency/],
		["€12.50 GBP", null, "USD", /another currency/],
		["$12.50", null, "EUR", /add a column of currencies/],
		["¥12.50", null, "USD", /add a column of currencies/],
		["₵12.50", null, "USD", /add a column of currencies/],
	])("%s, column %s, of a platform in %s is a fault of its row", (payout, column, byDefault, fault) => {
		expect(currencyOf(payout, column, byDefault)).toMatch(fault);
	});

	it("a column whose name says dollars is contradicted, too", () => {
		const text = "commissionId,orderId,eventDate,pubCommissionAmountUsd\n8,T1,2026-11-10T09:30:00Z,€1.50\n";
		expect(read(text).faults).toMatchObject([{ line: 2, message: expect.stringContaining("another currency") }]);
	});

	it.each<[string, string, string | null, number | null]>([
		["€1", "€20", "EUR", 20_000_000],
		["€1", "20", "EUR", 20_000_000],
		["€1", "$20", "EUR", null],
		["1", "€20", null, null],
		["1", "USD 20", null, 20_000_000],
		["1", "$20", null, 20_000_000],
	])("%s for a sale of %s is in %s; what was sold for: %s", (payout, sales, currency, salesMicros) => {
		expect(currencyOf(payout, null, "USD", sales)).toEqual([1_000_000, currency, salesMicros]);
	});
});

describe("unit: amounts and dates of exports", () => {
	it.each([
		["1", 1],
		["-1.50", -1.5],
		["1,50", 1.5],
		["1.234,50 €", 1234.5],
		["US$ 1,234.50", 1234.5],
		["USD 1,234.50", 1234.5],
		["1 234.50", 1234.5],
		["(12.00)", -12],
		["$(5.00)", -5],
		["($5.00)", -5],
		["USD (5.00)", -5],
		["(5.00) EUR", -5],
		["(-5.00)", -5],
		["-(5.00)", -5],
		["5.00-", -5],
		["+5.00", 5],
		["\u22125.00", -5],
		["5)", null],
		["(5", null],
		["((5.00))", null],
		["()5", null],
		["5.00 (USD)", null],
		["+(5.00)", null],
		["--5", null],
		["5EUR0", null],
		["USD 5 EUR", null],
		["€5£", null],
		["1,234", null],
		["1,234,567", 1_234_567],
		["12,34.5", null],
		["1.2.3", null],
		["-", null],
	])("%s is %s", (text, units) => {
		expect(readMoney(text)?.micros ?? null).toBe(units === null ? null : units * 1_000_000);
	});

	it("however an amount is written, it is the same", () => {
		type Around = readonly [string, string];
		const written = fc.record({
			cents: fc.integer({ min: 1, max: 999_999_999 }),
			isBelow: fc.boolean(),
			below: fc.constantFrom<Around[]>(["-", ""], ["(", ")"], ["(-", ")"], ["-(", ")"], ["", "-"], ["\u2212", ""]),
			above: fc.constantFrom<Around[]>(["", ""], ["+", ""]),
			separators: fc.constantFrom<Around[]>(["", "."], ["", ","], [",", "."], [".", ","], [" ", "."], ["'", "."], ["\u00a0", ","]),
			mark: fc.constantFrom<Around[]>(["", ""], ["$", ""], ["€", ""], ["", " €"], ["USD", ""], ["EUR ", ""], ["", " EUR"]),
			isMarkOutside: fc.boolean(),
		});
		fc.assert(
			fc.property(written, ({ cents, isBelow, below, above, separators: [thousands, point], mark, isMarkOutside }) => {
				const whole = String(Math.floor(cents / 100)).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, thousands);
				const number = `${whole}${point}${String(cents % 100).padStart(2, "0")}`;
				const sign = isBelow ? below : above;
				const around = (inner: string, [before, behind]: Around) => `${before}${inner}${behind}`;
				const text = isMarkOutside ? around(around(number, sign), mark) : around(around(number, mark), sign);
				expect([text, readMoney(text)?.micros]).toEqual([text, (isBelow ? -cents : cents) * 10_000]);
			}),
		);
	});

	it.each([
		["13/11/2026", null, "2026-11-13"],
		["11/13/2026", null, "2026-11-13"],
		["11/11/2026", null, "2026-11-11"],
		["11/10/2026", null, null],
		["11/10/2026", "mdy", "2026-11-10"],
		["11/10/2026", "dmy", "2026-10-11"],
		["31.02.2026", "dmy", null],
		["Nov 3, 2026", "dmy", "2026-11-03"],
		["3-Nov-2026", null, "2026-11-03"],
		["September 3 2026", null, "2026-09-03"],
		["Nov 31, 2026", null, null],
		["3 Nevermber 2026", null, null],
		["soon", "dmy", null],
		["2026/11/03", null, "2026-11-03"],
		["2026.11.03", "dmy", "2026-11-03"],
		["3-Nov-26", null, "2026-11-03"],
		["26-Nov-05", null, null],
		["26/11/05", null, null],
		["26-11-05", "dmy", null],
		["26-10-25", null, null],
		["26-10-25", "mdy", null],
		["25/12/24", null, null],
		["25.12.24", null, "2024-12-25"],
		["30.11.25", null, "2025-11-30"],
		["31-12-25", null, "2025-12-31"],
		["28/10/26", "mdy", "2026-10-28"],
		["26-10-25", "dmy", "2025-10-26"],
		["19-11-25", null, "2025-11-19"],
		["9-9-25", null, "2025-09-09"],
		["Tue, 3 Nov 2026", null, "2026-11-03"],
		["Tuesday, November 3, 2026", null, "2026-11-03"],
	] as const)("%s (%s) is %s", (text, order, day) => {
		expect(readDate(text, order, NOW)).toBe(day === null ? null : Date.parse(day));
	});

	it.each([
		["13/11/2026 18:50:00 UTC", "2026-11-13T18:50:00Z"],
		["11/13/2026 6:50 PM GMT", "2026-11-13T18:50:00Z"],
		["13/11/2026 18:50:00.123", "2026-11-13T18:50:00.123Z"],
		["13/11/2026 18:50:00 +0100", "2026-11-13T17:50:00Z"],
		["13/11/2026 06:50:00 PM -08:00", "2026-11-14T02:50:00Z"],
		["2026/11/13 18:50:00", "2026-11-13T18:50:00Z"],
		["2026-11-13 6:50 PM", "2026-11-13T18:50:00Z"],
		["Nov 13, 2026 18:50:00 GMT", "2026-11-13T18:50:00Z"],
		["Fri, 13 Nov 2026 18:50:00 GMT", "2026-11-13T18:50:00Z"],
		["13/11/2026 18:50:00 PST", null],
		["13/11/2026 18:50 +", null],
	])("%s is %s", (text, time) => {
		expect(readDate(text, null, NOW)).toBe(time === null ? null : Date.parse(time));
	});

	it("a row whose date is none is told otherwise than one whose date could be two", () => {
		const rows = ["A,1,03/04/2026", "B,1,13/11/2026 18:50 PST", "C,1,soon", "D,1,26-10-25"];
		expect(read(["txnid,payout,date", ...rows, ""].join("\n")).faults).toEqual([
			{ line: 2, message: '"03/04/2026" could be two days: say date_order' },
			{ line: 3, message: '"13/11/2026 18:50 PST" is no date that can be read: a time zone has to be UTC, or an offset as +01:00' },
			{ line: 4, message: '"soon" is no date that can be read' },
			{ line: 5, message: '"26-10-25" could be two days: say date_order' },
		]);
		const american = "Member ID (U1),MID,Order ID,Transaction Date,Sales,Total Commission\nc1,7,R1,26/10/25,20.00,1.50\n";
		expect(read(american).faults).toEqual([{ line: 2, message: '"26/10/25" is none whose date_order is mdy' }]);
	});
});
