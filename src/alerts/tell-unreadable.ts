/**
 * Tells the operator that the status cannot be read, and that it can be again. What is known between two looks is in KV, since it may be
 * the database that does not answer.
 */
import { logError, logInfo } from "../lib/log.ts";
import { type AlertRow, decideAlerts } from "./decide-alerts.ts";
import { sendAlert, type Webhook } from "./send-alert.ts";

export const UNREADABLE = "status_unreadable";
const KEY = "alert:unreadable";

export const UNREADABLE_PROBLEM = {
	kind: UNREADABLE,
	text: "the status cannot be read, since the database or KV does not answer: the log says why (cron.failed)",
	since: null,
	count: 1,
	cost: null,
	command: null,
};

/** @throws KV's error */
export async function tellUnreadable(kv: KVNamespace, webhook: Webhook, isUnreadable: boolean, newId: () => string): Promise<void> {
	const stored = await kv.get<AlertRow>(KEY, "json");
	const now = webhook.now();
	const { write, remove } = decideAlerts(stored === null ? [] : [stored], isUnreadable ? [UNREADABLE_PROBLEM] : [], now, newId);
	if (remove.length > 0) return kv.delete(KEY);
	const row = write[0] ?? stored;
	if (row === null) return;
	const next = row.body === null ? row : await send(webhook, row, row.body);
	if (JSON.stringify(next) !== JSON.stringify(stored)) await kv.put(KEY, JSON.stringify(next));
}

/** The row after a try; one that failed is made again by the next look. */
async function send(webhook: Webhook, row: AlertRow, body: string): Promise<AlertRow> {
	const tries = row.tries + 1;
	const fault = await sendAlert(webhook, row.messageId ?? "", body);
	if (fault !== null) {
		logError("alerts.failed", new Error(fault), { problem: row.kind, tries });
		return { ...row, tries };
	}
	logInfo("alerts.sent", { problem: row.kind, standing: row.standing });
	return { ...row, tries, told: row.standing, body: null };
}
