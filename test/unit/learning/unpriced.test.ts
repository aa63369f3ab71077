/** Clicks that the operator has no number for: nothing was expected of them, so what they earn tells nothing of what others are worth. */
import { describe, expect, it } from "vitest";
import { dayOf } from "../../../src/learning/cohorts.ts";
import { learnNight } from "../../../src/learning/night.ts";
import type { CampaignHistory } from "../../../src/learning/night-steps.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import { sizeClassOf } from "../../../src/learning/size-class.ts";
import { pairKey } from "../../../src/learning/traffic.ts";

const TODAY = dayOf(Date.UTC(2026, 10, 18));
const PAYOUT = 10_000_000;
const NO_KEYWORDS: ReadonlyMap<string, number> = new Map();

/** A campaign's clicks of 40 days, 100 a day, of which two buy: what a click is worth is 0.20 USD. */
function campaign(
	id: string,
	epcMicros: number | null,
	keywords: readonly string[] = [""],
	keywordEpcMicros = NO_KEYWORDS,
): CampaignHistory {
	return {
		terms: { id, platform: "p", epcMicros, defaultKeywordEpcMicros: null, keywordEpcMicros },
		settings: DEFAULT_SETTINGS,
		lastBreak: null,
		cells: keywords.map((keyword) => ({
			cell: { campaign: id, publisher: "acme", source: "s", keyword, link: "homepage" },
			clicks: Array.from({ length: 40 }, (_, age) => ({ day: TODAY - 50 - age, clicks: 100, paidMicros: 0 })),
			earnings: Array.from({ length: 40 }, (_, age) => {
				return { day: TODAY - 50 - age, sizeClass: sizeClassOf(PAYOUT), conversions: 2, netMicros: 2 * PAYOUT };
			}),
			takenBack: [],
		})),
	};
}

function learn(campaigns: readonly CampaignHistory[]) {
	return learnNight({ today: TODAY, campaigns, curves: new Map(), settings: DEFAULT_SETTINGS });
}

describe("unit: clicks without a number of the operator's", () => {
	it.each([0, null])("a campaign whose EPC is %j raises no other campaign's traffic", (epcMicros) => {
		const { shared, campaigns } = learn([campaign("ended", epcMicros), campaign("priced", 200_000)]);
		for (const evidence of [shared.publishers.get("acme"), shared.sources.get(pairKey("acme", "s")), shared.links.get("homepage")]) {
			expect(evidence?.factor).toBeCloseTo(1, 1);
		}
		expect(campaigns.get("priced")?.factors.campaign.factor).toBeCloseTo(1, 1);
		expect(campaigns.get("ended")?.factors.campaign.factor).toBe(1);
	});

	it("nor do clicks without a keyword raise the keywords of a campaign that has numbers of these alone", () => {
		const { campaigns } = learn([campaign("a", null, ["", "boots"], new Map([["boots", 200_000]]))]);
		const { campaign: own, keywords } = campaigns.get("a")?.factors ?? {};
		expect((own?.factor ?? 0) * (keywords?.get("boots")?.factor ?? 0)).toBeCloseTo(1, 1);
	});
});
