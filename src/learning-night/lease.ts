/** One run at a time: what one has read must not be written over what another has written since. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { MINUTE_MS } from "../lib/time.ts";

/** As long as an invocation of the cron may last: one that ended without giving it back holds the next ones up no longer. */
const LEASE_MS = 15 * MINUTE_MS;

/** None is given for longer: one that ends later is of a clock that was ahead. Clocks differ by less than this. */
const MAX_LEASE_MS = 2 * LEASE_MS;

/** Does the work, unless another run is at it: then nothing. */
export async function underLease(db: Database, now: number, work: () => Promise<void>): Promise<void> {
	const lease = JSON.stringify({ until: now + LEASE_MS, token: crypto.randomUUID() });
	const taken = await db.all(sql`INSERT INTO learning_work (name, value) VALUES ('lease', ${lease})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE CAST(learning_work.value ->> 'until' AS BIGINT) <= ${now}
			OR CAST(learning_work.value ->> 'until' AS BIGINT) > ${now + MAX_LEASE_MS} RETURNING name`);
	if (taken.length === 0) return;
	try {
		await work();
	} finally {
		await db.run(sql`DELETE FROM learning_work WHERE name = 'lease' AND value = ${lease}`);
	}
}
