/** What changed the network: imports, changes of entries, and what undid them; and what each of them changed. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../db/client.ts";
import { cursorOf, cutPage } from "../../http/pages.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import type { NetworkChangeKind } from "../../lib/enums.ts";
import { pageLimit } from "../../lib/page-cursor.ts";
import { count } from "../../lib/shapes.ts";
import { DAY_MS, isoTime } from "../../lib/time.ts";
import { UNDO_DAYS } from "../../retention/kept-for.ts";
import { changeOf } from "./difference.ts";
import type { EntryChange } from "./difference-answer.ts";
import { shownTo } from "./export-entry.ts";
import type { ImportPage, ListedImport, ShownImport } from "./imports-answer.ts";
import { readChanges } from "./undo-import.ts";

export type ImportsDeps = { db: Database; now: () => number };

/** Query of the list; closed: a mistyped one would list all. */
export const importsQuerySchema = v.strictObject({ limit: pageLimit, cursor: cursorOf(v.tuple([count])) });

/** Entries that are told of one import. */
const MAX_ENTRIES = 1_000;

type Row = {
	version: number;
	id: string;
	kind: NetworkChangeKind;
	at: number;
	actor: string;
	fileHash: string | null;
	undoes: string | null;
};

/** The newest first. */
export async function listImports(deps: ImportsDeps, { limit, cursor }: v.InferOutput<typeof importsQuerySchema>): Promise<ImportPage> {
	const behind = cursor === undefined ? sql`true` : sql`v.version < CAST(${cursor[0]} AS BIGINT)`;
	const rows = await read(deps, sql`${behind} ORDER BY v.version DESC LIMIT ${limit + 1}`);
	const { shown, next } = cutPage(rows, limit, ({ version }) => [version]);
	return { data: await show(deps, shown), limit, next_cursor: next };
}

/** One, with what it changed as far as that is kept, as a role may see it; null where there is none. */
export async function findImport(deps: ImportsDeps, id: string, role: PersonRole): Promise<ShownImport | null> {
	const [listed] = await show(deps, await read(deps, sql`v.id = ${id}`));
	if (listed === undefined) return null;
	const counts = { added: 0, changed: 0, removed: 0 };
	const entries: EntryChange[] = [];
	for await (const record of readChanges(deps.db, listed.version)) {
		const [before, after] = [record.before, record.after].map((entry) => entry && shownTo(role, entry));
		const change = changeOf({ ...record, before: before ?? null, ...("after" in record && { after: after ?? null }) });
		counts[change.kind]++;
		if (entries.length < MAX_ENTRIES) entries.push(change);
	}
	return { ...listed, ...counts, entries, entries_left_out: counts.added + counts.changed + counts.removed - entries.length };
}

function read({ db }: ImportsDeps, rest: SQL): Promise<Row[]> {
	return db.all<Row>(sql`SELECT v.version, v.id, v.kind, v.at, v.actor, v.file_hash AS "fileHash", v.undoes
		FROM network_versions v WHERE ${rest}`);
}

async function show({ db, now }: ImportsDeps, rows: readonly Row[]): Promise<ListedImport[]> {
	const ids = JSON.stringify(rows.map(({ id }) => id));
	const undoing = await db.all<{ id: string; undoes: string }>(
		sql`SELECT v.id, v.undoes FROM network_versions v WHERE v.undoes IN (SELECT atom FROM json_each(${ids})) ORDER BY v.version`,
	);
	const undoneBy = new Map(undoing.map(({ id, undoes }) => [undoes, id]));
	return rows.map(({ version, id, kind, at, actor, fileHash, undoes }) => ({
		id,
		version,
		kind,
		at: isoTime(at),
		actor,
		file_hash: fileHash,
		undoes,
		undone_by: undoneBy.get(id) ?? null,
		can_undo: kind !== "names" && version >= now() - UNDO_DAYS * DAY_MS,
	}));
}
