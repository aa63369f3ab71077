/** What is known of the publishers and campaigns of some clicks: types alone, so that the pure decision needs no database. */
import type { BudgetBasis, PricingModel } from "../../lib/enums.ts";
import type { TrafficPolicy, TrafficSettings } from "../../lib/traffic-rules.ts";
import type { CampaignCaps } from "./decide-pause.ts";

/** How the publisher is paid now: for clicks that do not bring it along. */
export type PublisherFacts = { id: string; pricingModel: PricingModel; sharePpm: number; traffic: TrafficSettings | null };

export type CampaignFacts = CampaignCaps & {
	campaignId: number;
	budgetBasis: BudgetBasis;
	platform: string;
	epcMicros: number | null;
	/** IANA name. */
	timezone: string;
	traffic: TrafficSettings | null;
};

export type Facts = {
	/** By publisher identity, the present one or a former one. */
	publishers: ReadonlyMap<string, PublisherFacts>;
	campaigns: ReadonlyMap<number, CampaignFacts>;
	/** Ids of platforms by their numbers, of which nobody says that only one has each. */
	platforms: ReadonlyMap<number, readonly string[]>;
	/** Keywords that campaigns list, by campaign and by what tokens have of them; of the campaigns of clicks with a keyword. */
	keywords: ReadonlyMap<number, ReadonlyMap<string, string>>;
	/** Domains of brands, by id: a campaign may be removed before its clicks are counted, a brand is not. */
	domains: ReadonlyMap<number, string>;
	/** The network's rules on which clicks are paid. */
	traffic: TrafficPolicy;
	/** Sources that publishers' days are known to have, by `sourceKey`: they never go. The consumer adds those it has met. */
	sources: Set<string>;
	/** Of publishers' sources, the day up to which they have a place among those that prices are learned of, likewise. */
	placed: Map<string, number>;
};
