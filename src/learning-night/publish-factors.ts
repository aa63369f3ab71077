/** The hourly steps of factors towards what was learned: each in force from here on, and those of prices marked for the book. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { learningChanges, learningFactors } from "../db/schema/learning.ts";
import { NO_EVIDENCE } from "../learning/factor.ts";
import { type NetworkLearning, networkSettings } from "../learning/policy.ts";
import { isArrived, levelRules, nextPublished, type Published, type StepRules, UNPUBLISHED } from "../learning/publish-step.ts";
import { factorAgainst, numberOf, readPublished, type StoredLearning, writePublished } from "../learning/stored.ts";
import type { PriceCause } from "../lib/enums.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { markCampaigns } from "./mark-book.ts";
import { setsPrices } from "./policies.ts";
import { type KnownCampaign, readCampaigns } from "./read-histories.ts";
import { runStatements } from "./run-statements.ts";

const FACTORS_A_SLICE = 2_000;

type FactorLevel = (typeof learningFactors.$inferSelect)["level"];
type FactorKey = { campaignId: number; level: FactorLevel; publisherId: string; name: string };
type FactorRow = FactorKey & { published: string; target: string };
type Step = FactorRow & { next: Published | null; before: Published; moving: boolean };

/** Whether what is learned of a factor's campaign, or of traffic, is bid. */
type IsBid = (row: FactorRow) => boolean;

/** Where an hour goes on. */
export type FactorCursor = Omit<FactorKey, "level"> & { level: string };
export const FIRST_FACTOR: FactorCursor = { campaignId: -1, level: "", publisherId: "", name: "" };

/**
 * Takes the next factors that are on their way one step further. Those of prices that are only advised stay where the operator's numbers
 * are, so that prices set out from there once they are bid.
 * @returns where the next slice begins; null where none is left
 */
export async function publishFactors(
	db: Database,
	network: NetworkLearning | null,
	after: FactorCursor,
	now: number,
): Promise<FactorCursor | null> {
	const rows = await db.all<FactorRow>(sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published, target
		FROM learning_factors WHERE moving = 1
			AND (campaign_id, level, publisher_id, name) > (${after.campaignId}, ${after.level}, ${after.publisherId}, ${after.name})
		ORDER BY campaign_id, level, publisher_id, name LIMIT ${FACTORS_A_SLICE}`);
	const rules = networkSettings(network);
	const campaigns = await readCampaigns(db, network, [...new Set(rows.map(({ campaignId }) => campaignId).filter((id) => id !== 0))]);
	const automatic = new Set(campaigns.filter(({ mode }) => mode === "automatic").map(({ id }) => id));
	const isTrafficBid = await setsPrices(db, network);
	const isBid: IsBid = ({ campaignId }) => (campaignId === 0 ? isTrafficBid : automatic.has(campaignId));
	const steps = rows.map((row) => (isBid(row) ? stepOf(row, rules, now) : stayOf(row)));
	const changed = steps.filter(({ moving, next }) => next !== null || !moving);
	const priced = changed.filter((step) => step.level === "price" && step.next !== null && isBid(step));
	await runStatements(db, [
		...splitByBytes(changed).map((part) =>
			insertRows(
				learningFactors,
				part.map(({ level, campaignId, publisherId, name, published, target, next, moving }) => {
					return { level, campaignId, publisherId, name, published: next === null ? published : writePublished(next), target, moving };
				}),
				sql`ON CONFLICT (level, campaign_id, publisher_id, name) DO UPDATE SET published = excluded.published, moving = excluded.moving`,
			),
		),
		...(await writeChanges(db, priced, new Map(campaigns.map((campaign) => [campaign.id, campaign])), now)),
		...markCampaigns([...new Set(priced.map(({ campaignId }) => campaignId))]),
	]);
	const last = rows.at(-1);
	if (last === undefined || rows.length < FACTORS_A_SLICE) return null;
	return { campaignId: last.campaignId, level: last.level, publisherId: last.publisherId, name: last.name };
}

function stepOf(row: FactorRow, rules: StepRules, now: number): Step {
	const before = readPublished(row.published);
	const target = JSON.parse(row.target) as number;
	const ofLevel = levelRules(rules, row.level);
	const next = nextPublished(before, target, now, ofLevel);
	return { ...row, before, next, moving: !isArrived(next ?? before, target, ofLevel) };
}

/** As nothing that was learned is bid: an earlier mode may have left something in force. */
function stayOf(row: FactorRow): Step {
	const before = readPublished(row.published);
	return { ...row, before, next: before.factor === 1 ? null : UNPUBLISHED, moving: false };
}

/** What a change of a price is kept with: `learning_changes.cause`. */
export type ChangeCause = {
	why: PriceCause;
	/** In force before and from here on, and where it is going. */
	before: number;
	factor: number;
	target: number;
	/** Of the campaign's factor: clicks, dollars and conversions as they were then. */
	evidence: StoredLearning["campaign"];
};

/** A row of `learning_changes`. */
export type PriceChange = { campaignId: number; keyword: string; operatorMicros: number; epcMicros: number; cause: ChangeCause };

/** Keeps changes of prices. @param at one time for all, Unix milliseconds */
export function keepChanges(changes: readonly PriceChange[], at: number): SQL[] {
	const rows = changes.map(({ cause, ...change }) => ({ ...change, at, cause: JSON.stringify(cause) }));
	const again = sql`ON CONFLICT (campaign_id, at, keyword) DO UPDATE SET operator_micros = excluded.operator_micros,
		epc_micros = excluded.epc_micros, cause = excluded.cause`;
	return splitByBytes(rows).map((part) => insertRows(learningChanges, part, again));
}

async function writeChanges(
	db: Database,
	priced: readonly Step[],
	campaigns: ReadonlyMap<number, KnownCampaign>,
	now: number,
): Promise<SQL[]> {
	if (priced.length === 0) return [];
	const learned = await readLearned(db, [...campaigns.keys()]);
	const changes = priced.flatMap(({ campaignId, name, before, next, target }): PriceChange[] => {
		const campaign = campaigns.get(campaignId);
		if (campaign === undefined || next === null) return [];
		const { terms, settings } = campaign;
		const operatorMicros = numberOf(terms, name);
		const known = learned.get(campaignId);
		const evidence = known?.campaign ?? NO_EVIDENCE;
		// As the book has it, where the operator has changed the number since the night.
		const inForce = known === undefined ? next.factor : factorAgainst(next.factor, terms, known, name, settings);
		const cause: ChangeCause = {
			why: "learned",
			before: before.factor,
			factor: next.factor,
			target: JSON.parse(target) as number,
			evidence,
		};
		const epcMicros = Math.round(operatorMicros * inForce);
		return [{ campaignId, keyword: name, operatorMicros, epcMicros, cause }];
	});
	return keepChanges(changes, now);
}

async function readLearned(db: Database, ids: readonly number[]): Promise<Map<number, StoredLearning>> {
	const rows = await db.all<{ campaignId: number; learned: string | null }>(sql`SELECT campaign_id AS "campaignId", learned
		FROM learning_campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
	return new Map(
		rows.flatMap(({ campaignId, learned }) => (learned === null ? [] : [[campaignId, JSON.parse(learned) as StoredLearning]])),
	);
}
