import { describe, expect, it } from "vitest";
import { eachOnce } from "../../../scripts/operator/each-once.ts";

describe("unit: what commands are given as names and values", () => {
	it("is one value a name; one that is given twice is refused, whatever its values are", () => {
		const pairs = [
			["a", "1"],
			["__proto__", "2"],
			["c", ""],
		] as const;
		expect(Object.entries(eachOnce(pairs, "--set"))).toEqual(pairs);
		expect(() => eachOnce([...pairs, ["a", "1"]], "--set")).toThrow("--set a is given more than once");
		expect(() =>
			eachOnce(
				[
					["__proto__", "1"],
					["__proto__", "2"],
				],
				"The field",
			),
		).toThrow("The field __proto__ is given");
	});
});
