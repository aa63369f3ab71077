import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { clipKeyword } from "../../lib/keyword.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficSettings } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import { learnedKeyword } from "./decide-clicks.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "./facts.ts";

/** What the database knows of the publishers and campaigns of some clicks. What it does not know is absent. */
export async function readFacts(db: Database, clicks: readonly ClickMessage[]): Promise<Facts> {
	if (clicks.length === 0) {
		const [publishers, campaigns, keywords, domains] = [new Map(), new Map(), new Map(), new Map()];
		return { publishers, campaigns, keywords, domains, traffic: DEFAULT_POLICY, sources: new Set() };
	}
	const identities = JSON.stringify([...new Set(clicks.map(({ publisher }) => publisher))]);
	const ids = JSON.stringify([...new Set(clicks.map(({ campaignId }) => campaignId))]);
	const brandIds = JSON.stringify([...new Set(clicks.map(({ brandId }) => brandId))]);
	const priced = JSON.stringify([...new Set(clicks.flatMap((click) => (learnedKeyword(click) === undefined ? [] : [click.campaignId])))]);
	const [publisherRows, campaignRows, keywordRows, brandRows, settingRows] = await runTransaction(db, [
		sql`SELECT named.atom AS identity, p.id, p.pricing_model AS "pricingModel", p.revenue_share_ppm AS "sharePpm", p.traffic
			FROM json_each(${identities}) named CROSS JOIN publishers p
			WHERE p.id = coalesce(
				(SELECT id FROM publishers WHERE publisher_identity = named.atom),
				(SELECT publisher_id FROM publisher_names WHERE kind = 'publisher_identity' AND value = named.atom))`,
		sql`SELECT campaign_id AS "campaignId", platform, epc_micros AS "epcMicros", timezone, traffic,
				daily_click_cap AS "dailyClickCap", daily_budget_micros AS "dailyBudgetMicros", total_budget_micros AS "totalBudgetMicros", budget_basis AS "budgetBasis"
			FROM campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${ids}))`,
		sql`SELECT campaign_id AS "campaignId", keyword_epc_micros AS prices
			FROM campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${priced}))`,
		sql`SELECT id, domain FROM brands WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(${brandIds}))`,
		sql`SELECT traffic FROM network_settings`,
	]);
	const named = (publisherRows?.results ?? []) as (Stored<PublisherFacts> & { identity: string })[];
	const known = (campaignRows?.results ?? []) as Stored<CampaignFacts>[];
	const listed = (keywordRows?.results ?? []) as { campaignId: number; prices: string }[];
	const brands = (brandRows?.results ?? []) as { id: number; domain: string }[];
	const [settings] = (settingRows?.results ?? []) as { traffic: string | null }[];
	return {
		publishers: new Map(named.map(({ identity, ...facts }) => [identity, { ...facts, traffic: readSettings(facts.traffic) }])),
		campaigns: new Map(known.map((facts) => [facts.campaignId, { ...facts, traffic: readSettings(facts.traffic) }])),
		keywords: new Map(listed.map(({ campaignId, prices }) => [campaignId, readKeywords(prices)])),
		domains: new Map(brands.map(({ id, domain }) => [id, domain])),
		traffic: layPolicies(DEFAULT_POLICY, readSettings(settings?.traffic ?? null)),
		sources: new Set(),
	};
}

type Stored<Facts> = Omit<Facts, "traffic"> & { traffic: string | null };

function readSettings(json: string | null): TrafficSettings | null {
	return json === null ? null : (JSON.parse(json) as TrafficSettings);
}

/** Of two that begin alike, the first by their letters. */
function readKeywords(prices: string): ReadonlyMap<string, string> {
	const listed = Object.keys(JSON.parse(prices) as Record<string, number>).sort();
	return new Map(listed.reverse().map((keyword) => [clipKeyword(keyword), keyword]));
}

const FACTS_TTL_MS = 10_000;
/** So many are kept; then all are forgotten. */
const MAX_KEPT = 20_000;
const MAX_KEYWORDS_KEPT = 100_000;
const MAX_SOURCES_KEPT = 50_000;

/**
 * Facts that an isolate keeps for ten seconds: a click is written some seconds after it was made anyhow. What is not known is asked
 * again each time.
 */
export class KeptFacts {
	#publishers = new Map<string, PublisherFacts>();
	#campaigns = new Map<number, CampaignFacts>();
	#keywords = new Map<number, ReadonlyMap<string, string>>();
	#keywordCount = 0;
	#domains = new Map<number, string>();
	#traffic = DEFAULT_POLICY;
	readonly #sources = new Set<string>();
	#readAt = Number.NEGATIVE_INFINITY;

	/** Facts for these clicks, from memory where all of them are there. */
	async read(db: Database, clicks: readonly ClickMessage[], now: number): Promise<Facts> {
		const isFull = this.#publishers.size + this.#campaigns.size > MAX_KEPT || this.#keywordCount > MAX_KEYWORDS_KEPT;
		if (isFull || Math.abs(now - this.#readAt) > FACTS_TTL_MS) {
			this.forget();
			this.#readAt = now;
		}
		// What is forgotten meanwhile is not taken from this batch.
		const publishers = this.#publishers;
		const campaigns = this.#campaigns;
		const keywords = this.#keywords;
		const domains = this.#domains;
		const missing = clicks.filter(
			(click) =>
				!(publishers.has(click.publisher) && campaigns.has(click.campaignId) && domains.has(click.brandId)) ||
				(learnedKeyword(click) !== undefined && !keywords.has(click.campaignId)),
		);
		if (missing.length > 0) {
			const read = await readFacts(db, missing);
			this.#traffic = read.traffic;
			for (const [identity, facts] of read.publishers) publishers.set(identity, facts);
			for (const [id, facts] of read.campaigns) campaigns.set(id, facts);
			for (const [id, listed] of read.keywords) {
				if (!keywords.has(id)) this.#keywordCount += listed.size;
				keywords.set(id, listed);
			}
			for (const [id, domain] of read.domains) domains.set(id, domain);
		}
		if (this.#sources.size > MAX_SOURCES_KEPT) this.#sources.clear();
		return { publishers, campaigns, keywords, domains, traffic: this.#traffic, sources: this.#sources };
	}

	/** What was imported just now holds for the next click. */
	forget(): void {
		this.#publishers = new Map();
		this.#campaigns = new Map();
		this.#keywords = new Map();
		this.#keywordCount = 0;
		this.#domains = new Map();
	}
}
