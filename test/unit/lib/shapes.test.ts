/** Schemas that several inputs are read by. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { listOfAtMost, mapOf, notAList } from "../../../src/lib/shapes.ts";

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

describe("unit: objects of names that their sender chooses", () => {
	const name = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be blank"));
	const value = v.picklist(["approved", "pending"], "must be known");
	const map = mapOf(name, value, "must be an object");
	const issuesOf = (schema: v.GenericSchema, input: unknown) => v.safeParse(schema, input).issues;

	it("keep every name, whatever objects inherit", () => {
		const text = '{"constructor":"pending","__proto__":"approved"," __proto__ ":"pending","prototype":"approved"," toString":"pending"}';
		const read = v.parse(map, JSON.parse(text));
		expect(JSON.stringify(read)).toBe('{"constructor":"pending","__proto__":"pending","prototype":"approved","toString":"pending"}');
		expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
	});

	it("are told what is wrong of each name", () => {
		const faults = issuesOf(v.object({ map }), { map: JSON.parse('{"__proto__":"paid","constructor":1,"a":"pending"}') });
		expect(faults?.map((issue) => [v.getDotPath(issue), issue.message])).toEqual([
			["map.__proto__", "must be known"],
			["map.constructor", "must be known"],
		]);
	});

	it.each([{}, { " a ": "pending" }, { a: "paid", b: 1, " ": "lost" }, { a: {} }, [], ["pending"], null, undefined, "a", 7])(
		"are else what Valibot takes: %j",
		(input) => {
			const record = v.object({ map: notAList(v.record(name, value, "must be an object")) });
			expect(v.safeParse(v.object({ map }), { map: input })).toEqual(v.safeParse(record, { map: input }));
		},
	);
});
