import { env } from "cloudflare:workers";
import { type SQL, sql } from "drizzle-orm";
import { openDatabase } from "../../src/db/client.ts";

/** The steps by which D1 answers a statement, such as `SEARCH c USING INDEX clicks_by_void (voided_by=?)`. */
export async function planOf(statement: SQL): Promise<string[]> {
	const plan = await openDatabase(env.DB).all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${statement}`);
	return plan.map(({ detail }) => detail);
}
