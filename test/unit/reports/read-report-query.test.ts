/** Pure reading of what a report request asks. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HttpError } from "../../../src/lib/http.ts";
import { readClickLevelQuery, readRevenueShareQuery } from "../../../src/reports/read-report-query.ts";

type Messages = Record<string, string[]>;

const SOUND = { report_type: "daywise", start_date: "2026-11-01", end_date: "2026-11-03" };

const revenueShare = (fields: object) => readRevenueShareQuery(new Map(Object.entries({ ...SOUND, ...fields })));
const clickLevel = (fields: object) => readClickLevelQuery(new Map(Object.entries({ ...SOUND, ...fields })));

/** The fields at fault, and what is said of them. */
function faultsOf(read: () => unknown): Messages {
	try {
		read();
	} catch (error) {
		if (!(error instanceof HttpError)) throw error;
		expect(error.status).toBe(422);
		expect(error.body.error).toBe("Validation failed");
		return error.body.messages as Messages;
	}
	throw new Error("it was taken");
}

describe("unit: a sound report query", () => {
	it("covers the days from the first to the last, in UTC, both included", () => {
		expect(revenueShare({})).toEqual({
			reportType: "daywise",
			period: {
				startDate: "2026-11-01",
				endDate: "2026-11-03",
				startAt: Date.parse("2026-11-01T00:00:00Z"),
				endAt: Date.parse("2026-11-04T00:00:00Z"),
			},
			paging: { page: 1, limit: 1000 },
			asOf: null,
			detail: false,
		});
	});

	it.each(["daywise", "clickid_level", "source_level", " Daywise "])("takes report type %j", (report_type) => {
		expect(revenueShare({ report_type }).reportType).toBe(report_type.trim().toLowerCase());
	});

	it.each([
		["numbers", { page: 3, limit: 50 }],
		["digits", { page: "3", limit: "50" }],
		["digits with spaces and leading zeros", { page: " 03 ", limit: "+050" }],
	])("takes page and limit as %s", (_name, fields) => {
		expect(revenueShare(fields).paging).toEqual({ page: 3, limit: 50 });
	});

	it.each([
		{ page: null, limit: null },
		{ page: "", limit: "  " },
	])("takes %j for absent", (fields) => {
		expect(clickLevel(fields).paging).toEqual({ page: 1, limit: 1000 });
	});

	it.each([7, "7", " 07 "])("takes as_of %j of reports of single rows, and 0", (as_of) => {
		expect([revenueShare({ report_type: "clickid_level", as_of }).asOf, clickLevel({ as_of }).asOf]).toEqual([7, 7]);
		expect([clickLevel({ as_of: 0 }).asOf, clickLevel({ as_of: " " }).asOf]).toEqual([0, null]);
	});

	it.each(["daywise", "source_level"])("takes no as_of of %s", (report_type) => {
		expect(faultsOf(() => revenueShare({ report_type, as_of: 7 }))).toEqual({ as_of: [`The as_of field is not for ${report_type}.`] });
	});

	it.each(["x", "1.5", -1, true, "9007199254740992"])("does not take as_of %j", (as_of) => {
		expect(Object.keys(faultsOf(() => clickLevel({ as_of })))).toEqual(["as_of"]);
	});

	it("takes detail 1 and 0, which is the default", () => {
		expect([1, "1", 0, "", undefined].map((detail) => clickLevel({ detail }).detail)).toEqual([true, true, false, false, false]);
		for (const detail of [2, "yes", true]) expect(Object.keys(faultsOf(() => clickLevel({ detail })))).toEqual(["detail"]);
	});

	it("covers up to 31 days", () => {
		expect(revenueShare({ start_date: "2026-10-01", end_date: "2026-10-31" }).period.endDate).toBe("2026-10-31");
		expect(revenueShare({ start_date: "2024-02-29", end_date: "2024-02-29" }).period.endDate).toBe("2024-02-29");
	});

	it("at click level covers dates up to 2 days apart", () => {
		expect(clickLevel({ start_date: "2026-10-30", end_date: "2026-11-01" }).period.startDate).toBe("2026-10-30");
	});
});

describe("unit: a report query at fault", () => {
	it("names every missing field at once", () => {
		expect(faultsOf(() => readRevenueShareQuery(new Map()))).toEqual({
			report_type: ["The report_type field is required."],
			start_date: ["The start_date field is required."],
			end_date: ["The end_date field is required."],
		});
		expect(Object.keys(faultsOf(() => readClickLevelQuery(new Map())))).toEqual(["start_date", "end_date"]);
	});

	it.each(["hourly", "daywise,source_level", "__proto__", "day wise"])("an unknown report type: %j", (report_type) => {
		expect(faultsOf(() => revenueShare({ report_type }))).toEqual({
			report_type: ["The report_type field must be one of daywise, clickid_level, source_level."],
		});
	});

	it.each([
		...["01-11-2026", "2026/11/01", "2026-11-1", "20261101", "2026-11-01T00:00:00Z", "yesterday", "2026-13-01", "2026-02-30"],
		...["2025-02-29", "2026-00-10", "2026-11-00", "+02026-11-01", "-2026-11-01", "２０２６-11-01", "1793491200"],
	])("a date that is none: %j", (start_date) => {
		expect(faultsOf(() => clickLevel({ start_date }))).toEqual({
			start_date: ["The start_date field must be a date of the calendar, as YYYY-MM-DD."],
		});
	});

	it.each([[["2026-11-01"]], [{}], [true], [20261101]])("a date that is no text: %j", (end_date) => {
		expect(faultsOf(() => clickLevel({ end_date }))).toEqual({ end_date: ["The end_date field must be text."] });
	});

	it("a reversed range", () => {
		const faults = faultsOf(() => revenueShare({ start_date: "2026-11-02", end_date: "2026-11-01" }));
		expect(faults).toEqual({ end_date: ["The end_date field must not be before start_date."] });
	});

	it("32 days", () => {
		const faults = faultsOf(() => revenueShare({ start_date: "2026-10-01", end_date: "2026-11-01" }));
		expect(Object.keys(faults)).toEqual(["end_date"]);
		expect(faults.end_date?.[0]).toContain("at most 30 days after");
	});

	it("dates 3 days apart at click level", () => {
		const faults = faultsOf(() => clickLevel({ start_date: "2026-10-01", end_date: "2026-10-04" }));
		expect(faults.end_date?.[0]).toContain("at most 2 days after");
	});

	it.each([
		...[0, -1, "0", "-3", "-0"].map((value) => [value, "must be at least 1"]),
		...[1.5, "1.5", "two", "1e3", "0x10", [2], {}, true, Number.NaN, Number.POSITIVE_INFINITY].map((value) => [
			value,
			"must be a whole number",
		]),
		...[2e9, "99999999999999999999999", 1e300].map((value) => [value, "must be at most 1000000000"]),
	])("page %j", (page, message) => {
		expect(faultsOf(() => clickLevel({ page }))).toEqual({ page: [`The page field ${message}.`] });
	});

	it.each([
		[0, "must be at least 1"],
		["5001", "must be at most 5000"],
		["many", "must be a whole number"],
	])("limit %j", (limit, message) => {
		expect(faultsOf(() => revenueShare({ limit }))).toEqual({ limit: [`The limit field ${message}.`] });
	});

	it("names faults of other fields beside those of the period", () => {
		const faults = faultsOf(() => revenueShare({ report_type: "x", start_date: "2026-11-09", end_date: "2026-11-01", page: 0, limit: 0 }));
		expect(Object.keys(faults).sort()).toEqual(["end_date", "limit", "page", "report_type"]);
	});

	it("any values whatever: a query within the bounds, or messages", () => {
		const value = fc.oneof(
			fc.string(),
			fc.integer(),
			fc.double(),
			fc.jsonValue(),
			fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
		);
		const fields = fc.record({ report_type: value, start_date: value, end_date: value, page: value, limit: value }, { requiredKeys: [] });
		fc.assert(
			fc.property(fields, (given) => {
				try {
					const { period, paging } = revenueShare(given);
					expect(period.endAt - period.startAt).toBeGreaterThan(0);
					expect(period.endAt - period.startAt).toBeLessThanOrEqual(31 * 86_400_000);
					expect(Number.isSafeInteger(paging.page * paging.limit)).toBe(true);
				} catch (error) {
					expect(error).toBeInstanceOf(HttpError);
				}
			}),
		);
	});
});
