/** By what a click is judged, paid and learned from: as its message tells, and where that does not, as the network has it now. Pure. */
import { OTHER_KEYWORDS } from "../../learning/cell.ts";
import { beforeShare, priceOf, priceToMicros } from "../../lib/money.ts";
import { layPolicies, type TrafficPolicy } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import type { DecidedClick } from "./click-state.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "./facts.ts";

/** The policy of a click; the network's own where nobody knows the publisher or campaign. */
export function policyOf(facts: Facts, { publisher, campaignId }: ClickMessage): TrafficPolicy {
	return layPolicies(facts.traffic, facts.publishers.get(publisher)?.traffic ?? null, facts.campaigns.get(campaignId)?.traffic ?? null);
}

export type Terms = Pick<DecidedClick, "bidMicros" | "grossMicros" | "pricingModel" | "sharePpm">;

/** What a click is paid by: as it was fixed when it was made. What its message does not tell is as publisher and campaign have it now. */
export function termsOf(click: ClickMessage, publisher: PublisherFacts | undefined, campaign: CampaignFacts | undefined): Terms {
	const sharePpm = click.sharePpm ?? publisher?.sharePpm ?? null;
	const epcMicros = click.grossMicros ?? campaign?.epcMicros ?? 0;
	const bidMicros = click.bidMicros ?? priceToMicros(priceOf(epcMicros, sharePpm ?? 0));
	// A message of an earlier version tells the bid alone.
	const grossMicros = click.grossMicros ?? (click.bidMicros === undefined ? epcMicros : beforeShare(bidMicros, sharePpm ?? 0));
	if (publisher === undefined) return { bidMicros, grossMicros, pricingModel: null, sharePpm: null };
	return { bidMicros, grossMicros, pricingModel: click.pricingModel ?? publisher.pricingModel, sharePpm };
}

/** A campaign may have gone to another platform since. A number that none has any more, or more than one, does not tell. */
export function platformOf({ platformId }: ClickMessage, campaign: CampaignFacts | undefined, { platforms }: Facts): string | null {
	if (campaign === undefined) return null;
	const [platform, ...others] = platformId === undefined ? [] : (platforms.get(platformId) ?? []);
	return platform === undefined || others.length > 0 ? campaign.platform : platform;
}

export function keywordClassOf({ campaignId, keyword }: ClickMessage, { keywords }: Facts): string | null {
	return keyword === undefined ? null : (keywords.get(campaignId)?.get(keyword) ?? OTHER_KEYWORDS);
}
