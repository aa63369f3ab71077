import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, isTimeZone, isUtcDay, localHour, MINUTE_MS, SECOND_MS, utcDay } from "../../../src/lib/time.ts";

function at(iso: string): number {
	return Date.parse(iso);
}

describe("unit: localHour", () => {
	test.each([
		// The United States in 2026: daylight saving from March 8, 2:00 to November 1, 2:00.
		["America/New_York", "2026-01-15T14:59:59Z", 9],
		["America/New_York", "2026-07-15T13:59:59Z", 9],
		["America/New_York", "2026-03-08T06:59:59Z", 1],
		["America/New_York", "2026-03-08T07:00:00Z", 3],
		["America/New_York", "2026-11-01T05:59:59Z", 1],
		["America/New_York", "2026-11-01T06:00:00Z", 1],
		["America/New_York", "2026-11-01T07:00:00Z", 2],
		["America/Los_Angeles", "2026-03-08T09:59:59Z", 1],
		["America/Los_Angeles", "2026-03-08T10:00:00Z", 3],
		// Phoenix keeps standard time all year.
		["America/Phoenix", "2026-03-08T10:00:00Z", 3],
		["America/Phoenix", "2026-07-08T10:00:00Z", 3],
		// Europe in 2026: March 29 to October 25, all at 1:00 UTC.
		["Europe/London", "2026-03-29T00:59:59Z", 0],
		["Europe/London", "2026-03-29T01:00:00Z", 2],
		["Europe/Berlin", "2026-10-25T00:59:59Z", 2],
		["Europe/Berlin", "2026-10-25T01:00:00Z", 2],
		["Europe/Berlin", "2026-10-25T02:00:00Z", 3],
		// The other half of the world: Sydney starts on October 4, 2026, at 2:00 local.
		["Australia/Sydney", "2026-10-03T15:59:59Z", 1],
		["Australia/Sydney", "2026-10-03T16:00:00Z", 3],
		// Half hours and quarters.
		["Asia/Kolkata", "2026-06-01T18:29:59Z", 23],
		["Asia/Kolkata", "2026-06-01T18:30:00Z", 0],
		["Asia/Kathmandu", "2026-06-01T18:14:59Z", 23],
		["Asia/Kathmandu", "2026-06-01T18:15:00Z", 0],
		["America/St_Johns", "2026-01-15T03:29:59Z", 23],
		["America/St_Johns", "2026-01-15T03:30:00Z", 0],
		["Australia/Lord_Howe", "2026-06-30T13:30:00Z", 0],
		["Australia/Lord_Howe", "2026-12-31T13:00:00Z", 0],
		// The far ends.
		["Pacific/Kiritimati", "2026-06-01T10:00:00Z", 0],
		["Pacific/Pago_Pago", "2026-06-01T11:00:00Z", 0],
		["UTC", "2026-06-01T00:00:00Z", 0],
		["UTC", "2026-06-01T23:59:59.999Z", 23],
	])("in %s at %s it is hour %d", (zone, iso, hour) => {
		expect(localHour(zone, at(iso))).toBe(hour);
	});

	test("agrees with the clocks of each zone at any time, in whatever order it is asked", () => {
		const zones = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "UTC"];
		const formats = new Map(zones.map((timeZone) => [timeZone, new Intl.DateTimeFormat("en-GB", { timeZone, timeStyle: "medium" })]));
		const time = fc.integer({ min: at("2020-01-01"), max: at("2035-01-01") });
		fc.assert(
			fc.property(fc.constantFrom(...zones), time, (zone, now) => {
				const clock = formats.get(zone)?.format(now) ?? "";
				expect(localHour(zone, now)).toBe(Number(clock.slice(0, 2)));
			}),
			{ numRuns: 2_000 },
		);
	});

	test("throws on a zone that does not exist", () => {
		expect(() => localHour("Mars/Olympus_Mons", 0)).toThrow(RangeError);
	});
});

describe("unit: isTimeZone", () => {
	test("knows IANA names and nothing else", () => {
		expect(["UTC", "America/New_York", "Asia/Kolkata"].every(isTimeZone)).toBe(true);
		expect(["", "Mars/Olympus_Mons", "New York", "America/New_York ", "25:00"].some(isTimeZone)).toBe(false);
	});

	// Their hours need not begin with a quarter of an hour, nor their days within 14 hours of UTC's, as is counted on.
	test.each(["+05:07", "+23:59", "-23:00", "+0530", "+05", "-00:00"])("not offsets, such as %s", (offset) => {
		expect(isTimeZone(offset)).toBe(false);
	});
});

describe("unit: units and days", () => {
	test("units are milliseconds", () => {
		expect([SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS]).toEqual([1_000, 60_000, 3_600_000, 86_400_000]);
	});

	test("a text is a day where the calendar has it", () => {
		expect(["2026-11-18", "2024-02-29", "0001-01-01", "9999-12-31"].every(isUtcDay)).toBe(true);
		expect(["2026-02-30", "2026-02-29", "2026-13-01", "2026-11-1", "2026-11-18T00:00Z", "18.11.2026", " ", ""].some(isUtcDay)).toBe(false);
	});

	test("a day is the one in UTC", () => {
		expect(utcDay(at("2026-11-01T23:59:59.999Z"))).toBe("2026-11-01");
		expect(utcDay(at("2026-11-02T00:00:00+00:00"))).toBe("2026-11-02");
		expect(utcDay(at("2026-11-01T22:30:00-05:00"))).toBe("2026-11-02");
	});
});
