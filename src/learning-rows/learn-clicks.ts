/** Paid clicks are added to what prices are learned from, in the transaction that counts them. */
import { type SQL, sql } from "drizzle-orm";
import { textOf } from "../db/client.ts";
import { cellsAsColumns, namedCells, writeCells } from "../db/json-rows.ts";
import { learningClicks } from "../db/schema/learning.ts";
import { NO_KEYWORD } from "../learning/cell.ts";
import { dayOf } from "../learning/cohorts.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import type { LinkType } from "../lib/enums.ts";
import { addClickRows } from "./add-rows.ts";

/** A paid click of a known publisher and campaign; of an unknown link (a message of an earlier version) nothing is learned. */
export type LearnedClick = {
	campaignId: number;
	publisherId: string;
	sourceHash: string;
	keywordClass: string | null;
	link: LinkType | undefined;
	clickedAt: number;
	grossMicros: number;
	/** What it earned its publisher. */
	paidMicros: number;
};

const SOURCE = ["publisherId", "source", "day"] as const;
const source = namedCells(SOURCE, sql`value`);

/**
 * Sources that are new take a place while their publisher has one; the rest, and those that came before there was one, are noted as the
 * others'. No batch passes the bound: its new sources are numbered.
 * @param clicked gives `publisher_id`, `source` and the last `day` of each source once
 * @param places  how many a publisher has
 */
export function admitSources(clicked: SQL, places: SQL): SQL {
	return sql`INSERT INTO learning_sources (publisher_id, source, from_day, last_day)
	WITH clicked AS MATERIALIZED (${clicked}),
	moved AS MATERIALIZED (SELECT c.publisher_id, c.source, c.day, CASE WHEN s.from_day IS NULL THEN 0 ELSE 1 END AS known
		FROM clicked c LEFT JOIN learning_sources s ON s.publisher_id = c.publisher_id AND s.source = c.source
		WHERE s.from_day IS NULL OR s.last_day < c.day),
	publisher AS MATERIALIZED (SELECT s.publisher_id, count(s.from_day) AS places,
			max(CASE WHEN s.from_day IS NULL THEN s.last_day END) AS others_day
		FROM learning_sources s WHERE s.publisher_id IN (SELECT m.publisher_id FROM moved m WHERE m.known = 0) GROUP BY s.publisher_id),
	placed AS (SELECT m.publisher_id, m.source, m.day, coalesce(p.others_day + 1, 0) AS from_day,
			m.known = 1 OR (m.source <> '*other' AND coalesce(p.places, 0)
				+ row_number() OVER (PARTITION BY m.publisher_id, m.known, m.source = '*other' ORDER BY m.source) <= CAST(${places} AS BIGINT)) AS followed
		FROM moved m LEFT JOIN publisher p ON p.publisher_id = m.publisher_id)
	SELECT publisher_id, CASE WHEN followed THEN source ELSE '*other' END AS source, CASE WHEN followed THEN min(from_day) END, max(day)
	FROM placed WHERE true GROUP BY publisher_id, CASE WHEN followed THEN source ELSE '*other' END, followed
	ON CONFLICT (publisher_id, source) DO UPDATE
		SET last_day = CASE WHEN learning_sources.last_day < excluded.last_day THEN excluded.last_day ELSE learning_sources.last_day END`;
}

const ADMIT_CLICKED = textOf(
	admitSources(
		sql`SELECT ${source.publisherId} AS publisher_id, ${source.source} AS source, CAST(${source.day} AS BIGINT) AS day
			FROM (SELECT jsonb(value) AS value FROM json_each(?1)) given`,
		sql`?2`,
	),
);

const KEY = ["campaignId", "publisherId", "source", "keyword", "link", "day"] as const;
const SUMS = ["clicks", "grossMicros", "paidMicros"] as const;

/** Sources that are not followed are one: their rows are summed once more. */
const ADD_CLICKS = textOf(
	addClickRows(sql`WITH given AS MATERIALIZED (SELECT jsonb(value) AS value FROM json_each(?1)),
	clicked AS MATERIALIZED (SELECT ${cellsAsColumns(learningClicks, [...KEY, ...SUMS], sql`value`)} FROM given),
	placed AS (SELECT c.*, CASE WHEN s.from_day <= c.day THEN c.source ELSE '*other' END AS place
		FROM clicked c LEFT JOIN learning_sources s ON s.publisher_id = c.publisher_id AND s.source = c.source)
	SELECT campaign_id, publisher_id, place, keyword, link, day, sum(clicks), sum(gross_micros), sum(paid_micros)
	FROM placed WHERE true GROUP BY campaign_id, publisher_id, place, keyword, link, day`),
);

/**
 * By publisher and source, the day of a click of it that is counted: up to there it stands among those that are followed or the others, and
 * its row, or that of the others, says so.
 */
export type PlacedSources = Map<string, number>;

type Learning = {
	/** With their parameters; none where there is nothing to learn. */
	statements: { text: string; values: (string | number)[] }[];
	/** What they place, once they are written. */
	placed: PlacedSources;
};

/** The statements that add clicks. @param known sources that need no place */
export function learnClicks(clicks: readonly LearnedClick[], known: ReadonlyMap<string, number>): Learning {
	const sources = new Map<string, Record<(typeof SOURCE)[number], unknown> & { day: number }>();
	const rows = new Map<string, Record<(typeof KEY)[number], unknown> & Record<(typeof SUMS)[number], number>>();
	for (const { campaignId, publisherId, sourceHash, keywordClass, link, clickedAt, grossMicros, paidMicros } of clicks) {
		if (link === undefined) continue;
		const day = dayOf(clickedAt);
		const key = { campaignId, publisherId, source: sourceHash, keyword: keywordClass ?? NO_KEYWORD, link, day };
		const id = JSON.stringify(key);
		const row = rows.get(id) ?? { ...key, clicks: 0, grossMicros: 0, paidMicros: 0 };
		row.clicks++;
		row.grossMicros += grossMicros;
		row.paidMicros += paidMicros;
		rows.set(id, row);
		const of = JSON.stringify([publisherId, key.source]);
		if ((sources.get(of)?.day ?? known.get(of) ?? -1) < day) sources.set(of, { publisherId, source: key.source, day });
	}
	const admit = { text: ADMIT_CLICKED, values: [writeCells(SOURCE, [...sources.values()]), MAX_SOURCES] };
	const add = { text: ADD_CLICKS, values: [writeCells<string>([...KEY, ...SUMS], [...rows.values()])] };
	return {
		statements: [...(sources.size === 0 ? [] : [admit]), ...(rows.size === 0 ? [] : [add])],
		placed: new Map([...sources].map(([of, { day }]) => [of, day])),
	};
}
