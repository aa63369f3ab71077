/** What prices of an explained request were made of, as it is stored. */
import { sql } from "drizzle-orm";
import type { AskedFor } from "../../bidding/explain.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { OTHER_SOURCES } from "../../learning/cell.ts";
import type { FactorEvidence } from "../../learning/factor.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, RELEASED_PUBLISHER } from "../../learning/released.ts";
import { sourceClass } from "../../learning/sources.ts";
import { pairKey, type SharedFactors } from "../../learning/traffic.ts";
import type { LinkType, PricingModel, TrafficLevel } from "../../lib/enums.ts";
import { hashSource } from "../../lib/hash.ts";
import { PRICED_CAMPAIGN, type PricedCampaign } from "./read-learned.ts";

export type PublisherRow = { id: string; pricingModel: PricingModel; sharePpm: number; epcLearning: string | null };
export type CampaignRow = PricedCampaign & {
	day: number | null;
	learned: string | null;
	lastBreak: string | null;
	steering: string | null;
};
type FactorRow = { level: string; campaignId: number; publisherId: string; name: string; published: string; target: string };
type TrafficRow = { level: TrafficLevel; name: string; day: number; evidence: string };
export type ChangeRow = { campaignId: number; keyword: string; at: number; operatorMicros: number; epcMicros: number; cause: string };

/** The publisher that a request names; undefined where there is none. */
export async function readAsked(db: Database, { kind, value }: AskedFor["publisher"]): Promise<PublisherRow | undefined> {
	const [publisher] = await db.all<PublisherRow>(sql`SELECT p.id, p.pricing_model AS "pricingModel",
			p.revenue_share_ppm AS "sharePpm", p.epc_learning AS "epcLearning"
		FROM publisher_names n JOIN publishers p ON p.id = n.publisher_id
		WHERE n.kind = ${kind} AND n.value = ${value}`);
	return publisher;
}

export type Known = {
	/** Its class, and the name that it is shown by. */
	source: string;
	sourceName: string;
	campaigns: ReadonlyMap<number, CampaignRow>;
	factors: readonly FactorRow[];
	shared: SharedFactors;
	/** Of the night that has learned of it; null where none has. */
	sharedDay: number | null;
	changes: readonly ChangeRow[];
	/** By name, see src/learning/released.ts. */
	releases: ReadonlyMap<string, number>;
	now: number;
};

export async function readKnown(
	db: Database,
	publisherId: string,
	sourceId: string | null,
	campaignIds: readonly number[],
	now: number,
): Promise<Known> {
	const names = [RELEASED_NETWORK, RELEASED_PUBLISHER + publisherId, ...campaignIds.map((id) => RELEASED_CAMPAIGN + id)];
	const ids = sql`(SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(campaignIds)}))`;
	const followed = await db.all<{ source: string; lastDay: number }>(
		sql`SELECT source, last_day AS "lastDay" FROM learning_sources WHERE publisher_id = ${publisherId} AND from_day IS NOT NULL`,
	);
	const source = sourceClass(new Map(followed.map((row) => [row.source, row.lastDay])), hashSource(sourceId));
	const [campaigns, factors, traffic, changes, releases] = await runTransaction(db, [
		sql`SELECT ${PRICED_CAMPAIGN}, l.day, l.learned, l.last_break AS "lastBreak", l.steering
			FROM campaigns c JOIN brands b ON b.id = c.brand_id LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id
			WHERE c.campaign_id IN ${ids}`,
		sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published, target FROM learning_factors
			WHERE (level = 'price' AND campaign_id IN ${ids})
				OR (level = 'campaign_publisher' AND campaign_id IN ${ids} AND publisher_id = ${publisherId})
				OR (level = 'publisher' AND campaign_id = 0 AND publisher_id = ${publisherId})
				OR (level = 'source' AND campaign_id = 0 AND publisher_id = ${publisherId} AND name = ${source})
				OR (level = 'link' AND campaign_id = 0)`,
		sql`SELECT level, name, day, evidence FROM learning_traffic
			WHERE (level = 'publisher' AND publisher_id = ${publisherId})
				OR (level = 'source' AND publisher_id = ${publisherId} AND name = ${source}) OR (level = 'link' AND publisher_id = '')`,
		sql`SELECT g.campaign_id AS "campaignId", g.keyword, g.at, g.operator_micros AS "operatorMicros", g.epc_micros AS "epcMicros", g.cause
			FROM learning_changes g JOIN (
				SELECT campaign_id, keyword, MAX(at) AS at FROM learning_changes WHERE campaign_id IN ${ids} GROUP BY campaign_id, keyword) newest
			ON newest.campaign_id = g.campaign_id AND newest.keyword = g.keyword AND newest.at = g.at`,
		sql`SELECT name, value FROM learning_work WHERE name IN (SELECT atom FROM json_each(${JSON.stringify(names)}))`,
	]);
	return {
		source,
		sourceName: source === OTHER_SOURCES ? source : (sourceId ?? ""),
		campaigns: new Map(((campaigns?.results ?? []) as CampaignRow[]).map((row) => [row.campaignId, row])),
		factors: (factors?.results ?? []) as FactorRow[],
		shared: sharedOf((traffic?.results ?? []) as TrafficRow[], publisherId),
		sharedDay: ((traffic?.results ?? []) as TrafficRow[])[0]?.day ?? null,
		changes: (changes?.results ?? []) as ChangeRow[],
		releases: new Map(((releases?.results ?? []) as { name: string; value: string }[]).map(({ name, value }) => [name, Number(value)])),
		now,
	};
}

function sharedOf(rows: readonly TrafficRow[], publisherId: string): SharedFactors {
	const of = <Key>(level: TrafficRow["level"], keyOf: (name: string) => Key) =>
		new Map(rows.filter((row) => row.level === level).map(({ name, evidence }) => [keyOf(name), JSON.parse(evidence) as FactorEvidence]));
	return {
		publishers: of("publisher", () => publisherId),
		sources: of("source", (name) => pairKey(publisherId, name)),
		links: of("link", (name) => name as LinkType),
	};
}
