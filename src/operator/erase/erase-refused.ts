/**
 * Erases in postbacks that were not accepted and name a click otherwise than by `cid`: no index has what stands in their queries, so all of
 * them are gone through in the order of an index, a bounded number a request.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ErasedClick } from "./own-ids.ts";
import { type Erased, namesInQuery, type Refused, redactQuery } from "./redact.ts";

const ROWS_A_PAGE = 500;
/** Pages that one request looks through: ten thousand postbacks. */
const MAX_PAGES = 20;

/** The last postback that was looked at; those of no platform come after the others. */
export type RefusedPosition = { platform: string | null; id: string };

export const FIRST_REFUSED: RefusedPosition = { platform: "", id: "" };

type Row = Refused & { id: string; cid: string | null };

type Looked = {
	/** postback_intake.id of those that had something. */
	ids: Set<string>;
	/** Null where there are no more. */
	next: RefusedPosition | null;
};

/** Looks through refused postbacks behind one. What names a click by `cid` is left to the tables: an index finds it. */
export async function eraseRefused(
	db: Database,
	erased: Erased,
	clicks: readonly ErasedClick[],
	isDryRun: boolean,
	from: RefusedPosition,
): Promise<Looked> {
	const ids = new Set<string>();
	if (clicks.length === 0) return { ids, next: null };
	// No postback comes before its click; clocks may be apart.
	const first = clicks.reduce((least, { clickedAt }) => Math.min(least, clickedAt || 0), Number.MAX_SAFE_INTEGER);
	const leastId = leastIdAt(first - DAY_MS);
	let next: RefusedPosition | null = from;
	for (let pages = 0; next !== null && pages < MAX_PAGES; pages++) {
		const rows = await readBehind(db, next, leastId);
		const redacted = rows.flatMap((row) => {
			if (isFoundByCid(row, erased) || !namesInQuery(row, erased)) return [];
			const query = redactQuery(row.query, row.cid ?? "", { ...row, erased });
			return query === row.query ? [] : [{ id: row.id, query }];
		});
		for (const { id } of redacted) ids.add(id);
		if (redacted.length > 0 && !isDryRun) {
			await db.run(sql`UPDATE postback_intake SET query = r.query
				FROM (SELECT value ->> 'id' AS of_id, value ->> 'query' AS query FROM json_each(${JSON.stringify(redacted)})) AS r
				WHERE postback_intake.id = r.of_id`);
		}
		next = behind(rows, next);
	}
	return { ids, next };
}

function readBehind(db: Database, { platform, id }: RefusedPosition, leastId: string): Promise<Row[]> {
	const columns = sql`id, platform, txnid, cid, received_at AS "receivedAt", query`;
	if (platform === null) {
		return db.all<Row>(sql`SELECT ${columns} FROM postback_intake
			WHERE outcome <> 'accepted' AND platform IS NULL AND id > ${id} AND id >= ${leastId} ORDER BY id LIMIT ${ROWS_A_PAGE}`);
	}
	return db.all<Row>(sql`SELECT ${columns} FROM postback_intake
		WHERE outcome <> 'accepted' AND (platform, id) > (${platform}, ${id}) AND id >= ${leastId}
		ORDER BY platform, id LIMIT ${ROWS_A_PAGE}`);
}

function behind(rows: readonly Row[], { platform }: RefusedPosition): RefusedPosition | null {
	const last = rows.at(-1);
	if (last !== undefined && rows.length === ROWS_A_PAGE) return { platform: last.platform, id: last.id };
	return platform === null ? null : { platform: null, id: "" };
}

function isFoundByCid({ cid }: Row, { hashes, own }: Erased): boolean {
	if (cid === null) return false;
	const isInOneCase = cid === cid.toLowerCase() || cid === cid.toUpperCase();
	return (isInOneCase && hashes.has(cid.toLowerCase())) || own.has(cid);
}
