/**
 * Staging: validated rows wait in `import_rows` until one transaction takes them over as a whole. This keeps an import of any
 * size all or nothing, with bounded memory, inside D1's limits on statements and parameters.
 */
import { eq, lt, type SQLWrapper, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { writeRow } from "../../db/json-rows.ts";
import { importRows } from "../../db/schema/imports.ts";
import { HOUR_MS } from "../../lib/time.ts";

/** Bytes of JSON put into one parameter, and a row: D1 takes 2 MB. */
const CHUNK_BYTES = 1_500_000;
/** Rows of an import that broke off are removed after this long. */
const ABANDONED_AFTER_MS = HOUR_MS;

export type RowStage = {
	readonly importId: string;
	/** Whether anything was written: a stage that was not used has not touched its database. */
	isUsed(): boolean;
	/** Queues a row; writes a chunk when one is full. */
	add(section: string, row: Record<string, unknown>): Promise<void>;
	/** Writes what is queued. */
	flush(): Promise<void>;
	/** Removes everything that was staged. */
	discard(): Promise<void>;
};

/** Opens a stage. Its first rows also remove what imports that broke off have left. */
export function openStage(db: Database, importId: string, startedAt: number): RowStage {
	let isUsed = false;
	const queues = new Map<string, { rows: string[]; bytes: number }>();
	let seq = 0;

	/** Writes what waits of these sections, in one call. */
	async function write(sections: readonly string[]): Promise<void> {
		const statements: SQLWrapper[] = isUsed ? [] : [db.delete(importRows).where(lt(importRows.startedAt, startedAt - ABANDONED_AFTER_MS))];
		for (const section of sections) {
			const rows = queues.get(section)?.rows ?? [];
			queues.delete(section);
			statements.push(
				sql`INSERT INTO import_rows (import_id, started_at, section, seq, row)
					SELECT ${importId}, CAST(${startedAt} AS BIGINT), ${section}, ${seq} + key, value FROM json_each(${`[${rows.join(",")}]`})`,
			);
			seq += rows.length;
		}
		isUsed = true;
		await runTransaction(db, statements);
	}

	return {
		importId,
		isUsed: () => isUsed,
		async add(section, row) {
			const text = writeRow(row);
			const queue = queues.get(section) ?? { rows: [], bytes: 0 };
			queues.set(section, queue);
			queue.rows.push(text);
			queue.bytes += mostBytes(text) + 1;
			if (queue.bytes >= CHUNK_BYTES) await write([section]);
		},
		async flush() {
			// Together no more than one that is full.
			let together: string[] = [];
			let bytes = 0;
			for (const [section, queue] of [...queues]) {
				if (bytes + queue.bytes > CHUNK_BYTES && together.length > 0) {
					await write(together);
					together = [];
					bytes = 0;
				}
				together.push(section);
				bytes += queue.bytes;
			}
			if (together.length > 0) await write(together);
		},
		async discard() {
			queues.clear();
			if (isUsed) await db.delete(importRows).where(eq(importRows.importId, importId));
		},
	};
}

/** No character of JavaScript's takes more than three bytes. */
function mostBytes(text: string): number {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII takes one byte
	return /^[\u0000-\u007f]*$/.test(text) ? text.length : text.length * 3;
}
