import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { campaigns } from "../db/schema/brands.ts";
import { publisherNames, publishers } from "../db/schema/publishers.ts";
import type { CampaignCaps } from "./decide-pause.ts";
import type { ClickMessage } from "./message.ts";

export type PublisherFacts = { id: string; pricingModel: "CPA" | "CPC"; sharePpm: number };

export type CampaignFacts = CampaignCaps & {
	campaignId: number;
	platform: string;
	epcMicros: number | null;
	/** IANA name. */
	timezone: string;
};

export type Facts = {
	/** By publisher identity, the present one or a former one. */
	publishers: ReadonlyMap<string, PublisherFacts>;
	campaigns: ReadonlyMap<number, CampaignFacts>;
};

/** What the database knows of the publishers and campaigns of some clicks. What it does not know is absent. */
export async function readFacts(db: Database, clicks: readonly ClickMessage[]): Promise<Facts> {
	if (clicks.length === 0) return { publishers: new Map(), campaigns: new Map() };
	const identities = JSON.stringify([...new Set(clicks.map(({ publisher }) => publisher))]);
	const ids = JSON.stringify([...new Set(clicks.map(({ campaignId }) => campaignId))]);
	const [publisherRows, campaignRows] = await runTransaction(db, [
		sql`SELECT named.value AS identity, p.id, p.pricing_model AS pricingModel, p.revenue_share_ppm AS sharePpm
			FROM json_each(${identities}) named CROSS JOIN ${publishers} p ON p.id = coalesce(
				(SELECT id FROM ${publishers} WHERE publisher_identity = named.value),
				(SELECT publisher_id FROM ${publisherNames} WHERE kind = 'publisher_identity' AND value = named.value))`,
		sql`SELECT campaign_id AS campaignId, platform, epc_micros AS epcMicros, timezone,
				daily_click_cap AS dailyClickCap, daily_budget_micros AS dailyBudgetMicros, total_budget_micros AS totalBudgetMicros
			FROM ${campaigns} WHERE campaign_id IN (SELECT value FROM json_each(${ids}))`,
	]);
	const named = (publisherRows?.results ?? []) as (PublisherFacts & { identity: string })[];
	const known = (campaignRows?.results ?? []) as CampaignFacts[];
	return {
		publishers: new Map(named.map(({ identity, ...facts }) => [identity, facts])),
		campaigns: new Map(known.map((facts) => [facts.campaignId, facts])),
	};
}
