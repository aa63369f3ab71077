import { sql } from "drizzle-orm";
import { type Database, textOf } from "../../db/client.ts";
import { clipKeyword } from "../../lib/keyword.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficPolicy, type TrafficSettings } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "./facts.ts";

/** The statements are constant texts, since a batch asks them; ?1 is a JSON array of what is asked about. */
const SELECT_PUBLISHERS =
	textOf(sql`SELECT named.atom AS identity, p.id, p.pricing_model AS "pricingModel", p.revenue_share_ppm AS "sharePpm", p.traffic
		FROM json_each(?1) named CROSS JOIN publishers p
		WHERE p.id = coalesce(
			(SELECT id FROM publishers WHERE publisher_identity = named.atom),
			(SELECT publisher_id FROM publisher_names WHERE kind = 'publisher_identity' AND value = named.atom))`);
const SELECT_CAMPAIGNS = textOf(sql`SELECT campaign_id AS "campaignId", platform, epc_micros AS "epcMicros", timezone, traffic,
		daily_click_cap AS "dailyClickCap", daily_budget_micros AS "dailyBudgetMicros", total_budget_micros AS "totalBudgetMicros",
		budget_basis AS "budgetBasis"
	FROM campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))`);
const SELECT_KEYWORDS = textOf(sql`SELECT campaign_id AS "campaignId", keyword_epc_micros AS prices
	FROM campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))`);
const SELECT_BRANDS = textOf(sql`SELECT id, domain FROM brands WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))`);
const SELECT_PLATFORMS = textOf(
	sql`SELECT platform_id AS number, id FROM platforms WHERE platform_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))`,
);
const SELECT_SETTINGS = textOf(sql`SELECT traffic FROM network_settings`);

type Stored<Facts> = Omit<Facts, "traffic"> & { traffic: string | null };

function readSettings(json: string | null): TrafficSettings | null {
	return json === null ? null : (JSON.parse(json) as TrafficSettings);
}

/** Of two that begin alike, the first by their letters. */
function readKeywords(prices: string): ReadonlyMap<string, string> {
	const listed = Object.keys(JSON.parse(prices) as Record<string, number>).sort();
	return new Map(listed.reverse().map((keyword) => [clipKeyword(keyword), keyword]));
}

/** A statement that is still to be asked, and what becomes of its rows. */
export type FactQuestion = { text: string; value: string; take: (rows: readonly unknown[]) => void };

export type KnownFacts = {
	facts: Facts;
	/** What the facts lack of campaigns and brands, for whoever asks the database anyhow: they have it as soon as all is answered. */
	questions: readonly FactQuestion[];
};

const FACTS_TTL_MS = 10_000;
/** This many are kept; then all are forgotten. */
const MAX_KEPT = 20_000;
const MAX_KEYWORDS_KEPT = 100_000;
const MAX_SOURCES_KEPT = 50_000;
const MAX_DOMAINS_KEPT = 50_000;

/**
 * What the database knows of the publishers and campaigns of clicks. An isolate keeps it for ten seconds: a click is written some
 * seconds after it was made anyhow. What never changes, such as a brand's domain, it keeps for good. What the database does not know is
 * absent, and asked again each time.
 */
export class KeptFacts {
	#publishers = new Map<string, PublisherFacts>();
	#campaigns = new Map<number, CampaignFacts>();
	#platforms = new Map<number, readonly string[]>();
	#keywords = new Map<number, ReadonlyMap<string, string>>();
	#keywordCount = 0;
	#domains = new Map<number, string>();
	#traffic: TrafficPolicy = DEFAULT_POLICY;
	#sources = new Set<string>();
	#placed = new Map<string, number>();
	#readAt = Number.NEGATIVE_INFINITY;

	/** Facts for these clicks: whole, but for what `questions` asks. A publisher that is not kept is read at once. */
	async read(db: Database, clicks: readonly ClickMessage[], now: number): Promise<KnownFacts> {
		const isFull = this.#publishers.size + this.#campaigns.size > MAX_KEPT || this.#keywordCount > MAX_KEYWORDS_KEPT;
		if (isFull || Math.abs(now - this.#readAt) > FACTS_TTL_MS) {
			this.forget();
			this.#readAt = now;
		}
		if (this.#sources.size > MAX_SOURCES_KEPT) this.#sources = new Set();
		if (this.#placed.size > MAX_SOURCES_KEPT) this.#placed = new Map();
		if (this.#domains.size > MAX_DOMAINS_KEPT) this.#domains = new Map();
		// What is forgotten meanwhile is not taken from this batch.
		const facts = {
			publishers: this.#publishers,
			campaigns: this.#campaigns,
			platforms: this.#platforms,
			keywords: this.#keywords,
			domains: this.#domains,
			traffic: this.#traffic,
			sources: this.#sources,
			placed: this.#placed,
		};
		const questions = this.#askCampaigns(clicks);
		const unknown = distinct(clicks.map(({ publisher }) => publisher).filter((publisher) => !facts.publishers.has(publisher)));
		if (unknown.length === 0) return { facts, questions };
		// Most that is asked of a batch is asked by publisher.
		const ofNetwork = { text: SELECT_SETTINGS, value: null, take: this.#takeSettings };
		await answer(db, [...questions, this.#askPublishers(unknown), ofNetwork]);
		return { facts: { ...facts, traffic: this.#traffic }, questions: [] };
	}

	#askCampaigns(clicks: readonly ClickMessage[]): FactQuestion[] {
		const [campaigns, platforms, keywords, domains] = [this.#campaigns, this.#platforms, this.#keywords, this.#domains];
		const ask = <Row>(text: string, ids: readonly number[], take: (row: Row) => void): FactQuestion[] =>
			ids.length === 0 ? [] : [{ text, value: JSON.stringify(ids), take: (rows) => (rows as Row[]).forEach(take) }];
		const campaignIds = distinct(clicks.map(({ campaignId }) => campaignId).filter((id) => !campaigns.has(id)));
		const numbers = distinct(
			clicks.flatMap(({ platformId = null }) => (platformId === null || platforms.has(platformId) ? [] : [platformId])),
		);
		const brandIds = distinct(clicks.map(({ brandId }) => brandId).filter((id) => !domains.has(id)));
		const priced = clicks.filter(({ campaignId, keyword }) => keyword !== undefined && !keywords.has(campaignId));
		return [
			...ask<Stored<CampaignFacts>>(SELECT_CAMPAIGNS, campaignIds, (campaign) =>
				campaigns.set(campaign.campaignId, { ...campaign, traffic: readSettings(campaign.traffic) }),
			),
			...ask<{ number: number; id: string }>(SELECT_PLATFORMS, numbers, ({ number, id }) =>
				platforms.set(number, distinct([...(platforms.get(number) ?? []), id])),
			),
			...ask<{ id: number; domain: string }>(SELECT_BRANDS, brandIds, ({ id, domain }) => domains.set(id, domain)),
			...ask<{ campaignId: number; prices: string }>(
				SELECT_KEYWORDS,
				distinct(priced.map(({ campaignId }) => campaignId)),
				({ campaignId, prices }) => {
					const listed = readKeywords(prices);
					if (!keywords.has(campaignId)) this.#keywordCount += listed.size;
					keywords.set(campaignId, listed);
				},
			),
		];
	}

	#askPublishers(identities: readonly string[]): FactQuestion {
		const publishers = this.#publishers;
		return {
			text: SELECT_PUBLISHERS,
			value: JSON.stringify(identities),
			take: (rows) => {
				for (const { identity, ...facts } of rows as (Stored<PublisherFacts> & { identity: string })[])
					publishers.set(identity, { ...facts, traffic: readSettings(facts.traffic) });
			},
		};
	}

	readonly #takeSettings = (rows: readonly unknown[]): void => {
		const [settings] = rows as { traffic: string | null }[];
		this.#traffic = layPolicies(DEFAULT_POLICY, readSettings(settings?.traffic ?? null));
	};

	/** What was imported just now holds for the next click. */
	forget(): void {
		this.#publishers = new Map();
		this.#campaigns = new Map();
		this.#platforms = new Map();
		this.#keywords = new Map();
		this.#keywordCount = 0;
	}
}

async function answer(db: Database, questions: readonly (Omit<FactQuestion, "value"> & { value: string | null })[]): Promise<void> {
	const statements = questions.map(({ text, value }) => {
		const statement = db.$client.prepare(text);
		return value === null ? statement : statement.bind(value);
	});
	const results = await db.$client.batch(statements);
	for (const [at, { take }] of questions.entries()) take(results[at]?.results ?? []);
}

function distinct<Value>(values: readonly Value[]): Value[] {
	return [...new Set(values)];
}
