/** Shows who did what, the newest first. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { audit } from "../db/schema/audit.ts";
import { cutPage } from "../http/pages.ts";
import { leastIdAt } from "../lib/ids.ts";
import type { Audited, AuditPage } from "./audit-answer.ts";
import type { AuditQuery } from "./audit-request.ts";

type Row = typeof audit.$inferSelect;

/** A page. Whatever is asked for, it is read from an index in its order. */
export async function listAudit(db: Database, query: AuditQuery): Promise<AuditPage> {
	const rows = await db.all<Row>(sql`SELECT id, at, actor, role, verb, subject_kind AS "subjectKind", subject_id AS "subjectId",
			before, after, counts, request_id AS "requestId"
		FROM audit WHERE ${isWanted(query)} ORDER BY id DESC LIMIT ${query.limit + 1}`);
	const { shown, next } = cutPage(rows, query.limit, ({ id }) => [id]);
	return { data: shown.map(show), limit: query.limit, next_cursor: next };
}

/** Ids are time-ordered: times are bounds of them. */
function isWanted({ actor, subject, subject_kind: subjectKind, verb, from, to, cursor }: AuditQuery): SQL {
	const conditions = [
		actor === undefined ? null : sql`actor = ${actor}`,
		subject === undefined ? null : sql`subject_id = ${subject}`,
		subjectKind === undefined ? null : sql`subject_kind = ${subjectKind}`,
		verb === undefined ? null : sql`verb = ${verb}`,
		from === undefined ? null : sql`id >= ${leastIdAt(from)}`,
		to === undefined ? null : sql`id < ${leastIdAt(to)}`,
		cursor === undefined ? null : sql`id < ${cursor[0]}`,
	];
	return sql.join([sql`true`, ...conditions.filter((condition) => condition !== null)], sql` AND `);
}

function show({ id, at, actor, role, verb, subjectKind, subjectId, before, after, counts, requestId }: Row): Audited {
	return {
		id,
		at: new Date(at).toISOString(),
		actor,
		role,
		verb,
		subject: { kind: subjectKind, id: subjectId },
		before: parse(before),
		after: parse(after),
		counts: parse(counts) as Audited["counts"],
		request_id: requestId,
	};
}

function parse(text: string | null): unknown {
	return text === null ? null : JSON.parse(text);
}
