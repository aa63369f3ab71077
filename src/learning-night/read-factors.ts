/** Reads the factors in force that `book:learned` may hold, a page at a time, in an order that stays. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import { toldFactor } from "../learning/price.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import { readPublished } from "../learning/stored.ts";
import type { Factor } from "./fill-learned-key.ts";

const ROWS_A_PAGE = 2_000;

type FactorRow = Omit<Factor, "factor"> & { published: string };
type SourceRow = { publisherId: string; name: string; published: string | null };

/** Those that are not 1; and of a publisher whose other sources have one, of all sources that are followed, since they are not the others. */
export async function* pagesOfFactors(db: Database, size = ROWS_A_PAGE): AsyncIterable<Factor[]> {
	const others: string[] = [];
	for await (const rows of pages<FactorRow>(size, (end) => {
		const behind =
			end === undefined
				? sql`true`
				: sql`(level, campaign_id, publisher_id, name) > (${end.level}, ${end.campaignId}, ${end.publisherId}, ${end.name})`;
		return db.all(sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published
			FROM learning_factors WHERE level <> 'price' AND ${behind}
			ORDER BY level, campaign_id, publisher_id, name LIMIT ${size}`);
	})) {
		const moved = rows.flatMap(({ published, ...row }) => {
			const factor = toldFactor(readPublished(published).factor);
			return factor === 1 ? [] : [{ ...row, factor }];
		});
		for (const { level, publisherId, name } of moved) if (level === "source" && name === OTHER_SOURCES) others.push(publisherId);
		yield moved;
	}
	yield* pagesOfFollowed(db, others, size);
}

/** Of publishers whose places are all taken, the sources that are followed and have no factor of their own. */
async function* pagesOfFollowed(db: Database, publishers: readonly string[], size: number): AsyncIterable<Factor[]> {
	if (publishers.length === 0) return;
	const full = sql`SELECT publisher_id FROM learning_sources
		WHERE from_day IS NOT NULL AND publisher_id IN (SELECT atom FROM json_each(${JSON.stringify(publishers)}))
		GROUP BY publisher_id HAVING count(*) >= ${MAX_SOURCES}`;
	for await (const rows of pages<SourceRow>(size, (end) => {
		const behind: SQL = end === undefined ? sql`true` : sql`(s.publisher_id, s.source) > (${end.publisherId}, ${end.name})`;
		return db.all(sql`SELECT s.publisher_id AS "publisherId", s.source AS name, f.published FROM learning_sources s
			LEFT JOIN learning_factors f
				ON f.level = 'source' AND f.campaign_id = 0 AND f.publisher_id = s.publisher_id AND f.name = s.source
			WHERE s.from_day IS NOT NULL AND s.publisher_id IN (${full}) AND ${behind}
			ORDER BY s.publisher_id, s.source LIMIT ${size}`);
	})) {
		yield rows.flatMap(({ publisherId, name, published }): Factor[] =>
			published !== null && toldFactor(readPublished(published).factor) !== 1
				? []
				: [{ level: "source", campaignId: 0, publisherId, name, factor: 1 }],
		);
	}
}

async function* pages<Row>(size: number, read: (end: Row | undefined) => Promise<Row[]>): AsyncIterable<Row[]> {
	let rows: Row[] | null = null;
	while (rows === null || rows.length === size) {
		rows = await read(rows?.at(-1));
		yield rows;
	}
}
