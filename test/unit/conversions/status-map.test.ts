import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/conversions/status-map.ts";

const GUIDE = readFileSync("docs/postbacks.md", "utf8").split(/^#{2,3} /m);
const section = (title: string) => GUIDE.find((part) => part.startsWith(`${title}\n`)) ?? "";
/** The rows of the guide's table of words, whose cells hold only code, bold and plain text. */
const ROWS = section("Status")
	.split("\n")
	.filter((line) => line.startsWith("| `"))
	.map((line) => line.split("|").map((cell) => cell.trim()));

describe("unit: network statuses", () => {
	test("each word of the guide means what the guide says, and twenty networks' words have their source there", () => {
		for (const [, words = "", meanings = ""] of ROWS) {
			const each = meanings.split(", ");
			for (const [at, [, word = ""]] of [...words.matchAll(/`([^`]+)`/g)].entries())
				expect([word, readStatus(word, {})]).toEqual([word, { status: each[at] ?? each[0], unknown: false }]);
		}
		const read = new Set(ROWS.flatMap(([, , , found = ""]) => [...found.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name)));
		const sources = [...section("Where the words are from").matchAll(/\[([^\]]+)\]\(https:/g)].map(([, name]) => name);
		expect(new Set(sources)).toEqual(read);
		expect(sources.length).toBeGreaterThanOrEqual(20);
	});

	test.each([
		...["approved", "confirmed", "paid", "locked", "1", "Approved", "PAID"].map((word) => [word, "approved"]),
		...["accepted", "validated", "closed", "SALE", "BILL", "payment"].map((word) => [word, "approved"]),
		...["pending", "hold", "new", "open", "0"].map((word) => [word, "pending"]),
		...["extended", "delayed", "unconfirmed", "approved_but_stalled", "On Hold", "on-hold"].map((word) => [word, "pending"]),
		...["rejected", "reversed", "cancelled", "canceled", "declined", "void", "refunded", "-1"].map((word) => [word, "cancelled"]),
		...["chargeback", "charge_back", "Charge Back", "charge-back", "fraud", "returned", "return", "refund"].map((word) => [
			word,
			"cancelled",
		]),
		...["deleted", "expired", "invalid", "trash", "denied", "disapproved"].map((word) => [word, "cancelled"]),
		...["voided", "refused", "reversal", "RFND", "CGBK", "INSF"].map((word) => [word, "cancelled"]),
	])("%s is %s", (word, status) => {
		expect(readStatus(word, {})).toEqual({ status, unknown: false });
	});

	test("none is approved", () => {
		expect(readStatus(null, {})).toEqual({ status: "approved", unknown: false });
	});

	test.each([
		"maybe",
		"constructor",
		"__proto__",
		"toString",
		"2",
		"3",
		"lead",
		"active",
		"mixed",
		"cancel-rebill",
		"{status}",
		"{approved}",
	])("%s is unknown: pending, and flagged", (word) => {
		expect(readStatus(word, {})).toEqual({ status: "pending", unknown: true });
	});

	test("the platform's own map goes first, in any letter case", () => {
		expect(readStatus("Invoiced", { invoiced: "approved" })).toEqual({ status: "approved", unknown: false });
		expect(readStatus("paid", { " PAID ": "pending" })).toEqual({ status: "pending", unknown: false });
		expect(readStatus("2", { "2": "cancelled" })).toEqual({ status: "cancelled", unknown: false });
	});
});
