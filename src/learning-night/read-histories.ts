/** Reads what is kept of clicks, campaign by campaign in the order of their ids, a bounded number of rows at a time. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { Break } from "../learning/breaks.ts";
import { type CampaignTerms, type Cell, cellKey, OTHER_SOURCES } from "../learning/cell.ts";
import type { CellHistory, ClickRow, EarningRow, TakenBackRow } from "../learning/cohorts.ts";
import type { LearningMode } from "../learning/modes.ts";
import type { CampaignHistory } from "../learning/night-steps.ts";
import { type CampaignLearning, campaignPolicy, type NetworkLearning, readLearning } from "../learning/policy.ts";
import { TAKEN_BACK_CLASS } from "../learning/size-class.ts";
import type { LinkType } from "../lib/enums.ts";

/** Rows of one statement. */
const ROWS_A_PAGE = 10_000;
/** Rows of clicks of one campaign that are in memory at a time. */
const MAX_ROWS_OF_CAMPAIGN = 100_000;

/** A campaign's history, and what is done with what it teaches. */
export type KnownHistory = CampaignHistory & { mode: LearningMode };

/** Campaigns that follow each other, each with all of its rows. */
export type HistorySlice = {
	histories: KnownHistory[];
	/** The last campaign that was read; null where none is left behind it. */
	last: number | null;
	/** Rows that were read. */
	rows: number;
};

type CellRow = { campaignId: number; publisherId: string; source: string; keyword: string; link: LinkType };
type ClickCells = CellRow & ClickRow;
/** Those of TAKEN_BACK_CLASS are counted below zero. */
type EarningCells = CellRow & EarningRow;
type GrowingHistory = CellHistory & { clicks: ClickRow[]; earnings: EarningRow[]; takenBack: TakenBackRow[] };

/**
 * The next campaigns behind one that have clicks: as many as a page of rows has whole, and one at the least.
 * @param most rows of clicks of one campaign; of one that has more, the sources of each publisher are taken together
 */
export async function readHistories(
	db: Database,
	network: NetworkLearning | null,
	after: number,
	most: number = MAX_ROWS_OF_CAMPAIGN,
): Promise<HistorySlice> {
	return readSlice(db, network, after, await readClicks(db, after, Number.MAX_SAFE_INTEGER, most));
}

/** One campaign with all of its rows; undefined where it has none. */
export async function readHistory(db: Database, network: NetworkLearning | null, campaignId: number): Promise<KnownHistory | undefined> {
	const clicks = await readClicks(db, campaignId - 1, campaignId, MAX_ROWS_OF_CAMPAIGN);
	return (await readSlice(db, network, campaignId - 1, clicks)).histories[0];
}

async function readSlice(
	db: Database,
	network: NetworkLearning | null,
	after: number,
	{ rows: clicks, isFolded, isEnd }: ReadClicks,
): Promise<HistorySlice> {
	const last = clicks.at(-1)?.campaignId;
	if (last === undefined) return { histories: [], last: null, rows: 0 };
	const earnings = isFolded ? await readFoldedEarnings(db, last) : await readEarnings(db, after, last);
	const campaigns = await readCampaigns(db, network, [...new Set(clicks.map(({ campaignId }) => campaignId))]);
	const cells = new Map<number, Map<string, GrowingHistory>>();
	const cellOf = (row: CellRow) => {
		const cell: Cell = {
			campaign: String(row.campaignId),
			publisher: row.publisherId,
			source: row.source,
			keyword: row.keyword,
			link: row.link,
		};
		const ofCampaign = cells.get(row.campaignId) ?? new Map();
		cells.set(row.campaignId, ofCampaign);
		const key = cellKey(cell);
		const known = ofCampaign.get(key) ?? { cell, clicks: [], earnings: [], takenBack: [] };
		ofCampaign.set(key, known);
		return known;
	};
	for (const row of clicks) cellOf(row).clicks.push({ day: row.day, clicks: row.clicks, paidMicros: row.paidMicros });
	for (const { day, sizeClass, conversions, netMicros, ...row } of earnings) {
		if (sizeClass === TAKEN_BACK_CLASS) cellOf(row).takenBack.push({ day, conversions: -conversions });
		else cellOf(row).earnings.push({ day, sizeClass, conversions, netMicros });
	}
	const histories = campaigns.map(({ id, ...campaign }): KnownHistory => ({ ...campaign, cells: [...(cells.get(id)?.values() ?? [])] }));
	return { histories, last: isEnd ? null : last, rows: clicks.length + earnings.length };
}

/** Whether the sources of the one campaign that they are of were taken together, and whether there are none behind them. */
type ReadClicks = { rows: ClickCells[]; isFolded: boolean; isEnd: boolean };

/** Whole campaigns: where a page ends in the middle of one, it is left for the next, or read to its end where it is the only one. */
async function readClicks(db: Database, after: number, upTo: number, most: number): Promise<ReadClicks> {
	const size = Math.min(ROWS_A_PAGE, most);
	const page = await db.all<ClickCells>(sql`SELECT campaign_id AS "campaignId", publisher_id AS "publisherId", source, keyword, link, day,
			clicks, paid_micros AS "paidMicros" FROM learning_clicks
		WHERE campaign_id > ${after} AND campaign_id <= CAST(${upTo} AS BIGINT)
		ORDER BY campaign_id, publisher_id, source, keyword, link, day LIMIT ${size}`);
	if (page.length < size) return { rows: page, isFolded: false, isEnd: true };
	const cut = page.at(-1)?.campaignId;
	const whole = page.filter(({ campaignId }) => campaignId !== cut);
	if (whole.length > 0) return { rows: whole, isFolded: false, isEnd: false };
	for (;;) {
		const end = page.at(-1);
		if (end === undefined) return { rows: page, isFolded: false, isEnd: true };
		const more = await db.all<ClickCells>(sql`SELECT campaign_id AS "campaignId", publisher_id AS "publisherId", source, keyword, link, day,
				clicks, paid_micros AS "paidMicros" FROM learning_clicks
			WHERE campaign_id = ${end.campaignId}
				AND (publisher_id, source, keyword, link, day) > (${end.publisherId}, ${end.source}, ${end.keyword}, ${end.link}, ${end.day})
			ORDER BY publisher_id, source, keyword, link, day LIMIT ${size}`);
		if (page.length + more.length > most) return { rows: await readFoldedClicks(db, end.campaignId), isFolded: true, isEnd: false };
		for (const row of more) page.push(row);
		if (more.length < size) return { rows: page, isFolded: false, isEnd: false };
	}
}

function readFoldedClicks(db: Database, campaignId: number): Promise<ClickCells[]> {
	return db.all<ClickCells>(sql`SELECT campaign_id AS "campaignId", publisher_id AS "publisherId", ${OTHER_SOURCES} AS source, keyword, link,
			day, sum(clicks) AS clicks, sum(paid_micros) AS "paidMicros" FROM learning_clicks
		WHERE campaign_id = ${campaignId} GROUP BY campaign_id, publisher_id, keyword, link, day`);
}

function readFoldedEarnings(db: Database, campaignId: number): Promise<EarningCells[]> {
	return db.all<EarningCells>(sql`SELECT campaign_id AS "campaignId", publisher_id AS "publisherId", ${OTHER_SOURCES} AS source, keyword, link,
			day, size_class AS "sizeClass", sum(conversions) AS conversions, sum(net_micros) AS "netMicros" FROM learning_earnings
		WHERE campaign_id = ${campaignId} GROUP BY campaign_id, publisher_id, keyword, link, day, size_class`);
}

async function readEarnings(db: Database, after: number, last: number): Promise<EarningCells[]> {
	const found: EarningCells[] = [];
	for (;;) {
		const end = found.at(-1);
		const behind =
			end === undefined
				? sql`campaign_id > ${after}`
				: sql`(campaign_id, publisher_id, source, keyword, link, day, size_class)
					> (${end.campaignId}, ${end.publisherId}, ${end.source}, ${end.keyword}, ${end.link}, ${end.day}, ${end.sizeClass})`;
		const page =
			await db.all<EarningCells>(sql`SELECT campaign_id AS "campaignId", publisher_id AS "publisherId", source, keyword, link, day,
				size_class AS "sizeClass", conversions, net_micros AS "netMicros" FROM learning_earnings
			WHERE ${behind} AND campaign_id <= ${last}
			ORDER BY campaign_id, publisher_id, source, keyword, link, day, size_class LIMIT ${ROWS_A_PAGE}`);
		for (const row of page) found.push(row);
		if (page.length < ROWS_A_PAGE) return found;
	}
}

type CampaignRow = {
	id: number;
	platform: string;
	epcMicros: number | null;
	defaultKeywordEpcMicros: number | null;
	keywordEpcMicros: string;
	epcLearning: string | null;
	lastBreak: string | null;
};

/** A campaign as its operator has it, and its last break. */
export type KnownCampaign = Omit<CampaignHistory, "cells"> & { id: number; mode: LearningMode };

/** What is known of campaigns, in the order of their ids. Those that are no more are not told of. */
export async function readCampaigns(db: Database, network: NetworkLearning | null, ids: readonly number[]): Promise<KnownCampaign[]> {
	if (ids.length === 0) return [];
	const rows = await db.all<CampaignRow>(sql`SELECT c.campaign_id AS id, c.platform, c.epc_micros AS "epcMicros",
			c.default_keyword_epc_micros AS "defaultKeywordEpcMicros", c.keyword_epc_micros AS "keywordEpcMicros",
			c.epc_learning AS "epcLearning", l.last_break AS "lastBreak"
		FROM campaigns c LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id
		WHERE c.campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)})) ORDER BY c.campaign_id`);
	return rows.map((row) => ({
		id: row.id,
		terms: termsOf(row),
		...campaignPolicy(network, readLearning<CampaignLearning>(row.epcLearning)),
		lastBreak: row.lastBreak === null ? null : (JSON.parse(row.lastBreak) as Break),
	}));
}

function termsOf({ id, platform, epcMicros, defaultKeywordEpcMicros, keywordEpcMicros }: CampaignRow): CampaignTerms {
	const keywords = Object.entries(JSON.parse(keywordEpcMicros) as Record<string, number>);
	return { id: String(id), platform, epcMicros, defaultKeywordEpcMicros, keywordEpcMicros: new Map(keywords) };
}
