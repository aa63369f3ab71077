/** The network's version, which every import raises, and what has changed since one. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import type { AuditVerb } from "../../lib/access-enums.ts";
import type { NetworkChangeKind } from "../../lib/enums.ts";
import { conflict, type HttpError } from "../../lib/http.ts";
import { isoTime } from "../../lib/time.ts";
import type { ChangedEntry } from "./import-answer.ts";
import { MAX_LISTED } from "./listed.ts";

/** What is kept of an import beside its changes. */
export type Stamp = {
	/** The network's version that it takes over. */
	expected: number;
	version: number;
	id: string;
	kind: NetworkChangeKind;
	verb: AuditVerb;
	at: number;
	actor: Actor;
	fileHash: string | null;
	undoes: string | null;
};

/** 0 before the first import. */
export async function readVersion(db: Database): Promise<number> {
	const [row] = await db.all<{ version: number | null }>(sql`SELECT MAX(version) AS version FROM network_versions`);
	return row?.version ?? 0;
}

/** Whether an import was taken over: one whose answer was lost may have been. Waits for a commit that is still going on: it writes in turn. */
export async function hasImport(db: Database, id: string): Promise<boolean> {
	const [, rows] = await runTransaction(db, [
		sql`UPDATE network_versions SET id = id WHERE id = ${id}`,
		sql`SELECT 1 AS found FROM network_versions WHERE id = ${id}`,
	]);
	return rows?.results.length === 1;
}

/** The version after `present`. */
export function nextVersion(present: number, now: number): number {
	return Math.max(present + 1, now);
}

/** First statement of an import's transaction: without a kind the row, and all the others, are refused. */
export function stampVersion(stamp: Stamp): SQL {
	const present = sql`(SELECT coalesce(MAX(version), 0) FROM network_versions)`;
	return sql`INSERT INTO network_versions (version, id, kind, at, actor, file_hash, undoes)
		VALUES (CAST(${stamp.version} AS BIGINT), ${stamp.id}, CASE WHEN ${present} = CAST(${stamp.expected} AS BIGINT) THEN ${stamp.kind} END,
			CAST(${stamp.at} AS BIGINT), ${stamp.actor.name}, ${stamp.fileHash}, ${stamp.undoes})`;
}

/** Entries changed after `version`, the latest import of each, the latest first. */
function changedAfter(version: number): SQL {
	return sql`SELECT e.value ->> 'section' AS section, e.value ->> 'id' AS id, e.value ->> 'brand' AS brand, MAX(c.version) AS version
		FROM network_changes c CROSS JOIN json_each(c.entries) e WHERE c.version > CAST(${version} AS BIGINT)
		GROUP BY e.value ->> 'section', e.value ->> 'id', e.value ->> 'brand'`;
}

type Changed = { section: string; id: string; import: string; at: number; actor: string; found: number };

/** @param touched those of `changed` that are asked for */
async function list(db: Database, version: number, touched = sql`SELECT section, id, version FROM changed`): Promise<Changed[]> {
	return db.all<Changed>(sql`
		WITH changed AS MATERIALIZED (${changedAfter(version)}), touched AS (${touched})
		SELECT touched.section, touched.id, v.id AS "import", v.at, v.actor, COUNT(*) OVER () AS found
		FROM touched JOIN network_versions v ON v.version = touched.version
		ORDER BY touched.version DESC, touched.section, touched.id LIMIT ${MAX_LISTED}`);
}

/** What has changed since a version, as the 412 to one who has read that version. */
export async function changedSince(db: Database, version: number, present: number): Promise<HttpError> {
	const changed = await list(db, version);
	return overtaken(`the network is at version ${present}, not ${version}: read it again, and change that`, present, changed);
}

/** The 412 where something else has changed what is staged since `version`; null where nothing has. */
export async function findOvertaken(db: Database, importId: string, version: number, present: number): Promise<HttpError | null> {
	const staged = (section: string) => sql`FROM import_rows r WHERE r.import_id = ${importId} AND r.section = ${section}`;
	// Both sides are laid together and sorted by what names an entry: no engine then looks at all of one for each of the other.
	const named = (section: SQL, id: SQL, rows: SQL) => sql`SELECT ${section}, ${id}, CAST(NULL AS TEXT), CAST(NULL AS BIGINT), 1, 0 ${rows}`;
	const changed = await list(
		db,
		version,
		sql`SELECT section, id, version FROM (
			SELECT section, id, version, max(staged) OVER (PARTITION BY section, id) AS is_staged,
				max(of_brand) OVER (PARTITION BY brand) AS is_brand_staged
			FROM (SELECT section, id, brand, version, 0 AS staged, 0 AS of_brand FROM changed
				UNION ALL ${named(
					sql`r.section`,
					sql`r.row ->> 'id'`,
					sql`FROM import_rows r WHERE r.import_id = ${importId} AND r.section IN ('platforms', 'publishers', 'exchange_rates')`,
				)}
				UNION ALL ${named(sql`r.section`, sql`CAST(r.row ->> 'campaignId' AS TEXT)`, staged("campaigns"))}
				UNION ALL SELECT r.section, r.row ->> 'domain', r.row ->> 'domain', NULL, 1, 1 ${staged("brands")}) sides) compared
			WHERE version IS NOT NULL AND (is_staged = 1 OR (section = 'campaigns' AND is_brand_staged = 1)
				OR (section IN ('traffic', 'epc_learning') AND EXISTS (SELECT 1 ${staged("network_settings")})))`,
	);
	if (changed.length === 0) return null;
	return overtaken("somebody else has changed the same entries meanwhile: look at them, and send it again", present, changed);
}

function overtaken(message: string, present: number, changed: readonly Changed[]): HttpError {
	const listed: ChangedEntry[] = changed.map(({ section, id, import: by, at, actor }) => ({
		section,
		id,
		import: by,
		at: isoTime(at),
		actor,
	}));
	return conflict(message, { version: present, changed: listed, changed_count: changed[0]?.found ?? 0 });
}
