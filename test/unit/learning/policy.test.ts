import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { DEFAULT_CURVES } from "../../../src/learning/delay-curve.ts";
import { learnCurves } from "../../../src/learning/platform-delays.ts";
import { bidMode, campaignPolicy, priorCurves, readLearning } from "../../../src/learning/policy.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import {
	campaignLearningSchema,
	exportLearning,
	networkLearningSchema,
	platformLearningSchema,
} from "../../../src/operator/network/learning-file.ts";
import { maturities } from "../../support/maturities.ts";

describe("what holds of a campaign", () => {
	it("is the default where nobody says anything: nothing is learned", () => {
		expect(campaignPolicy(null, null)).toEqual({ mode: "off", settings: DEFAULT_SETTINGS });
	});

	it("is its own, over the network's, over the default", () => {
		const network = v.parse(networkLearningSchema, {
			mode: "advise",
			kappa: { campaign: 5, source: 4 },
			highest_factor: 3,
			allowance: "20.00",
			rise: 1.5,
		});
		const campaign = v.parse(campaignLearningSchema, { kappa: { campaign: 9 }, allowance: "2.5", creep: 0.02 });
		const { mode, settings } = campaignPolicy(network, campaign);
		expect(mode).toBe("advise");
		expect(settings).toEqual({
			...DEFAULT_SETTINGS,
			kappa: { ...DEFAULT_SETTINGS.kappa, campaign: 9, source: 4 },
			highestFactor: 3,
			rise: 1.5,
			allowanceMicros: 2_500_000,
			creep: 0.02,
		});
		expect(exportLearning(JSON.stringify(network))).toEqual({
			mode: "advise",
			kappa: { campaign: 5, source: 4 },
			highest_factor: 3,
			allowance: "20.0000",
			rise: 1.5,
		});
		expect(readLearning(JSON.stringify(campaign))).toEqual(campaign);
	});

	it.each([
		["off", null, null, "off"],
		["off", { mode: "automatic" }, null, "automatic"],
		["automatic", { mode: "off" }, null, "off"],
		["automatic", { pin: true }, null, "advise"],
		["automatic", null, { mode: "advise" }, "advise"],
		["advise", null, { mode: "automatic" }, "advise"],
		["automatic", {}, {}, "automatic"],
	] as const)("bids by the network's %s, the campaign's %j and the publisher's %j as %s", (network, campaign, publisher, mode) => {
		expect(bidMode({ mode: network }, campaign, publisher)).toBe(mode);
	});
});

describe("a platform's stated curves", () => {
	it("are the default where none is stated", () => {
		expect(priorCurves(null)).toEqual(DEFAULT_CURVES);
		expect(priorCurves({ arrivals: [{ days: 30, part: 1 }] }).reversals).toEqual(DEFAULT_CURVES.reversals);
	});

	it.each([
		[{ arrivals: [] }, "must have at least one point"],
		[{ reversals: [] }, "must have at least one point"],
		[{ arrivals: Array.from({ length: 51 }, () => ({ days: 0, part: 0 })) }, "must have at most 50 points"],
		[{ arrivals: [{ days: 0, part: 0 }] }, "The days of a delay curve must rise, from above 0."],
		[{ arrivals: [{ days: 9, part: 0 }] }, "A delay curve must rise above 0."],
		[{ arrivals: [{ days: 91, part: 0 }] }, "must end by day 90: what comes later is taken to have come by then"],
		[
			{
				arrivals: [
					{ days: 3, part: 0 },
					{ days: 9, part: 1 },
				],
			},
			"must be above 0 from its first point on",
		],
		[{ reversals: [{ days: 9, part: 1.1 }] }, "The parts of a delay curve must rise, and lie between 0 and 1."],
		[{ reversals: [{ days: 9, part: 0.95 }] }, "must be at most 0.9"],
	])("%j has one fault: %s", (stated, message) => {
		expect(v.safeParse(platformLearningSchema, stated).issues?.map((issue) => issue.message)).toEqual([message]);
	});

	it("are what prices are reckoned with before the first conversion", () => {
		const prior = priorCurves({ arrivals: [{ days: 30, part: 1 }], reversals: [{ days: 60, part: 0.3 }] });
		expect(prior.arrivals.at(14)).toBeCloseTo(14.5 / 30, 6);
		expect(prior.reversals.at(90)).toBe(0.3);
		expect(prior.reversals.at(75)).toBeCloseTo(0.3, 6);
		const learned = learnCurves([], 20_000, prior);
		expect(learned.reversals.at(-1)).toBeCloseTo(0.3, 6);
		const known = maturities(learned);
		expect(known.every((part) => Number.isFinite(part) && part > 0)).toBe(true);
		expect(known.at(-1)).toBeCloseTo(1, 6);
	});
});
