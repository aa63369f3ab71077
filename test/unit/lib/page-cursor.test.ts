import { describe, expect, test } from "vitest";
import { CLICKS_CURSOR, OPERATOR_CURSOR } from "../../../src/lib/page-cursor.ts";

describe("unit: the cursor of a page", () => {
	test.each([
		["the operator's lists", OPERATOR_CURSOR, "1795000000000.northwind.T-1_2"],
		["a publisher's clicks", CLICKS_CURSOR, "1795000000000_0197-ab"],
	])("of %s is the time and id of its last row", (_, cursor, text) => {
		const position = cursor.read(text);
		expect(position).toEqual({ at: 1_795_000_000_000, id: text.slice(14) });
		expect(cursor.write(position ?? { at: 0, id: "" })).toBe(text);
	});

	test("patterns stay what the API reference says, and what is no cursor gives no place", () => {
		expect([OPERATOR_CURSOR.pattern, CLICKS_CURSOR.pattern].map(String)).toEqual([
			String(/^(\d{1,15})\.(.{1,64})$/),
			String(/^(\d{1,15})_([\da-z-]{1,64})$/),
		]);
		for (const text of [undefined, "", "5", "5x1", "x.1", "1795000000000000.1"]) expect(OPERATOR_CURSOR.read(text)).toBeNull();
		expect(CLICKS_CURSOR.read("5.1")).toBeNull();
	});
});
