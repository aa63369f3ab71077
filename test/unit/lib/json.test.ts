import { describe, expect, it } from "vitest";
import { parseJson } from "../../../src/lib/json.ts";

describe("unit: parseJson", () => {
	it.each(["null", "0", '""', '{"a":[1]}', " true "])("%s is read as what it says", (text) => {
		expect(parseJson(text)).toEqual(JSON.parse(text));
	});

	it.each(["", "{", "undefined", "{'a':1}", "1 2"])("%j is not JSON: undefined", (text) => {
		expect(parseJson(text)).toBeUndefined();
	});
});
