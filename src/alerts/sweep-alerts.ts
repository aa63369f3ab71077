/** Tells the operator's webhook of problems that begin and end. What fails here is tried again, and harms nothing. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows, propertiesOf, replaceColumns } from "../db/json-rows.ts";
import { problemAlerts } from "../db/schema/alerts.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { logError, logInfo } from "../lib/log.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import { type Problem, UNTOLD_KIND } from "../operator/status/problems-answer.ts";
import { type AlertChanges, decideAlerts } from "./decide-alerts.ts";
import { sendAlert, type Webhook } from "./send-alert.ts";
import { tellUnreadable, UNREADABLE, UNREADABLE_PROBLEM } from "./tell-unreadable.ts";

export type AlertDeps = {
	db: Database;
	kv: KVNamespace;
	now: () => number;
	/** Where alerts go, and the key that signs them; null where the operator wants none. */
	webhook: Pick<Webhook, "url" | "key"> | null;
	readProblems: () => Promise<readonly Problem[]>;
	fetch: Webhook["fetch"];
};

/** The status is looked at so often. */
export const LOOK_EVERY_MINUTES = 5;
/** Alerts that a minute sends. */
const MAX_SENT = 5;
const LONGEST_PAUSE_MS = HOUR_MS;
/** The most that a run takes: the status, and its own. */
export const ALERT_STATEMENTS = 60;
export const ALERT_KEYS = 20;

/** @param minute minutes since 1970 */
export async function sweepAlerts(deps: AlertDeps, minute: number): Promise<void> {
	const { db, now, fetch } = deps;
	if (deps.webhook === null) return;
	const webhook = { ...deps.webhook, now, fetch };
	if (minute % LOOK_EVERY_MINUTES === 0) await lookAtProblems(deps, webhook);
	const due = await db.all<{ kind: string; standing: number; body: string; messageId: string; tries: number }>(
		sql`SELECT kind, standing, body, message_id AS "messageId", tries FROM problem_alerts
			WHERE body IS NOT NULL AND next_try_at <= ${now()} ORDER BY next_try_at, kind LIMIT ${MAX_SENT}`,
	);
	for (const { kind, standing, body, messageId, tries } of due) {
		// Noted before it is sent: what is cut off in between may have arrived, too.
		const nextTryAt = now() + Math.min(MINUTE_MS * 2 ** Math.min(tries, 10), LONGEST_PAUSE_MS);
		await db.run(
			sql`UPDATE problem_alerts SET tries = tries + 1, next_try_at = ${nextTryAt} WHERE kind = ${kind} AND message_id = ${messageId}`,
		);
		const fault = await sendAlert(webhook, messageId, body);
		if (fault !== null) {
			logError("alerts.failed", new Error(fault), { problem: kind, tries: tries + 1 });
			continue;
		}
		logInfo("alerts.sent", { problem: kind, standing: standing === 1 });
		// A later look may have put another alert in its place, which is told all the same.
		await db.run(sql`UPDATE problem_alerts SET told = ${standing},
			body = CASE WHEN message_id = ${messageId} THEN NULL ELSE body END WHERE kind = ${kind}`);
	}
	await db.run(sql`DELETE FROM problem_alerts WHERE standing = 0 AND told = 0 AND looks = 0 AND body IS NULL`);
}

/** @throws whatever reading the status or what earlier looks have left throws, once the operator was told of it */
async function lookAtProblems({ db, kv, now, readProblems }: AlertDeps, webhook: Webhook): Promise<void> {
	const newId = () => `alert_${newTimeOrderedId(now())}`;
	/** @returns whether KV took it; where it does not, nothing else is held up */
	const tell = async (isUnreadable: boolean): Promise<boolean> => {
		try {
			await tellUnreadable(kv, webhook, isUnreadable, newId);
			return true;
		} catch (fault) {
			logError("alerts.failed", fault, { problem: UNREADABLE });
			return false;
		}
	};
	const readStored = () => db.select().from(problemAlerts);
	const readTold = async () => (await readProblems()).filter(({ kind }) => kind !== UNTOLD_KIND);
	const [problems, stored] = await Promise.all([readTold(), readStored()]).catch(async (error: unknown) => {
		const isTold = await tell(true);
		// KV may be what is away: then the database knows what is told, and the sweep tells it as any other problem.
		if (!isTold) {
			const row = (await readStored()).filter(({ kind }) => kind === UNREADABLE);
			await writeChanges(db, decideAlerts(row, [UNREADABLE_PROBLEM], now(), newId));
		}
		throw error;
	});
	await tell(false);
	await writeChanges(db, decideAlerts(stored, problems, now(), newId));
}

async function writeChanges(db: Database, { write, remove }: AlertChanges): Promise<void> {
	const replaced = propertiesOf(problemAlerts).filter((property) => property !== "kind");
	const statements = [
		...(write.length === 0
			? []
			: [insertRows(problemAlerts, write, sql`ON CONFLICT (kind) DO UPDATE SET ${replaceColumns(problemAlerts, replaced)}`)]),
		...(remove.length === 0 ? [] : [sql`DELETE FROM problem_alerts WHERE kind IN (SELECT atom FROM json_each(${JSON.stringify(remove)}))`]),
	];
	if (statements.length > 0) await runTransaction(db, statements);
}
