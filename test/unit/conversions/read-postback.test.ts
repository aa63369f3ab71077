import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pickValues, splitFields } from "../../../src/conversions/read-fields.ts";
import { readPostback } from "../../../src/conversions/read-postback.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const SOUND = { txnid: "t-1", cid: "c1", edate: "2026-11-10", payout: "12.5" };

function read(query: string) {
	return readPostback(pickValues(splitFields(query)), NOW);
}

function queryOf(fields: Record<string, string>): string {
	return Object.entries(fields)
		.map(([name, value]) => `${name}=${value}`)
		.join("&");
}

const NO_GUID = "00000000-0000-0000-0000-000000000000";

describe("unit: reading a postback", () => {
	test("reads every field", () => {
		const query = queryOf({
			...SOUND,
			sales: "100",
			currency: "eur",
			status: "Confirmed",
			s2: "a+b",
			s3: "%C3%A9",
			surl: "https%3A%2F%2Fshop.example%2F%3Fa%3D1",
		});
		expect(read(query)).toEqual({
			errors: null,
			postback: {
				txnid: "t-1",
				cid: "c1",
				eventAt: Date.parse("2026-11-10T00:00:00Z"),
				payoutMicros: 12_500_000,
				salesMicros: 100_000_000,
				currency: "EUR",
				status: "Confirmed",
				s2: "a b",
				s3: "é",
				surl: "https://shop.example/?a=1",
			},
		});
	});

	test("what is no UTF-8 is Windows-1252, so that two transactions are not one; a click id is read as clicks read it", () => {
		const ids = ["B%D6-1", "B%DC-1", "B%C3%96-2", "B%c3%96%D6+%-3", "%80", "%EF%BF%BD", "Ö%DC"];
		expect(ids.map((txnid) => read(queryOf({ ...SOUND, txnid })).postback?.txnid)).toEqual([
			"BÖ-1",
			"BÜ-1",
			"BÖ-2",
			"BÃ–Ö %-3",
			"€",
			"\ufffd",
			"Ã–Ü",
		]);
		expect(read(queryOf({ ...SOUND, status: "best%E4tigt", cid: "c%E4" })).postback).toMatchObject({ status: "bestätigt", cid: "c\ufffd" });
	});

	test("each required field that is absent is reported under its name", () => {
		expect(read("").errors).toEqual({
			txnid: ["The txnid field is required."],
			cid: ["The cid field is required."],
			edate: ["The edate field is required."],
			payout: ["The payout field is required."],
		});
	});

	test("each that is invalid is reported under its name", () => {
		expect(read(queryOf({ txnid: "t%00", cid: "c".repeat(1_025), edate: "soon", payout: "much" })).errors).toEqual({
			txnid: ["The txnid may have at most 255 characters, none of them a control character."],
			cid: ["The cid must be a click id of at most 1024 characters (2048 bytes)."],
			edate: ["The edate is not a valid date."],
			payout: ["The payout must be a number."],
		});
	});

	test.each(["null", "NULL", "(null)", "nil", "None", "undefined", "NaN", "%20undefined%20", NO_GUID, "0".repeat(32)])(
		"a txnid that programs write where they know none is none: %s would make one conversion of all",
		(txnid) => {
			expect(read(queryOf({ ...SOUND, txnid })).errors).toEqual({ txnid: ["The txnid field is required."] });
		},
	);

	test.each(["0", "-", "nulls", "null-1", "nano", "N/A-7", `${NO_GUID}1`, "0".repeat(31)])("the txnid %s is an id", (txnid) => {
		expect(read(queryOf({ ...SOUND, txnid })).postback?.txnid).toBe(txnid);
	});

	test.each([
		["c".repeat(1_024), "c".repeat(1_024)],
		["%00abc%20%0d%0a", "abc"],
		[`%01%01${"c".repeat(1_024)}`, "c".repeat(1_024)],
	])("a cid is read as the click id of a click is: %.20s", (sent, read_) => {
		expect(read(queryOf({ ...SOUND, cid: sent })).postback?.cid).toBe(read_);
	});

	test.each([
		["{status}", "{status}"],
		["%status%", "%status%"],
		["%campaign_status%", "%campaign_status%"],
		["%7Bstatus%7D", "{status}"],
		["%25status%25", "%status%"],
		["[[status]]&status=", "[[status]]"],
		["{status}&status={other}", "{status}"],
	])("a status that nobody filled in is not absent: %s", (sent, status) => {
		expect(read(`${queryOf(SOUND)}&status=${sent}`).postback).toMatchObject({ status });
	});

	test.each(["", "status=", "status=&status=+"])("a status that was not sent is absent: %j", (sent) => {
		expect(read(`${queryOf(SOUND)}&${sent}`).postback).toMatchObject({ status: null });
	});

	test("a status or currency of many characters is cut to 255, between two of them; other texts to 2,000", () => {
		const { postback } = read(queryOf({ ...SOUND, status: `x${"😀".repeat(200)}`, currency: "😀".repeat(200), s2: "ß".repeat(3_000) }));
		expect(postback).toMatchObject({ status: `x${"😀".repeat(127)}`, currency: "😀".repeat(127), s2: "ß".repeat(2_000) });
	});

	test("a status that was filled in goes before one that was not", () => {
		expect(read(`${queryOf(SOUND)}&status={status}&status=paid`).postback).toMatchObject({ status: "paid" });
		expect(read(`${queryOf(SOUND)}&status=paid&status={status}`).postback).toMatchObject({ status: "paid" });
	});

	test("an id's length is counted in characters, as everywhere", () => {
		expect(read(queryOf({ txnid: "😀".repeat(255) })).errors).not.toHaveProperty("txnid");
		expect(read(queryOf({ txnid: "😀".repeat(256) })).errors).toMatchObject({ txnid: [expect.stringContaining("255 characters")] });
	});

	test.each([
		...[
			"{x}",
			"{{x}}",
			`$${"{x}"}`,
			"#{x}",
			"%{x}",
			"[x]",
			"[[[x]]]",
			"<x>",
			"##x##",
			"#x#",
			"%x%",
			"%%x%%",
			"__x__",
			"!!!x!!!",
			"$x$",
			"@@x@@",
		],
		...["{{ click_id }}", "%campaign%", "%CAMPAIGN_ID%", "%cafe%", "%dead%"],
	])("the placeholder %s is empty, raw or encoded", (placeholder) => {
		for (const spelling of [placeholder, encodeURIComponent(placeholder), encodeURIComponent(encodeURIComponent(placeholder))]) {
			expect(read(queryOf({ ...SOUND, cid: spelling })).errors).toEqual({ cid: ["The cid field is required."] });
			expect(read(queryOf({ ...SOUND, sales: spelling, currency: spelling, s2: spelling })).postback).toMatchObject({
				salesMicros: null,
				currency: null,
				s2: null,
			});
		}
	});

	test.each([
		[
			"txnid",
			"txnid",
			"TXNID",
			"TRANSACTION_ID",
			"transactionId",
			"Order-Id",
			"(txnid)",
			"{txnid",
			"*conversion_id*",
			"txn%5Fid",
			"txn+id",
		],
		["cid", "CID", "CLICK_ID", "CLICKID", "AFF_CLICK_ID", "CLICK_HASH"],
		["edate", "edate", "DATE", "event_date", "conversion_time"],
		["payout", "payout", "COMMISSION", "payout_amount"],
	])("a macro's name without the signs that macros have is empty: %s", (field, ...names) => {
		for (const name of names) {
			expect(read(queryOf({ ...SOUND, [field]: name })).errors).toEqual({ [field]: [`The ${field} field is required.`] });
		}
	});

	test("so is the name of a currency, and a value after a name is read", () => {
		expect(read(queryOf({ ...SOUND, currency: "CURRENCY_CODE", s2: "s2" })).postback).toMatchObject({ currency: null, s2: "s2" });
		expect(read(`txnid=TXNID&${queryOf(SOUND)}`).postback).toMatchObject({ txnid: "t-1" });
	});

	test.each([
		["txnid", "order-id-1", "transaction", "cid", "id", "tid", "TXN", "Nº txnid"],
		["cid", "click", "sub1", "SID", "clickid", "clickid1", "txnid", "my-click"],
	])("a %s that holds more than such a name, or another's, is an id", (field, ...ids) => {
		for (const id of ids) {
			expect(read(queryOf({ ...SOUND, [field]: id })).postback).toMatchObject({ [field]: id });
		}
	});

	test("a stray percent sign is text", () => {
		expect(read(`${queryOf(SOUND)}&s2=100%&s3=%zz`).postback).toMatchObject({ s2: "100%", s3: "%zz" });
		expect(read(queryOf({ ...SOUND, txnid: "%" })).postback).toMatchObject({ txnid: "%" });
	});

	test("an optional amount that is no number costs nobody the conversion", () => {
		expect(read(`${queryOf(SOUND)}&sales=lots`).postback).toMatchObject({ salesMicros: null, payoutMicros: 12_500_000 });
	});

	test("names are exact", () => {
		expect(read("TXNID=t&Cid=c&edate=2026-11-10&payout=1").errors).toEqual({
			txnid: ["The txnid field is required."],
			cid: ["The cid field is required."],
		});
	});

	test("of repeated fields the first that says something counts", () => {
		expect(read(`cid=&cid={cid}&cid=+&cid=c9&cid=c10&${queryOf(SOUND)}`).postback).toMatchObject({ cid: "c9" });
	});

	test("whatever comes, it is read or refused with messages for required fields alone", () => {
		const piece = fc.oneof(
			fc.string({ unit: "binary", maxLength: 12 }),
			fc.constantFrom("txnid", "cid", "edate", "payout", "&", "=", "%", "+", "#", "\u0000", "\ud800"),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
				const { postback, errors } = read(pieces.join(""));
				expect((postback === null) !== (errors === null)).toBe(true);
				for (const [name, messages] of Object.entries(errors ?? {})) {
					expect(["txnid", "cid", "edate", "payout"]).toContain(name);
					expect(messages).toHaveLength(1);
				}
			}),
		);
	});
});
