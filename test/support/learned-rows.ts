/** Rows of what was learned, as a night leaves them: for tests of what shows them. */
import type { SQL } from "drizzle-orm";
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../src/db/client.ts";
import type { FactorEvidence } from "../../src/learning/factor.ts";
import type { Steering, StoredLearning } from "../../src/learning/stored.ts";
import type { ChangeCause } from "../../src/learning-night/publish-factors.ts";
import { DAY_MS } from "../../src/lib/time.ts";

/** What a factor was made of: so many conversions expected, and so many come. */
function evidence(factor: number, expected = 20, observed = factor * 20): FactorEvidence {
	return {
		factor,
		clicks: 1_000,
		maturity: 0.8,
		expectedMicros: expected * 10_000_000,
		earnedMicros: observed * 10_000_000,
		expected,
		observed,
		weight: 0.87,
	};
}

type Kept = {
	campaignId: number;
	/** The number that it was learned against. Micro-dollars. */
	operatorMicros: number;
	factor: number;
	keywords?: Record<string, number>;
	numbers?: Record<string, number>;
	/** What the campaign's factor is in force at; nothing was published where it is absent. */
	inForce?: number;
	steering?: Steering;
	lastBreak?: object;
	weekExpected?: number;
	/** Absent as an earlier version leaves it. */
	weekGainMicros?: number;
};

/** Keeps a night that is done, and what it has learned of campaigns. */
export async function keepLearned(db: Database, now: number, campaigns: readonly Kept[]): Promise<void> {
	const day = Math.floor(now / DAY_MS);
	await runTransaction(db, [
		sql`DELETE FROM learning_nights`,
		sql`DELETE FROM learning_campaigns`,
		sql`DELETE FROM learning_factors`,
		sql`DELETE FROM learning_changes`,
		sql`INSERT INTO learning_nights (day, started_at, finished_at, progress) VALUES (${day}, ${now - 60_000}, ${now - 30_000}, '{"step":"done","curves":{}}')`,
		...campaigns.flatMap((kept) => statementsOf(kept, day, now)),
	]);
}

function statementsOf(
	{ campaignId, operatorMicros, factor, keywords = {}, numbers = {}, inForce, steering, lastBreak, weekExpected = 5, weekGainMicros }: Kept,
	day: number,
	now: number,
): SQL[] {
	const learned: StoredLearning = {
		campaign: evidence(factor),
		keywords: Object.fromEntries(Object.entries(keywords).map(([keyword, own]) => [keyword, evidence(own)])),
		publishers: {},
		payouts: { meanMicros: 10_000_000, capMicros: 50_000_000, phiMicros: 12_000_000 },
		balance: { paidMicros: 40_000_000, projectedMicros: 30_000_000 },
		weekExpected,
		...(weekGainMicros !== undefined && { weekGainMicros }),
		loading: 0.02,
		numbers: { "": operatorMicros, "*": operatorMicros, "*listed": operatorMicros, ...numbers },
	};
	const cause: ChangeCause = { why: "learned", before: 1, factor: inForce ?? 1, target: factor, evidence: evidence(factor) };
	return [
		sql`INSERT INTO learning_campaigns (campaign_id, day, learned, last_break, steering) VALUES (${campaignId}, ${day}, ${JSON.stringify(learned)},
			${lastBreak === undefined ? null : JSON.stringify(lastBreak)}, ${steering === undefined ? null : JSON.stringify(steering)})`,
		...(inForce === undefined
			? []
			: [
					sql`INSERT INTO learning_factors (level, campaign_id, publisher_id, name, published, target, moving) VALUES ('price', ${campaignId}, '', '',
						${JSON.stringify({ factor: inForce, at: now, before: [] })}, ${String(factor)}, 1)`,
					sql`INSERT INTO learning_changes (campaign_id, at, keyword, operator_micros, epc_micros, cause) VALUES (${campaignId}, CAST(${now} AS BIGINT), '',
						${operatorMicros}, ${Math.round(operatorMicros * inForce)}, ${JSON.stringify(cause)})`,
				]),
	];
}
