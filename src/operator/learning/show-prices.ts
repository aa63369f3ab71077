/** GET /operator/learning/prices: a campaign's numbers as they are, and its prices over time. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { cutPage } from "../../http/pages.ts";
import type { Break } from "../../learning/breaks.ts";
import { type CampaignTerms, NO_KEYWORD, OTHER_KEYWORDS } from "../../learning/cell.ts";
import { creepInForce } from "../../learning/creep.ts";
import { NO_EVIDENCE } from "../../learning/factor.ts";
import { type CampaignLearning, campaignPolicy, readLearning } from "../../learning/policy.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, releaseOf, releaseOfCampaign } from "../../learning/released.ts";
import type { LearningSettings } from "../../learning/settings.ts";
import {
	factorAgainst,
	type PriceInForce,
	priceInForce,
	readPriceInForce,
	type Steering,
	type StoredLearning,
} from "../../learning/stored.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import type { ChangeCause } from "../../learning-night/publish-factors.ts";
import { ownOf } from "../../lib/json.ts";
import { roundTo } from "../../lib/money.ts";
import { keepNear, type Release } from "../../lib/release.ts";
import { isoTime } from "../../lib/time.ts";
import type { Prices } from "./learning-answers.ts";
import type { PricesQuery } from "./learning-requests.ts";
import { PRICED_CAMPAIGN, type PricedCampaign, termsOf } from "./read-learned.ts";
import { showBreak, showDay, showEvidence, showKeyword, showMicros } from "./show-learned.ts";

/** Keywords that are listed of a campaign's, those with the most clicks. */
const MAX_KEYWORDS = 100;

type Row = PricedCampaign & { day: number | null; learned: string | null; lastBreak: string | null; steering: string | null };
type ChangeRow = { at: number; keyword: string; operatorMicros: number; epcMicros: number; cause: string };

/** Null where there is no such campaign. @param now Unix milliseconds */
export async function showPrices(db: Database, { campaign, limit, cursor }: PricesQuery, now: number): Promise<Prices | null> {
	const behind = cursor === undefined ? sql`true` : sql`(at < ${cursor[0]} OR (at = ${cursor[0]} AND keyword > ${cursor[1]}))`;
	const network = await readNetworkLearning(db);
	const [found, factors, changes, releases] = await runTransaction(db, [
		sql`SELECT ${PRICED_CAMPAIGN}, l.day, l.learned, l.last_break AS "lastBreak", l.steering
			FROM campaigns c JOIN brands b ON b.id = c.brand_id LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id
			WHERE c.campaign_id = ${campaign}`,
		sql`SELECT name, published, target FROM learning_factors WHERE level = 'price' AND campaign_id = ${campaign}`,
		sql`SELECT at, keyword, operator_micros AS "operatorMicros", epc_micros AS "epcMicros", cause FROM learning_changes
			WHERE campaign_id = ${campaign} AND ${behind} ORDER BY at DESC, keyword LIMIT ${limit + 1}`,
		sql`SELECT name, value FROM learning_work WHERE name IN (${RELEASED_NETWORK}, ${RELEASED_CAMPAIGN + campaign})`,
	]);
	const [row] = (found?.results ?? []) as Row[];
	if (row === undefined) return null;
	const own = readLearning<CampaignLearning>(row.epcLearning);
	const learned = row.learned === null ? null : (JSON.parse(row.learned) as StoredLearning);
	const steering = row.steering === null ? null : (JSON.parse(row.steering) as Steering);
	const inForce = new Map(
		((factors?.results ?? []) as { name: string; published: string; target: string }[]).map(({ name, ...price }) => [
			name,
			readPriceInForce(price),
		]),
	);
	const { shown, next } = cutPage((changes?.results ?? []) as ChangeRow[], limit, ({ at, keyword }) => [at, keyword]);
	const { mode, settings } = campaignPolicy(network, own);
	const since = new Map(((releases?.results ?? []) as { name: string; value: string }[]).map(({ name, value }) => [name, Number(value)]));
	const releasedAt = (name: string) => since.get(name) ?? null;
	const ofNetwork = releaseOf(network, releasedAt(RELEASED_NETWORK), now);
	const release = mode === "automatic" ? releaseOfCampaign(network, ofNetwork, own, releasedAt(RELEASED_CAMPAIGN + campaign), now) : null;
	return {
		campaign_id: campaign,
		brand: row.brand,
		mode,
		pinned: own?.pin === true,
		learned_until: row.day === null ? null : showDay(row.day),
		released_at: release === null ? null : isoTime(release.since),
		numbers: showNumbers(termsOf(row), learned, mode === "automatic" ? { prices: inForce, release, now } : null, settings),
		campaign: learned === null ? null : showEvidence(learned.campaign),
		guards:
			steering === null
				? null
				: {
						caution: roundTo(steering.caution, 4),
						overpaid: roundTo(steering.overpaid, 4),
						creep: roundTo(creepInForce(steering, settings.creep), 4),
					},
		paid: learned === null ? null : showMicros(learned.balance.paidMicros),
		projected: learned === null ? null : showMicros(learned.balance.projectedMicros),
		last_break: row.lastBreak === null ? null : showBreak(JSON.parse(row.lastBreak) as Break),
		data: shown.map(showChange),
		limit,
		next_cursor: next,
	};
}

/** What bids go by: factors by class of keywords, and what holds their prices near the operator's numbers. */
type InForce = { prices: ReadonlyMap<string, PriceInForce>; release: Release | null; now: number };

/** @param inForce null where bids go by the operator's numbers */
function showNumbers(
	terms: CampaignTerms,
	learned: StoredLearning | null,
	inForce: InForce | null,
	settings: LearningSettings,
): Prices["numbers"] {
	const listed = [...terms.keywordEpcMicros].map(([keyword, micros]) => ({ keyword, micros: micros as number | null }));
	const clicksOf = ({ keyword }: { keyword: string }) => ownOf(learned?.keywords ?? {}, keyword)?.clicks ?? 0;
	const numbers = [
		{ keyword: NO_KEYWORD, micros: terms.epcMicros },
		{ keyword: OTHER_KEYWORDS, micros: terms.defaultKeywordEpcMicros ?? terms.epcMicros },
		...listed.sort((one, other) => clicksOf(other) - clicksOf(one)).slice(0, MAX_KEYWORDS),
	];
	const epcOf = (keyword: string, micros: number) => {
		if (inForce === null) return micros;
		const { prices, release, now } = inForce;
		const epc = micros * priceInForce(prices, keyword, terms, learned, settings);
		return release === null ? epc : keepNear(epc, micros, release, now);
	};
	return numbers.map(({ keyword, micros }) => {
		const inKeyword = ownOf(learned?.keywords ?? {}, keyword) ?? NO_EVIDENCE;
		const factor = learned === null ? 1 : factorOf(terms, learned, keyword, settings);
		return {
			keyword: showKeyword(keyword),
			operator_epc: micros === null ? null : showMicros(micros),
			epc: micros === null ? null : showMicros(epcOf(keyword, micros)),
			learned_epc: micros === null ? null : showMicros(micros * factor),
			evidence: learned === null ? null : showEvidence(inKeyword),
		};
	});
}

/** What a number of the operator's is multiplied by, as it stands now. */
function factorOf(terms: CampaignTerms, learned: StoredLearning, keyword: string, settings: LearningSettings): number {
	return factorAgainst(learned.campaign.factor * (ownOf(learned.keywords, keyword)?.factor ?? 1), terms, learned, keyword, settings);
}

function showChange({ at, keyword, operatorMicros, epcMicros, cause }: ChangeRow): Prices["data"][number] {
	return {
		at: isoTime(at),
		keyword: showKeyword(keyword),
		operator_epc: showMicros(operatorMicros),
		epc: showMicros(epcMicros),
		cause: showCause(JSON.parse(cause) as ChangeCause),
	};
}

function showCause({ why, before, factor, target, evidence }: ChangeCause): Prices["data"][number]["cause"] {
	return { why, before: roundTo(before, 4), factor: roundTo(factor, 4), target: roundTo(target, 4), evidence: showEvidence(evidence) };
}
