/** The delay curves of all platforms, from their publishers' conversions. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { type DelayRow, OTHER_PUBLISHERS } from "../learning/cohorts.ts";
import type { PlatformCurves } from "../learning/delay-curve.ts";
import { MAX_FOLLOWED_DELAYS, PlatformDelays } from "../learning/platform-delays.ts";
import { readPriorCurves } from "./policies.ts";

/** What one statement reads, but for a publisher that has more: at most as many as it has days and lags. */
const ROWS_A_READ = 20_000;

/** @param most publishers that are followed singly, see MAX_FOLLOWED_DELAYS */
export async function readCurves(db: Database, today: number, most = MAX_FOLLOWED_DELAYS): Promise<Map<string, PlatformCurves>> {
	type Followed = { platform: string; publisher: string; rows: number };
	const followed = await db.all<Followed>(sql`SELECT platform, publisher_id AS publisher, count(*) AS rows
		FROM learning_publisher_delays GROUP BY platform, publisher_id
		ORDER BY sum(arrivals) DESC, platform, publisher_id LIMIT ${most}`);
	const byPlatform = Map.groupBy(followed, ({ platform }) => platform);
	const curves = new Map<string, PlatformCurves>();
	for (const [platform, prior] of await readPriorCurves(db)) {
		const delays = new PlatformDelays();
		const own = byPlatform.get(platform) ?? [];
		for (const part of splitByRows(own)) {
			delays.add(
				await db.all<DelayRow>(sql`SELECT d.publisher_id AS publisher, d.day, d.lag, d.arrivals, d.reversals
					FROM json_each(${JSON.stringify(part)}) p CROSS JOIN learning_publisher_delays d
					WHERE d.platform = ${platform} AND d.publisher_id = p.atom ORDER BY d.publisher_id, d.day, d.lag`),
			);
		}
		// While none is left out there are no others.
		if (followed.length === most) delays.add(await readOthers(db, platform, own));
		curves.set(platform, delays.learn(today, prior));
	}
	return curves;
}

function readOthers(db: Database, platform: string, followed: readonly { publisher: string }[]): Promise<DelayRow[]> {
	const names = JSON.stringify(followed.map(({ publisher }) => publisher));
	return db.all<DelayRow>(sql`SELECT ${OTHER_PUBLISHERS} AS publisher, day, lag, sum(arrivals) AS arrivals, sum(reversals) AS reversals
		FROM learning_publisher_delays WHERE platform = ${platform} AND publisher_id NOT IN (SELECT atom FROM json_each(${names}))
		GROUP BY day, lag ORDER BY day, lag`);
}

function splitByRows(followed: readonly { publisher: string; rows: number }[]): string[][] {
	const parts: string[][] = [];
	let rows = Number.POSITIVE_INFINITY;
	for (const each of followed) {
		if (rows + each.rows > ROWS_A_READ) {
			parts.push([]);
			rows = 0;
		}
		parts.at(-1)?.push(each.publisher);
		rows += each.rows;
	}
	return parts;
}
