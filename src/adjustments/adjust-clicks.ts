/** Voids clicks, and gives them back: chunk by chunk, so that a request that is cut off has done whole chunks, and goes on when it is asked again. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { OvertakenError } from "../db/overtaken.ts";
import { type Adjustment, reread } from "./adjustment-rows.ts";
import { type Change, NO_CHANGE } from "./deps.ts";
import { restoreClicks, voidClicks } from "./move-clicks.ts";
import { CHUNK_CLICKS, lookAhead, readChunk, readVoided, type Selection } from "./select-clicks.ts";

/** Chunks, and stretches of clicks looked at, of one request: an invocation has 1,000 statements, and a chunk is twenty of them. */
export const MAX_CHUNKS = 36;
export const MAX_LOOKS = 200;
/** Clicks that one request takes back, or gives back. */
export const MAX_CLICKS_MOVED = MAX_CHUNKS * CHUNK_CLICKS;
/** A preview writes nothing. */
const MAX_LOOKS_OF_PREVIEW = 400;
/** Stretches in which nothing is selected, after which it is noted how far they come. */
const LOOKS_A_NOTE = 20;

/** Takes the selected clicks back, from where the adjustment has come to. */
export async function voidAll(db: Database, { id, cursor: begun }: Adjustment, selection: Selection): Promise<Adjustment> {
	let cursor = begun ?? "";
	let chunks = 0;
	const note = () => db.run(sql`UPDATE adjustments SET cursor = ${cursor} WHERE id = ${id} AND cursor IS NOT NULL`);
	const take = async () => {
		for (let looks = 0; looks < MAX_LOOKS && chunks < MAX_CHUNKS; looks++) {
			const { last, clicks } = await lookAhead(db, selection, cursor);
			if (last === null) return endAdjustment(db, id);
			for (let more = clicks > 0; more && chunks < MAX_CHUNKS; chunks++) {
				const chunk = await readChunk(db, selection, cursor, last);
				more = chunk.length === CHUNK_CLICKS;
				cursor = more ? (chunk.at(-1)?.id ?? last) : last;
				await voidClicks(db, { adjustmentId: id, voidId: id, chunk, cursor });
			}
			if (clicks > 0) continue;
			cursor = last;
			if (looks % LOOKS_A_NOTE === LOOKS_A_NOTE - 1) await note();
		}
		await note();
	};
	return untilEnded(db, id, take);
}

/** Gives back what an adjustment took. @param undoing the one that does so */
export async function restoreAll(db: Database, { id }: Adjustment, voidId: string): Promise<Adjustment> {
	const give = async () => {
		for (let chunks = 0; chunks < MAX_CHUNKS; chunks++) {
			const chunk = await readVoided(db, voidId);
			const last = chunk.at(-1);
			if (last === undefined) return endAdjustment(db, id);
			await restoreClicks(db, { adjustmentId: id, voidId, chunk, cursor: last.id });
		}
	};
	return untilEnded(db, id, give);
}

export async function endAdjustment(db: Database, id: string): Promise<void> {
	await db.run(sql`UPDATE adjustments SET cursor = NULL WHERE id = ${id}`);
}

/** Works on an adjustment; one that was undone meanwhile, or that another request has brought to its end, is over. */
export async function untilEnded(db: Database, id: string, work: () => Promise<void>): Promise<Adjustment> {
	try {
		await work();
	} catch (error) {
		const present = await reread(db, id);
		if (error instanceof OvertakenError && present.cursor === null) return present;
		throw error;
	}
	return reread(db, id);
}

/** What voiding a selection would change; `complete` is false where there is more than one request looks at. */
export async function previewVoid(db: Database, selection: Selection): Promise<Change> {
	const change = { ...NO_CHANGE };
	let cursor = selection.after;
	for (let looks = 0; looks < MAX_LOOKS_OF_PREVIEW; looks++) {
		const { last, clicks, revenueMicros } = await lookAhead(db, selection, cursor);
		if (last === null) return change;
		cursor = last;
		change.clicks += clicks;
		change.publisherRevenueMicros -= revenueMicros;
	}
	return { ...change, complete: false };
}

/** What giving back would change. */
export async function countVoided(db: Database, voidId: string): Promise<Change> {
	const [voided] = await db.all<{ clicks: number; revenueMicros: number }>(
		sql`SELECT count(*) AS clicks, coalesce(sum(revenue_micros), 0) AS "revenueMicros" FROM clicks
			WHERE voided_by = ${voidId} AND reason = 'voided'`,
	);
	return { ...NO_CHANGE, clicks: voided?.clicks ?? 0, publisherRevenueMicros: voided?.revenueMicros ?? 0 };
}
