/** Shows who did what, the newest first. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { audit } from "../db/schema/audit.ts";
import { invalidInput } from "../http/errors.ts";
import { cutPage, writeCursor } from "../http/pages.ts";
import { suggest } from "../http/suggest.ts";
import { AUDIT_SUBJECTS, AUDIT_VERBS } from "../lib/access-enums.ts";
import { leastIdAt } from "../lib/ids.ts";
import { isoTime } from "../lib/time.ts";
import type { Audited, AuditPage } from "./audit-answer.ts";
import type { AuditQuery } from "./audit-request.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Rows that a page with several filters looks at: where these hold too few, the cursor goes on behind them. */
const MAX_LOOKED_AT = 5_000;

type Row = typeof audit.$inferSelect;

/**
 * A page: of one index, in its order. A page of several filters may hold fewer rows than its limit, even none, and still be followed by
 * another. @throws HttpError 422 for an operation that no row can be of
 */
export async function listAudit(db: Database, query: AuditQuery): Promise<AuditPage> {
	const { limit } = query;
	await requireKnownVerb(db, query.verb);
	requireKnownKind(query.subject_kind);
	const { looked, others } = lookAtAudit(query, await readNamed(db, query.subject));
	const most = others === null ? limit + 1 : MAX_LOOKED_AT;
	const window = sql`${looked} ORDER BY id DESC LIMIT ${most}`;
	const [page, last] = await runTransaction(db, [
		sql`SELECT id, at, actor, role, verb, subject_kind AS "subjectKind", subject_id AS "subjectId",
				before, after, counts, request_id AS "requestId"
			FROM (${window}) a WHERE ${others ?? sql`true`} ORDER BY id DESC LIMIT ${limit + 1}`,
		...(others === null ? [] : [sql`SELECT id FROM (${window}) a ORDER BY id DESC LIMIT 1 OFFSET ${most - 1}`]),
	]);
	const { shown, next } = cutPage((page?.results ?? []) as Row[], limit, ({ id }) => [id]);
	const [lastLookedAt] = (last?.results ?? []) as { id: string }[];
	return { data: shown.map(show), limit, next_cursor: next ?? (lastLookedAt === undefined ? null : writeCursor([lastLookedAt.id])) };
}

/** Earlier versions may have called operations otherwise. @throws HttpError 422 */
async function requireKnownVerb(db: Database, verb: string | undefined): Promise<void> {
	if (verb === undefined || AUDIT_VERBS.some((known) => known === verb)) return;
	if ((await db.all(sql`SELECT id FROM audit WHERE verb = ${verb} LIMIT 1`)).length > 0) return;
	throw invalidInput([{ path: "verb", message: `is no operation that the audit names${suggest(verb, AUDIT_VERBS)}` }]);
}

/** @throws HttpError 422 */
function requireKnownKind(kind: string | undefined): void {
	if (kind === undefined || AUDIT_SUBJECTS.some((known) => known === kind)) return;
	throw invalidInput([{ path: "subject_kind", message: `is no kind of thing that the audit names${suggest(kind, AUDIT_SUBJECTS)}` }]);
}

/** What an id stands for beside what is called so itself. */
type Named = {
	/** Conversions that were changed are named by platform and transaction id: those that have this transaction id, as they are named. */
	conversions: readonly string[];
	/** When the adjustment of this id was made, Unix ms: its row is of what it changed, and names it in `after`. Null where there is none. */
	adjustedAt: number | null;
};

const NOTHING: Named = { conversions: [], adjustedAt: null };

async function readNamed(db: Database, subject: string | undefined): Promise<Named> {
	if (subject === undefined) return NOTHING;
	const conversions = await db.all<{ id: string }>(sql`SELECT p.id || ' ' || ${subject} AS id FROM platforms p
		WHERE EXISTS (SELECT 1 FROM audit a WHERE a.subject_id = p.id || ' ' || ${subject})`);
	const [adjustment] = await db.all<{ at: number }>(sql`SELECT at FROM adjustments WHERE id = ${subject}`);
	return { conversions: conversions.map(({ id }) => id), adjustedAt: adjustment?.at ?? null };
}

/**
 * For its query plan, too: the rows behind the cursor that one index finds, and what else is asked of them; null where that is all. Ids are
 * time-ordered: times are bounds of them.
 */
export function lookAtAudit(
	{ actor, subject, subject_kind: subjectKind, verb, from, to, cursor }: AuditQuery,
	{ conversions, adjustedAt }: Named = NOTHING,
): { looked: SQL; others: SQL | null } {
	const isSubject =
		conversions.length === 0
			? sql`subject_id = ${subject}`
			: sql`subject_id IN (SELECT atom FROM json_each(${JSON.stringify([subject, ...conversions])}))`;
	const [first = sql`true`, ...rest] = [
		subject === undefined ? null : isSubject,
		actor === undefined ? null : sql`actor = ${actor}`,
		verb === undefined ? null : sql`verb = ${verb}`,
	].filter((condition) => condition !== null);
	const others = subjectKind === undefined ? rest : [...rest, sql`subject_kind = ${subjectKind}`];
	const bounds = [
		from === undefined ? null : sql`id >= ${leastIdAt(from)}`,
		to === undefined ? null : sql`id < ${leastIdAt(to)}`,
		cursor === undefined ? null : sql`id < ${cursor[0]}`,
	].filter((condition) => condition !== null);
	const rowsWhere = (condition: SQL) => sql`SELECT * FROM audit WHERE ${sql.join([condition, ...bounds], sql` AND `)}`;
	return {
		looked:
			adjustedAt === null
				? rowsWhere(first)
				: sql`${rowsWhere(first)} UNION ALL ${rowsWhere(sql`id >= ${leastIdAt(adjustedAt)} AND id < ${leastIdAt(adjustedAt + 1)}
					AND after ->> 'id' = ${subject} AND NOT (${isSubject})`)}`,
		others: others.length === 0 ? null : sql.join(others, sql` AND `),
	};
}

function show({ id, at, actor, role, verb, subjectKind, subjectId, before, after, counts, requestId }: Row): Audited {
	return {
		id,
		at: isoTime(at),
		actor,
		role,
		verb,
		subject: { kind: subjectKind, id: subjectId },
		// Rows of earlier versions have callback addresses whole.
		before: withoutSecrets(parse(before)),
		after: withoutSecrets(parse(after)),
		counts: parse(counts) as Audited["counts"],
		request_id: requestId,
	};
}

function parse(text: string | null): unknown {
	return text === null ? null : JSON.parse(text);
}
