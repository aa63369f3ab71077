import { ALL_HOURS, type BookCampaign } from "../campaign-book/book.ts";
import type { LinkType } from "../lib/enums.ts";
import { localHour } from "../lib/time.ts";
import type { NoBidReason } from "../openrtb/no-bid.ts";

/** What became of one campaign: why it could not bid, or its price. */
export type CampaignVerdict<Reason extends NoBidReason = NoBidReason> =
	| { eligible: false; reason: Reason }
	| { eligible: true; price: number };

/** What a campaign itself can lose by. */
type CampaignReason = Extract<NoBidReason, "no_campaign" | "no_deeplink_campaign" | "outside_hours" | "cap_met">;

export type Circumstances = {
	country: string;
	link: LinkType;
	now: number;
	isPaused: (campaignId: number) => boolean;
	/** The campaign's price for this request, in ten-thousandths of a USD. */
	price: number;
};

/** Whether a campaign may bid now: its country, link, price, caps and hours. A price that rounds to nothing is no bid. */
export function campaignVerdict(campaign: BookCampaign, circumstances: Circumstances): CampaignVerdict<CampaignReason> {
	const { country, link, now, isPaused, price } = circumstances;
	if (!campaign.active || campaign.country !== country) return { eligible: false, reason: "no_campaign" };
	if (link === "deeplink" && !campaign.hasDeeplink) return { eligible: false, reason: "no_deeplink_campaign" };
	if (link === "homepage" && !campaign.hasHomepage) return { eligible: false, reason: "no_campaign" };
	if (price === 0) return { eligible: false, reason: "no_campaign" };
	if (!isAllowedHour(campaign, now)) return { eligible: false, reason: "outside_hours" };
	if (campaign.capped || isPaused(campaign.campaignId)) return { eligible: false, reason: "cap_met" };
	return { eligible: true, price };
}

/** Allowed hours are those of the clocks in the campaign's time zone, UTC where it names none. */
function isAllowedHour(campaign: BookCampaign, now: number): boolean {
	if (campaign.allowedHours === ALL_HOURS) return true;
	return ((campaign.allowedHours >>> localHour(campaign.timeZone ?? "UTC", now)) & 1) === 1;
}
