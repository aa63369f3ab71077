/** Statements of platforms are read by their headers; what has no one reading is a fault. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDate, readMoney, readStatement } from "../../../src/operator/statement/read-statement.ts";

function read(text: string, mapping = {}, currency = "USD") {
	const platform = { currency, statusMap: {}, negativePayout: "cancel" } as const;
	const statement = readStatement(text, mapping, null, Date.parse("2026-11-20T12:00:00Z"), platform);
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
		["US$ 1,234.50", null],
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
	] as const)("%s (%s) is %s", (text, order, day) => {
		expect(readDate(text, order)).toBe(day === null ? null : Date.parse(day));
	});
});
