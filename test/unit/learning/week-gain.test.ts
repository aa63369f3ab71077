/** What a week of clicks is worth beyond the operator's numbers: what is advised is by keyword, and so is this. */
import { expect, it } from "vitest";
import { dayOf } from "../../../src/learning/cohorts.ts";
import { learnNight } from "../../../src/learning/night.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import { sizeClassOf } from "../../../src/learning/size-class.ts";

const TODAY = dayOf(Date.UTC(2026, 10, 18));
const PAYOUT = 10_000_000;
const CLICKS = 100;
const EPC_MICROS = 400_000;

it("unit: a week's worth counts what the keywords of a campaign make of its numbers", () => {
	const days = Array.from({ length: 60 }, (_, age) => TODAY - 1 - age);
	// Each 100 clicks a day: of those without a keyword twice as much comes as the number says, of the keyword nearly nothing.
	const cellOf = (keyword: string, conversions: number) => ({
		cell: { campaign: "a", publisher: "acme", source: "s", keyword, link: "homepage" as const },
		clicks: days.map((day) => ({ day, clicks: CLICKS, paidMicros: 0 })),
		earnings: days.map((day) => ({ day, sizeClass: sizeClassOf(PAYOUT), conversions, netMicros: conversions * PAYOUT })),
		takenBack: [],
	});
	const { campaigns } = learnNight({
		today: TODAY,
		campaigns: [
			{
				terms: {
					id: "a",
					platform: "p",
					epcMicros: EPC_MICROS,
					defaultKeywordEpcMicros: null,
					keywordEpcMicros: new Map([["red", EPC_MICROS]]),
				},
				settings: DEFAULT_SETTINGS,
				lastBreak: null,
				cells: [cellOf("", 7.5), cellOf("red", 0.5)],
			},
		],
		curves: new Map(),
		settings: DEFAULT_SETTINGS,
	});
	const learned = campaigns.get("a");
	const { campaign, keywords } = learned?.factors ?? {};
	// The campaign's own factor says nothing of it.
	expect(campaign?.factor).toBeCloseTo(1, 0);
	const advised = ["", "red"].map((keyword) => EPC_MICROS * (campaign?.factor ?? 0) * (keywords?.get(keyword)?.factor ?? 0));
	const gain = advised.reduce((sum, micros) => sum + 7 * CLICKS * (micros - EPC_MICROS), 0);
	expect(Math.abs((learned?.weekGainMicros ?? 0) / gain - 1)).toBeLessThan(0.2);
});
