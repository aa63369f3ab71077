/** Writes `book:learned`: what prices are multiplied by beyond what is baked into the book. */
import { sql } from "drizzle-orm";
import { LEARNED_KEY, type LearnedWire } from "../campaign-book/learned.ts";
import type { Database } from "../db/client.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import { addOthers, FactorChoice, FactorCount, type Followed, fillLearnedKey } from "./fill-learned-key.ts";
import { pagesOfFactors } from "./read-factors.ts";
import { weighFactors } from "./weigh-factors.ts";

/** Writes the key where it has changed. Kinds of links and publishers always, then what moves the most money, half of the room shared alike. */
export async function writeLearnedKey(db: Database, kv: KVNamespace): Promise<void> {
	const count = new FactorCount();
	for await (const page of pagesOfFactors(db)) for (const factor of page) count.add(factor);
	const factors = count.all ?? (await chooseFactors(db, count.publishers));
	const [held] = await db.all<{ most: number | null }>(sql`SELECT max(CAST(steering ->> 'bidCreep' AS DOUBLE PRECISION)) AS most
		FROM learning_campaigns WHERE steering IS NOT NULL`);
	const wire = fillLearnedKey(factors, Math.max(1, held?.most ?? 1));
	addOthers(wire, await readFollowed(db, wire));
	const text = JSON.stringify(wire);
	if ((await kv.get(LEARNED_KEY)) !== text) await kv.put(LEARNED_KEY, text);
}

async function chooseFactors(db: Database, publishers: number) {
	const choice = new FactorChoice(publishers);
	for await (const page of pagesOfFactors(db)) for (const factor of await weighFactors(db, page)) choice.add(factor);
	return choice.chosen;
}

/** Of publishers in the key that say what their other sources are worth, and whose places are all taken: the sources that are followed. */
async function readFollowed(db: Database, { publishers = {} }: LearnedWire): Promise<Followed> {
	const asked = Object.keys(publishers).filter((id) => publishers[id]?.s?.[OTHER_SOURCES] !== undefined);
	const full = await db.all<{ publisherId: string; sources: number }>(sql`SELECT publisher_id AS "publisherId", count(*) AS sources
		FROM learning_sources WHERE from_day IS NOT NULL AND publisher_id IN (SELECT atom FROM json_each(${JSON.stringify(asked)}))
		GROUP BY publisher_id HAVING count(*) >= ${MAX_SOURCES}`);
	const followed = new Map<string, readonly string[]>();
	for (const { publisherId } of full) {
		const rows = await db.all<{ source: string }>(
			sql`SELECT source FROM learning_sources WHERE from_day IS NOT NULL AND publisher_id = ${publisherId}`,
		);
		followed.set(
			publisherId,
			rows.map(({ source }) => source),
		);
	}
	return followed;
}
