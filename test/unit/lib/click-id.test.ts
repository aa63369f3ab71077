import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTexts } from "../../../src/clicks/read-parameters.ts";
import { pickValues, splitFields } from "../../../src/conversions/read-fields.ts";
import { readPostback } from "../../../src/conversions/read-postback.ts";
import { MAX_CLICK_ID_LENGTH, normaliseClickId } from "../../../src/lib/click-id.ts";
import { Query } from "../../../src/lib/query.ts";
import { anyClickId, ENCODINGS } from "../../support/click-ids.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const takenBy = (raw: string) => readTexts(new Query(`clickid=${raw}`))?.clickid ?? null;
const namedBy = (raw: string) => {
	const { postback } = readPostback(pickValues(splitFields(`txnid=t&edate=2026-11-10&payout=1&cid=${raw}`)), NOW);
	return postback?.cid ?? null;
};

describe("unit: a click id", () => {
	test.each([
		["abc", "abc"],
		["abc ", "abc"],
		["\u00a0abc\u3000", "abc"],
		["a b", "a b"],
		["\u0000a\u0007b\u007f\u0085c", "abc"],
		["\u0001 abc \u0001", "abc"],
		["a\ud800", "a\ufffd"],
		["a".repeat(MAX_CLICK_ID_LENGTH), "a".repeat(MAX_CLICK_ID_LENGTH)],
		["a".repeat(MAX_CLICK_ID_LENGTH + 1), null],
		[` ${"a".repeat(MAX_CLICK_ID_LENGTH)} `, "a".repeat(MAX_CLICK_ID_LENGTH)],
		["", null],
		[" \u0000 ", null],
		["{clickid}", null],
		["{\u0001clickid}", null],
	])("%j is %j", (text, id) => {
		expect(normaliseClickId(text)).toBe(id);
	});

	test("is read the same, however often it is read", () => {
		fc.assert(
			fc.property(anyClickId, (text) => {
				const id = normaliseClickId(text);
				if (id !== null) expect(normaliseClickId(id)).toBe(id);
			}),
		);
	});

	test("whatever a click took, that same text as cid is that id, in whatever encoding either came", () => {
		let taken = 0;
		fc.assert(
			fc.property(anyClickId, fc.constantFrom(...ENCODINGS), fc.constantFrom(...ENCODINGS), (text, ofClick, ofPostback) => {
				const id = takenBy(ofClick(text));
				if (id === null) return;
				taken++;
				expect(namedBy(ofPostback(text))).toBe(id);
				expect(namedBy(ofPostback(id))).toBe(id);
			}),
			{ numRuns: 5_000 },
		);
		expect(taken).toBeGreaterThan(1_000);
	});

	test("escapes that are broken are the same on both sides", () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom("a", "%", "2", "0", "f", "+", "é", "{", "}", "_"), maxLength: 12 }), (raw) => {
				const id = takenBy(raw);
				if (id !== null) expect(namedBy(raw)).toBe(id);
			}),
			{ numRuns: 5_000 },
		);
	});
});
