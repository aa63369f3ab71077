/** What prices that are advised would change: the costliest first. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { cutPage } from "../../http/pages.ts";
import { NO_KEYWORD, OTHER_KEYWORDS, operatorEpcMicros } from "../../learning/cell.ts";
import { type NetworkLearning, networkSettings } from "../../learning/policy.ts";
import { isRenumbered, type StoredLearning } from "../../learning/stored.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import { ownOf } from "../../lib/json.ts";
import { formatUsd, MAX_EPC_MICROS, roundTo } from "../../lib/money.ts";
import { readVersion } from "../network/network-version.ts";
import type { Advice, AdviceItem } from "./learning-answers.ts";
import type { AdviceQuery } from "./learning-requests.ts";
import { PRICED_CAMPAIGN, type PricedCampaign, readDoneNight, termsOf } from "./read-learned.ts";
import { showDay, showEvidence, showMicros } from "./show-learned.ts";

/** A number of the network file that would change. */
type AdvisedNumber = { field: string; operatorMicros: number; learnedMicros: number; factor: number };

export type AdvisedCampaign = PricedCampaign & { rank: number; learned: StoredLearning; numbers: AdvisedNumber[]; worthMicros: number };

/** @param now Unix milliseconds */
export async function showAdvice(db: Database, { campaign, limit, cursor }: AdviceQuery, now: number): Promise<Advice> {
	const [done, network, version] = await Promise.all([readDoneNight(db, now), readNetworkLearning(db), readVersion(db)]);
	const only = campaign === undefined ? sql`true` : sql`c.campaign_id = ${campaign}`;
	const behind =
		cursor === undefined ? sql`true` : sql`(x.rank < ${cursor[0]} OR (x.rank = ${cursor[0]} AND x."campaignId" > ${cursor[1]}))`;
	const found = await readAdvised(db, network, only, behind, limit + 1);
	const { shown, next } = cutPage(found, limit, ({ rank, campaignId }) => [rank, campaignId]);
	return {
		learned_until: done === null ? null : showDay(done.day),
		version,
		data: shown.filter(({ numbers }) => numbers.length > 0).map(showItem),
		limit,
		next_cursor: next,
	};
}

/** Campaigns whose prices are advised and not in force, with what would change of each, which may be nothing. */
export async function readAdvised(
	db: Database,
	network: NetworkLearning | null,
	which: SQL,
	behind: SQL,
	limit: number,
): Promise<AdvisedCampaign[]> {
	const mode = sql`coalesce(c.epc_learning ->> 'mode', ${network?.mode ?? "off"})`;
	const weekMicros = sql`CAST(l.learned ->> 'weekExpected' AS DOUBLE PRECISION) * CAST(l.learned -> 'payouts' ->> 'phiMicros' AS DOUBLE PRECISION)`;
	const factor = sql`CAST(l.learned -> 'campaign' ->> 'factor' AS DOUBLE PRECISION)`;
	const gain = sql`coalesce(CAST(l.learned ->> 'weekGainMicros' AS DOUBLE PRECISION), ${weekMicros} * (1 - 1 / nullif(${factor}, 0)))`;
	const rows = await db.all<PricedCampaign & { rank: number; learned: string }>(sql`
		SELECT * FROM (
			SELECT ${PRICED_CAMPAIGN}, l.learned, CAST(coalesce(abs(${gain}), 0) AS BIGINT) AS rank
			FROM learning_campaigns l JOIN campaigns c ON c.campaign_id = l.campaign_id JOIN brands b ON b.id = c.brand_id
			WHERE l.learned IS NOT NULL AND (${mode} = 'advise' OR (${mode} = 'automatic' AND c.epc_learning ->> 'pin' IS NOT NULL)) AND ${which}) x
		WHERE ${behind} ORDER BY x.rank DESC, x."campaignId" LIMIT ${limit}`);
	const { publishStep } = networkSettings(network);
	return rows.map((row) => {
		const learned = JSON.parse(row.learned) as StoredLearning;
		return { ...row, learned, numbers: numbersOf(row, learned, publishStep), worthMicros: worthOf(learned) };
	});
}

function worthOf({ weekGainMicros, weekExpected, payouts, campaign }: StoredLearning): number {
	return weekGainMicros ?? weekExpected * payouts.phiMicros * (1 - 1 / campaign.factor);
}

/**
 * What would change of a campaign's numbers. Those that have changed since they were learned against are not advised on: what was learned
 * is of others.
 */
function numbersOf(row: PricedCampaign, learned: StoredLearning, publishStep: number): AdvisedNumber[] {
	const terms = termsOf(row);
	// Of a keyword that no click tells of the number is not known: it may have changed where any other has, as by advice that was accepted.
	const isAnyOther = isRenumbered(learned, terms);
	const isOther = (keyword: string, micros: number) => {
		const before = ownOf(learned.numbers, keyword);
		return before === undefined ? isAnyOther : before !== micros;
	};
	if (isOther(NO_KEYWORD, operatorEpcMicros(terms, NO_KEYWORD))) return [];
	const given: [field: string, keyword: string, micros: number | null][] = [
		["epc", NO_KEYWORD, terms.epcMicros],
		["default_keyword_epc", OTHER_KEYWORDS, terms.defaultKeywordEpcMicros],
		...[...terms.keywordEpcMicros].map(([keyword, micros]): [string, string, number] => [`keyword_epc.${keyword}`, keyword, micros]),
	];
	return given.flatMap(([field, keyword, operatorMicros]) => {
		const factor = learned.campaign.factor * (ownOf(learned.keywords, keyword)?.factor ?? 1);
		const isFar = factor >= 1 + publishStep || factor <= 1 / (1 + publishStep);
		if (operatorMicros === null || operatorMicros === 0 || !isFar || isOther(keyword, operatorMicros)) return [];
		const learnedMicros = Math.min(MAX_EPC_MICROS, Math.round(operatorMicros * factor));
		return learnedMicros === operatorMicros ? [] : [{ field, operatorMicros, learnedMicros, factor }];
	});
}

function showItem({ campaignId, brand, platform, numbers, worthMicros, learned }: AdvisedCampaign): AdviceItem {
	return {
		campaign_id: campaignId,
		brand,
		platform,
		numbers: numbers.map(({ field, operatorMicros, learnedMicros, factor }) => ({
			field,
			operator: formatUsd(operatorMicros),
			learned: formatUsd(learnedMicros),
			factor: roundTo(factor, 4),
		})),
		worth_a_week: showMicros(worthMicros),
		paid: showMicros(learned.balance.paidMicros),
		projected: showMicros(learned.balance.projectedMicros),
		evidence: showEvidence(learned.campaign),
	};
}
