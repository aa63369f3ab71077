import { expect, test } from "vitest";
import { NO_BID_REASONS } from "../../../src/openrtb/no-bid.ts";

test("unit: every one of the nine no-bid conditions of the interface has a reason, and every reason says why", () => {
	const reasons = Object.values(NO_BID_REASONS);
	const conditions = new Set(reasons.map((reason) => reason.condition));
	expect([...conditions].filter((condition) => condition !== null).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
	expect(reasons.every((reason) => reason.text.length > 10)).toBe(true);
	expect(new Set(reasons.map((reason) => reason.text)).size).toBe(reasons.length);
});
