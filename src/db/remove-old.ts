/** What is kept for a time only. Sums, conversions and their events, and the clicks that conversions came of, stay for good. */
import { sql } from "drizzle-orm";
import { logInfo } from "../lib/log.ts";
import { DAY_MS } from "../lib/time.ts";
import { type Database, runTransaction } from "./client.ts";
import { retention } from "./schema/retention.ts";

type Rule = {
	name: string;
	/** A table whose `id` is time-ordered. */
	table: "clicks" | "postback_intake" | "callback_attempts";
	days: number;
	/** Which of the old rows go. */
	goes: string;
};

const WITHOUT_CONVERSION = "NOT EXISTS (SELECT 1 FROM conversions v WHERE v.click_id = clicks.id)";

/** Click-level reports reach back as far as billed clicks are kept; repeats, bots and the like are for traces, and for sales that
 * come of an expired link: networks report those for some months. */
export const RETENTION: readonly Rule[] = [
	{ name: "uncounted clicks", table: "clicks", days: 120, goes: `reason IS NOT NULL AND ${WITHOUT_CONVERSION}` },
	{ name: "clicks", table: "clicks", days: 400, goes: WITHOUT_CONVERSION },
	{ name: "intake of unknown keys", table: "postback_intake", days: 7, goes: "outcome = 'unknown_key'" },
	{ name: "intake", table: "postback_intake", days: 400, goes: "true" },
	{ name: "callback attempts", table: "callback_attempts", days: 180, goes: "true" },
];

/** Rows that one run looks at for each rule: the transaction stays short, and money waits for no cleaning. */
export const LOOKED_AT_A_RUN = 2_000;

/** Removes the next old rows by each rule. A run that is broken off changes nothing of what it had not finished. */
export async function removeOld(db: Database, now: number): Promise<void> {
	const cursors = new Map((await db.select().from(retention)).map(({ name, cursor }) => [name, cursor]));
	for (const { name, table, days, goes } of RETENTION) {
		const from = sql.raw(table);
		const rows = await db.all<{ id: string }>(
			sql`SELECT id FROM ${from} WHERE id > ${cursors.get(name) ?? ""} AND id < ${idAt(now - days * DAY_MS)} ORDER BY id LIMIT ${LOOKED_AT_A_RUN}`,
		);
		const last = rows.at(-1);
		if (last === undefined) continue;
		const ids = JSON.stringify(rows.map(({ id }) => id));
		const [removed] = await runTransaction(db, [
			sql`DELETE FROM ${from} WHERE id IN (SELECT value FROM json_each(${ids})) AND ${sql.raw(goes)}`,
			sql`INSERT INTO ${retention} (name, cursor) VALUES (${name}, ${last.id}) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`,
		]);
		logInfo("retention.removed", { what: name, looked_at: rows.length, removed: removed?.meta.changes ?? 0 });
	}
}

/** The smallest id that a row of this time can have. */
function idAt(at: number): string {
	const time = Math.max(0, at).toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}`;
}
