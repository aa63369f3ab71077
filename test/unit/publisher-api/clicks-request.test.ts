import { describe, expect, test } from "vitest";
import { HttpError } from "../../../src/lib/http.ts";
import { CLICKS_CURSOR } from "../../../src/lib/page-cursor.ts";
import { readClicksQuery } from "../../../src/publisher-api/clicks-request.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const read = (query: Record<string, string>) => readClicksQuery(query, NOW);

function faultOf(query: Record<string, string>): unknown {
	try {
		return read(query);
	} catch (error) {
		return error instanceof HttpError ? error.body.faults : error;
	}
}

describe("unit: what GET /api/clicks is asked for", () => {
	test("without anything: the last day, a hundred clicks", () => {
		const nothing = { id: null, reason: null, brand: null, source: null, order: "oldest", limit: 100, after: null };
		expect(read({})).toEqual({ fromAt: NOW - 86_400_000, toAt: NOW, ...nothing });
		expect(read({ from: "", to: "", limit: "", cursor: "" })).toEqual(read({}));
	});

	test("31 days are the most", () => {
		expect(read({ from: "2026-10-01", to: "2026-10-31" }).toAt).toBe(Date.parse("2026-11-01"));
		expect(faultOf({ from: "2026-10-01", to: "2026-11-01" })).toEqual([{ path: "from", message: "must be at most 31 days before to" }]);
	});

	test("one id is looked for in all time, or up to, or from, what is given", () => {
		const span = (query: Record<string, string>) => {
			const { fromAt, toAt } = read({ id: "click-1", ...query });
			return [fromAt <= 0 ? "any" : new Date(fromAt).toISOString(), new Date(toAt).toISOString()];
		};
		expect(span({})).toEqual(["any", "2026-11-21T12:00:00.000Z"]);
		expect(span({ to: "2026-01-31" })).toEqual(["any", "2026-02-01T00:00:00.000Z"]);
		expect(span({ from: "2026-01-31" })).toEqual(["2026-01-31T00:00:00.000Z", "2026-11-20T12:00:00.000Z"]);
		expect(span({ from: "2025-01-31", to: "2026-01-31" })).toEqual(["2025-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]);
	});

	test("a period that is none is told by the end that was given", () => {
		expect(faultOf({ from: "2026-11-21" })).toEqual([{ path: "from", message: "must not lie ahead" }]);
		expect(faultOf({ from: "2026-11-21", to: "2026-11-19" })).toEqual([{ path: "to", message: "must not be before from" }]);
	});

	test("a cursor is what it was written from", () => {
		const place = { at: NOW, id: "019f2a3b-4c5d-7000-8000-000000000001" };
		expect(read({ cursor: CLICKS_CURSOR.write(place) }).after).toEqual(place);
	});

	test.each([
		["from", { from: "2026-02-30" }],
		["from", { from: "2026-02-30T10:00:00Z", to: "2026-03-03" }],
		["from", { from: "yesterday" }],
		["from", { from: "1" }],
		["from", { from: "2026-11-21" }],
		["to", { from: "2026-11-10T10:00:00Z", to: "2026-11-10T10:00:00Z" }],
		["to", { to: "2026-11-10T10:00:00" }],
		["reason", { reason: "fraud" }],
		["limit", { limit: "0" }],
		["limit", { limit: "1001" }],
		["limit", { limit: "ten" }],
		["cursor", { cursor: "next" }],
		["source", { source: "s".repeat(256) }],
	])("%s is at fault in %j", (path, query) => {
		expect(faultOf(query)).toEqual([{ path, message: expect.stringMatching(/^must /) }]);
	});
});
