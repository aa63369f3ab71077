/** Of the status: closed days of publishers whose digest is to be computed. Bounded. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { isoTime } from "../../lib/time.ts";
import type { Status } from "./status-answer.ts";

/** Nothing is counted further than this: the figure then means as many or more. */
const MAX_DAYS = 10_000;

/** The statements behind the figures: for their query plans. */
export function daysQueries(): SQL[] {
	return [
		sql`SELECT selected_at AS "selectedAt" FROM day_digest_state WHERE id = 1`,
		sql`SELECT count(*) AS due, count(digest) AS renewed, MIN(day) AS oldest
			FROM (SELECT day, digest FROM day_digests WHERE due = 1 ORDER BY day, publisher_id LIMIT ${MAX_DAYS}) waiting`,
	];
}

export async function readDays(db: Database): Promise<Status["days"]> {
	const [states, waiting] = await runTransaction(db, daysQueries());
	const [{ selectedAt } = { selectedAt: 0 }] = (states?.results ?? []) as { selectedAt: number }[];
	const [{ due, renewed, oldest } = { due: 0, renewed: 0, oldest: null }] = (waiting?.results ?? []) as {
		due: number;
		renewed: number;
		oldest: string | null;
	}[];
	return {
		selected_at: selectedAt === 0 ? null : isoTime(selectedAt),
		without_digest: due - renewed,
		to_renew: renewed,
		oldest,
	};
}
