/** Which sources a night learns of singly: all of them, unless they are more than it holds in memory. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { WEEK_DAYS } from "../learning/fold.ts";
import { pairKey } from "../learning/traffic.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";

/** Many times as many as `book:learned` has room for. A night needs about 2 KB for each. */
const MAX_IN_MEMORY = 20_000;

/** By `pairKey` of publisher and source; the others of a publisher are taken together. Null: all. */
export type FollowedSources = ReadonlySet<string> | null;

/** Those with the most clicks of the last week before a day. @param most how many, where there are more */
export async function chooseFollowed(db: Database, day: number, most = MAX_IN_MEMORY): Promise<FollowedSources> {
	const [known] = await db.all<{ count: number }>(sql`SELECT count(*) AS count FROM learning_sources`);
	if ((known?.count ?? 0) <= most) return null;
	const rows = await db.all<{ publisherId: string; source: string }>(sql`SELECT publisher_id AS "publisherId", source FROM learning_clicks
		WHERE day >= ${day - WEEK_DAYS} AND day < ${day} GROUP BY publisher_id, source
		ORDER BY sum(clicks) DESC, publisher_id, source LIMIT ${most}`);
	return new Set(rows.map(({ publisherId, source }) => pairKey(publisherId, source)));
}

/** Keeps the choice of a night, which may be cut off: all of its passes go by the same. */
export function keepFollowed(followed: FollowedSources): SQL[] {
	const pairs = followed === null ? [] : [...followed].map((key) => key.split("\u0000"));
	const parts = splitByBytes(pairs).map((part, at) => {
		const name = partName("followed", at);
		return sql`INSERT INTO learning_work (name, value) VALUES (${name}, ${JSON.stringify(part)})`;
	});
	return [forgetFollowed(), ...parts];
}

export function forgetFollowed(): SQL {
	return sql`DELETE FROM learning_work WHERE name LIKE 'followed %'`;
}

export async function readFollowed(db: Database): Promise<FollowedSources> {
	const parts = await db.all<{ value: string }>(sql`SELECT value FROM learning_work WHERE name LIKE 'followed %' ORDER BY name`);
	if (parts.length === 0) return null;
	const pairs = parts.flatMap(({ value }) => JSON.parse(value) as [publisherId: string, source: string][]);
	return new Set(pairs.map(([publisherId, source]) => pairKey(publisherId, source)));
}

const PART_DIGITS = 6;

/** The name in `learning_work` of the parts of something that one row has no room for: in the order of their numbers. */
export function partName(of: "followed" | "traffic", at: number): string {
	return `${of} ${String(at).padStart(PART_DIGITS, "0")}`;
}
