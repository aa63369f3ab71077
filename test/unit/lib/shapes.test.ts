/** Schemas that several inputs are read by. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { listOfAtMost } from "../../../src/lib/shapes.ts";

describe("unit: lists of at most so many", () => {
	let looked = 0;
	const item = v.pipe(
		v.string("must be a text"),
		v.check(() => {
			looked += 1;
			return true;
		}),
	);
	const list = v.pipe(listOfAtMost(item, 3, "is too long"), v.minLength(1, "is empty"));
	const faultsOf = (input: unknown) =>
		v.safeParse(list, input, { abortPipeEarly: true }).issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);

	it("are read entry by entry, each fault at its place", () => {
		expect(v.parse(list, ["a", "b", "c"])).toEqual(["a", "b", "c"]);
		expect(faultsOf(["a", 1, 2])).toEqual(["1: must be a text", "2: must be a text"]);
		expect(faultsOf([])).toEqual(["null: is empty"]);
		for (const input of ["abcd", { length: 9 }, null, undefined]) expect(faultsOf(input)).toEqual(["null: must be a list"]);
	});

	it("are told to be too long before any entry is looked at", () => {
		looked = 0;
		expect(faultsOf(["a", "b", "c", "d"])).toEqual(["null: is too long"]);
		expect(faultsOf(Array(500_000).fill({}))).toEqual(["null: is too long"]);
		expect(looked).toBe(0);
	});
});
