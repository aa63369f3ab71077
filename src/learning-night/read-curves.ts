import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { DelayRow } from "../learning/cohorts.ts";
import type { DelayCurves } from "../learning/delay-curve.ts";
import { learnCurves } from "../learning/learn-delays.ts";
import { readPriorCurves } from "./policies.ts";

/** The delay curves of all platforms, one platform's rows at a time. */
export async function readCurves(db: Database, today: number): Promise<Map<string, DelayCurves>> {
	const curves = new Map<string, DelayCurves>();
	for (const [platform, prior] of await readPriorCurves(db)) {
		const rows = await db.all<DelayRow>(sql`SELECT platform, day, lag, arrivals, reversals FROM learning_delays
			WHERE platform = ${platform} ORDER BY day, lag`);
		curves.set(platform, learnCurves(rows, today, prior));
	}
	return curves;
}
