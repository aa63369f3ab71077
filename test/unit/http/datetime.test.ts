/** Times in requests: what the descriptions promise by their patterns is what is taken. */
import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { datetime, moment } from "../../../src/http/datetime.ts";

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
