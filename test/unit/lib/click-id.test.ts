import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_CLICK_ID_LENGTH, normaliseClickId } from "../../../src/lib/click-id.ts";
import { anyClickId } from "../../support/click-ids.ts";

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
		["é".repeat(MAX_CLICK_ID_LENGTH), "é".repeat(MAX_CLICK_ID_LENGTH)],
		["😀".repeat(MAX_CLICK_ID_LENGTH / 2), "😀".repeat(MAX_CLICK_ID_LENGTH / 2)],
		[`${"字".repeat(682)}é`, `${"字".repeat(682)}é`],
		["字".repeat(683), null],
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
});
