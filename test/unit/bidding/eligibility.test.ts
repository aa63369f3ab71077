import { describe, expect, test } from "vitest";
import { type Circumstances, campaignVerdict } from "../../../src/bidding/eligibility.ts";
import type { BookCampaign } from "../../../src/campaign-book/book.ts";
import { campaign, hours } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");

function verdict(fields: Partial<BookCampaign> = {}, circumstances: Partial<Circumstances> = {}) {
	return campaignVerdict(campaign(fields), {
		country: "US",
		link: "homepage",
		now: NOON,
		isPaused: () => false,
		price: 100,
		...circumstances,
	});
}

const refused = (reason: string) => ({ eligible: false, reason });
const allowed = { eligible: true, price: 100 };

describe("unit: a campaign may bid", () => {
	test("where it is active, of the country, has the link and a price, and neither caps nor hours stand against it", () => {
		expect(verdict()).toEqual(allowed);
		expect(verdict({}, { link: "deeplink" })).toEqual(allowed);
	});
	test("on its homepage without a deeplink, and on a deeplink without a homepage", () => {
		expect(verdict({ hasDeeplink: false })).toEqual(allowed);
		expect(verdict({ hasHomepage: false }, { link: "deeplink" })).toEqual(allowed);
	});
	test("in any country that is its own", () => {
		expect(verdict({ country: "GB" }, { country: "GB" })).toEqual(allowed);
	});
});

describe("unit: a campaign may not bid", () => {
	test.each<[string, Partial<BookCampaign>, Partial<Circumstances>, string]>([
		["that is not active", { active: false }, {}, "no_campaign"],
		["in another country", { country: "CA" }, {}, "no_campaign"],
		["without the homepage link asked for", { hasHomepage: false }, {}, "no_campaign"],
		["without the verified deeplink asked for", { hasDeeplink: false }, { link: "deeplink" }, "no_deeplink_campaign"],
		["whose price rounds to nothing", {}, { price: 0 }, "no_campaign"],
		["with a cap of zero", { capped: true }, {}, "cap_met"],
		["that stands still for a cap", { campaignId: 9 }, { isPaused: (id) => id === 9 }, "cap_met"],
		["outside its hours", { allowedHours: hours(11, 13) }, {}, "outside_hours"],
		["without any hour", { allowedHours: 0 }, {}, "outside_hours"],
	])("%s", (_, fields, circumstances, reason) => {
		expect(verdict(fields, circumstances)).toEqual(refused(reason));
	});

	test("while another one stands still, it may", () => {
		expect(verdict({ campaignId: 1 }, { isPaused: (id) => id === 9 })).toEqual(allowed);
	});
});

describe("unit: allowed hours", () => {
	test("are those of the campaign's own time zone", () => {
		// 12:00 UTC is 7:00 in New York in winter.
		expect(verdict({ timeZone: "America/New_York", allowedHours: hours(7) })).toEqual(allowed);
		expect(verdict({ timeZone: "America/New_York", allowedHours: hours(12) })).toEqual(refused("outside_hours"));
	});
	test("are those of UTC where it names no zone", () => {
		expect(verdict({ timeZone: null, allowedHours: hours(12) })).toEqual(allowed);
		expect(verdict({ timeZone: null, allowedHours: hours(13) })).toEqual(refused("outside_hours"));
	});
	test.each([
		[
			"the hour that daylight saving skips is never there",
			"America/New_York",
			hours(2),
			"2026-03-08T06:59:59Z",
			"2026-03-08T07:00:00Z",
			false,
			false,
		],
		[
			"the hour after it comes an hour of UTC earlier",
			"America/New_York",
			hours(3),
			"2026-03-07T07:30:00Z",
			"2026-03-08T07:30:00Z",
			false,
			true,
		],
		[
			"the hour that comes twice is allowed twice",
			"America/New_York",
			hours(1),
			"2026-11-01T05:30:00Z",
			"2026-11-01T06:30:00Z",
			true,
			true,
		],
		[
			"they begin on the half hour where the zone does",
			"Asia/Kolkata",
			hours(0),
			"2026-06-01T18:29:59Z",
			"2026-06-01T18:30:00Z",
			false,
			true,
		],
		["midnight is hour 0", "UTC", hours(0), "2026-06-01T23:59:59Z", "2026-06-02T00:00:00Z", false, true],
		["the last one is hour 23", "UTC", hours(23), "2026-06-01T23:59:59Z", "2026-06-02T00:00:00Z", true, false],
	])("%s", (_, timeZone, allowedHours, first, second, inFirst, inSecond) => {
		expect(verdict({ timeZone, allowedHours }, { now: Date.parse(first) }).eligible).toBe(inFirst);
		expect(verdict({ timeZone, allowedHours }, { now: Date.parse(second) }).eligible).toBe(inSecond);
	});
});
