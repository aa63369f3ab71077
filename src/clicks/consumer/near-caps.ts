/** Which campaigns have to be held against their caps after a batch: pure. Most are far from all of theirs, and cost no question. */
import { localDay } from "../../lib/time.ts";
import type { ClickedCampaign } from "./caps.ts";
import { type ClickState, campaignDayKey, type DecidedClick } from "./click-state.ts";
import { budgetCostOf, hasCap, isNearCap, RATE_SLOT_MS, RATE_WINDOW_MS, rateSlotOf, type Spent } from "./decide-pause.ts";
import type { CampaignFacts } from "./facts.ts";

type Clicked = { campaign: CampaignFacts; day: string; at: number; billed: Spent };

/**
 * Of the campaigns whose clicks count, those that may have met a cap: each with the time of its latest click.
 * @param state as it was before the batch, by which it was decided
 */
export function nearCaps(decided: readonly DecidedClick[], state: ClickState, now: number): ClickedCampaign[] {
	const clicked = new Map<number, Clicked>();
	for (const { click, campaign, reason, bidMicros, grossMicros, localDay: day } of decided) {
		if (campaign === undefined || !hasCap(campaign)) continue;
		// One that is over a cap shows that bids still go out.
		if (reason !== null && reason !== "over_cap" && reason !== "over_budget") continue;
		const { campaignId } = click;
		const known = clicked.get(campaignId) ?? { campaign, day, at: 0, billed: { clicks: 0, micros: 0 } };
		if (click.at > known.at) clicked.set(campaignId, { ...known, day, at: click.at });
		else clicked.set(campaignId, known);
		if (reason !== null) continue;
		// Those of another day are counted as well: too many make a question, too few would miss a cap.
		known.billed.clicks++;
		known.billed.micros += budgetCostOf(campaign.budgetBasis, { bidMicros, grossMicros });
	}
	return [...clicked.values()]
		.filter((of) => isNear(of, state, now))
		.map(({ campaign: { campaignId, timezone }, at }) => ({ campaignId, timezone, at }));
}

/** The day's count bounds the pace where the clicks that make the pace are of the same day, and that is the present one. */
function isNear({ campaign, day, at, billed }: Clicked, { spentOnDays, spentEver }: ClickState, now: number): boolean {
	const { timezone, campaignId } = campaign;
	const paceFrom = rateSlotOf(at - RATE_WINDOW_MS) * RATE_SLOT_MS;
	if (localDay(timezone, now) !== day || localDay(timezone, paceFrom) !== day) return true;
	const today = plus(spentOnDays.get(campaignDayKey(campaignId, day)), billed);
	return isNearCap(campaign, today, plus(spentEver.get(campaignId), billed));
}

function plus(before: Spent | undefined, billed: Spent): Spent {
	return { clicks: (before?.clicks ?? 0) + billed.clicks, micros: (before?.micros ?? 0) + billed.micros };
}
