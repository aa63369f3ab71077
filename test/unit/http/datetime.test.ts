/** Times in requests: what the descriptions promise by their patterns is what is taken. */
import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { datetime, endOf, moment, startOf } from "../../../src/http/datetime.ts";

const TEXTS = [
	["2026-11-20", true, true],
	["2026-11-20T09:00Z", true, true],
	["2026-11-20T09:00:30.5+02:00", true, true],
	["2026-11-20T09:00", true, false],
	["2026-11-20T09:00:30", true, false],
	["2026-11-20T", false, false],
	["2026-11-20Z", false, false],
	["20261120", false, false],
] as const;

describe("unit: times in requests", () => {
	it("are UTC where they name no offset; a date ends with its day", () => {
		expect(startOf("2026-11-20T09:00")).toBe(Date.UTC(2026, 10, 20, 9));
		expect(startOf("2026-11-20T09:00+02:00")).toBe(Date.UTC(2026, 10, 20, 7));
		expect([startOf("2026-11-20"), endOf("2026-11-20")]).toEqual([Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21)]);
		expect(endOf("2026-11-20T09:00Z")).toBe(Date.UTC(2026, 10, 20, 9));
	});

	it.each(TEXTS)("%s: of an operator %s, of a publisher %s", (text, ofOperator, ofPublisher) => {
		for (const [schema, isTaken] of [
			[datetime, ofOperator],
			[moment, ofPublisher],
		] as const) {
			const { pattern = "" } = toJsonSchema(schema, { errorMode: "ignore" });
			expect([v.is(schema, text), new RegExp(pattern).test(text)]).toEqual([isTaken, isTaken]);
		}
	});
});
