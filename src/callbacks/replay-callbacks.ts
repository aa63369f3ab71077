import { type SQL, sql } from "drizzle-orm";
import { type AuditActor, type AuditEntry, auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { type CallbackQueue, enqueueCallbacks } from "./enqueue.ts";
import { MAX_REPLAYED, type ReplayReport } from "./operator-answers.ts";
import type { ReplayRequest } from "./requests.ts";
import { conditionOf } from "./select-callbacks.ts";

/** This many go on the queue at once; the sweep takes the rest, by the minute. */
const MAX_QUEUED = 500;

type ReplayDeps = { db: Database; queue: CallbackQueue; now: () => number };

/**
 * Sends callbacks again, those that were delivered too: due from now on, with the whole schedule before them and the id they had.
 * With a callback go all later ones of its conversion to the same publisher, so that the last that a publisher hears is how things stand:
 * another click may have been found for a conversion, and what is another publisher's is not repeated with it. One that is being called at
 * this moment is left as it is where none before it is sent again; otherwise it is marked as held for its order, and so is called again once
 * its call has ended.
 * Of exhausted callbacks, which a replay makes due, it takes those of the oldest conversions, and asked again those of the next.
 * @throws HttpError 422 where any other selection holds more than {@link MAX_REPLAYED} conversions; nothing has changed then
 */
export async function replayCallbacks(
	{ db, queue, now }: ReplayDeps,
	{ dry_run, ...selection }: ReplayRequest,
	actor: AuditActor,
): Promise<ReplayReport> {
	const at = now();
	const all = chooseConversions(selection);
	const isInParts = selection.state === "exhausted";
	const chosen = isInParts && !dry_run ? sql`${all} ORDER BY MIN(created_at), platform, txnid, publisher_id LIMIT ${MAX_REPLAYED}` : all;
	const conversions = isInParts ? null : await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM (${all} LIMIT ${MAX_REPLAYED + 1})`);
	if (conversions !== null && conversions.n > MAX_REPLAYED) {
		const message = `holds more than ${MAX_REPLAYED} conversions: replay it in parts, by from and to`;
		throw invalidInput([{ path: "", message }]);
	}
	// CROSS JOIN: SQLite would look at all callbacks of the publisher.
	const replayed = sql`SELECT c.id FROM (${chosen}) s CROSS JOIN callbacks c
		WHERE c.platform = s.platform AND c.txnid = s.txnid AND c.publisher_id = s.publisher_id AND c.seq >= s.first
			AND (c.lease IS NULL OR c.next_attempt_at <= ${at} OR c.seq > s.first)`;
	const isBeingCalled = sql`lease IS NOT NULL AND next_attempt_at > ${at}`;
	if (dry_run) {
		const { n } = await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM (${replayed})`);
		return { replayed: n, dry_run };
	}
	const results = await runTransaction(db, [
		auditReplay(actor, at, selection, replayed),
		sql`UPDATE callbacks SET state = 'due', delivered_at = NULL, schedule_step = 0, queued_until = 0,
			next_attempt_at = CASE WHEN ${isBeingCalled} THEN next_attempt_at ELSE CAST(${at} AS BIGINT) END,
			held_for = CASE WHEN ${isBeingCalled} THEN 'order' END,
			lease = CASE WHEN ${isBeingCalled} THEN lease END
			WHERE id IN (${replayed}) RETURNING id, seq`,
	]);
	const rows = (results.at(-1)?.results ?? []) as { id: string; seq: number }[];
	const ids = rows
		.sort((a, b) => a.seq - b.seq)
		.map(({ id }) => id)
		.slice(0, MAX_QUEUED);
	await db.run(
		sql`UPDATE callbacks SET queued_until = ${at + MINUTE_MS} WHERE id IN (SELECT atom FROM json_each(${JSON.stringify(ids)})) AND state = 'due'`,
	);
	await enqueueCallbacks(queue, ids);
	return { replayed: rows.length, dry_run };
}

/** For its query plan, too: conversions with a callback that is selected. At once grouped, SQLite would go through all in that order. */
export function chooseConversions(selection: Omit<ReplayRequest, "dry_run">): SQL {
	return sql`WITH selected AS MATERIALIZED (SELECT platform, txnid, publisher_id, seq, created_at FROM callbacks WHERE ${conditionOf(selection)})
		SELECT platform, txnid, publisher_id, MIN(seq) AS first FROM selected GROUP BY platform, txnid, publisher_id`;
}

function auditReplay(actor: AuditActor, at: number, selection: Omit<ReplayRequest, "dry_run">, replayed: SQL): SQL {
	const { id } = selection;
	const isOwn = actor.role === "publisher" || actor.role === "owner" || actor.role === "analyst";
	const verb = !isOwn ? "replayCallbacks" : id === undefined ? "replayOwnCallbacks" : "replayOwnCallback";
	const counts = sql`'{"callbacks":' || (SELECT count(*) FROM (${replayed}) r) || '}'`;
	return auditStatement(actor, at, { verb, ...subjectOf(selection), after: selection }, { where: sql`EXISTS (${replayed})`, counts });
}

/** The narrowest of what it is asked for by. */
function subjectOf({ id, publisher, platform, txnid }: Omit<ReplayRequest, "dry_run">): Pick<AuditEntry, "subjectKind" | "subjectId"> {
	if (id !== undefined) return { subjectKind: "callback", subjectId: id };
	if (txnid !== undefined) return { subjectKind: "conversion", subjectId: platform === undefined ? txnid : `${platform} ${txnid}` };
	return publisher === undefined
		? { subjectKind: "callbacks", subjectId: platform ?? "" }
		: { subjectKind: "publisher", subjectId: publisher };
}
