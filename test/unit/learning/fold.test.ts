/** Rows of clicks by the day: their own while it is new, their week's later. */
import { describe, expect, it } from "vitest";
import { foldings, rowDay, staysAsIs } from "../../../src/learning/fold.ts";
import { HISTORY_DAYS } from "../../../src/learning/settings.ts";

describe("unit: folding rows", () => {
	it("rows move, or go, on those days alone that say so", () => {
		const [first, days] = [20_000, 400];
		for (let today = first; today < first + days; today++) {
			const stood = Array.from({ length: HISTORY_DAYS + 7 }, (_, age) => ({ day: rowDay(today - age, today - 1) }));
			const moves = !staysAsIs(
				stood.filter(({ day }) => day >= today - 1 - HISTORY_DAYS),
				today,
			);
			expect(foldings(today) !== foldings(today - 1)).toBe(moves);
		}
	});
});
