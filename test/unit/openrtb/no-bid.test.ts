import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NO_BID_CODES } from "../../../src/openrtb/no-bid.ts";
import { NO_BID_REASONS } from "../../../src/openrtb/no-bid-reasons.ts";

test("unit: every one of the nine no-bid conditions of the interface has a reason, and every reason says why", () => {
	const reasons = Object.values(NO_BID_REASONS);
	const conditions = new Set(reasons.map((reason) => reason.condition));
	expect([...conditions].filter((condition) => condition !== null).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
	expect(reasons.every((reason) => reason.text.length > 10)).toBe(true);
	expect(new Set(reasons.map((reason) => reason.text)).size).toBe(reasons.length);
});

test("unit: the guide for exchanges has every code, and no other", () => {
	const [, table = ""] = /^\| code \| reason \|.*\n([\s\S]*?)^$/m.exec(readFileSync("docs/publishers/ssp.md", "utf8")) ?? [];
	const told = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
	expect(told).toEqual([...new Set(Object.values(NO_BID_CODES))].sort((one, other) => one - other));
});
