/**
 * Staging: validated rows wait in `import_rows` until one transaction takes them over as a whole. This keeps an import of any
 * size all or nothing, with bounded memory, inside D1's limits on statements and parameters.
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Database, runLongTransaction, runTransaction } from "../../db/client.ts";
import { writeRow } from "../../db/json-rows.ts";
import { invalidInput } from "../../http/errors.ts";
import { bytesOf } from "../../lib/split-by-bytes.ts";
import { HOUR_MS } from "../../lib/time.ts";

/** Bytes of JSON put into one parameter. */
const CHUNK_BYTES = 1_500_000;
/** The most of one row: D1 takes 2 MB as one value. PostgreSQL would take more, but a network can be moved. */
const MAX_ROW_BYTES = 1_950_000;
/** Rows of an import that broke off are removed after this long. */
const ABANDONED_AFTER_MS = HOUR_MS;
/** Rows that are removed by one statement: a large import has a million. */
const REMOVED_AT_ONCE = 100_000;

export type RowStage = {
	readonly importId: string;
	/** Whether anything was written: a stage that was not used has not touched its database. */
	isUsed(): boolean;
	/**
	 * Queues a row; writes a chunk when one is full.
	 * @param name tells whose row it is
	 * @throws HttpError 422 where the row holds more than the database takes
	 */
	add(section: string, row: Record<string, unknown>, name?: string): Promise<void>;
	/** Writes what is queued. */
	flush(): Promise<void>;
	/** Removes everything that was staged. */
	discard(): Promise<void>;
};

/** Opens a stage. Its first calls also remove what imports that broke off have left. */
export function openStage(db: Database, importId: string, startedAt: number): RowStage {
	let isUsed = false;
	let hasAbandoned = true;
	const queues = new Map<string, { rows: string[]; bytes: number }>();
	let seq = 0;

	/** Writes what waits of these sections, in one call. */
	async function write(sections: readonly string[]): Promise<void> {
		const statements: SQLWrapper[] = hasAbandoned ? [removeSome(sql`started_at < CAST(${startedAt - ABANDONED_AFTER_MS} AS BIGINT)`)] : [];
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
		// Several take their turn among those who write, which another import may have for longer than a request waits.
		const [first] = await (statements.length === 1 ? runTransaction : runLongTransaction)(db, statements);
		hasAbandoned &&= first?.meta.changes === REMOVED_AT_ONCE;
	}

	return {
		importId,
		isUsed: () => isUsed,
		async add(section, row, name = section) {
			const text = writeRow(row);
			const bytes = mostBytes(text) + 1;
			if (bytes > MAX_ROW_BYTES && bytesOf(text) > MAX_ROW_BYTES)
				throw invalidInput([
					{ path: name, message: `is too large: at most ${MAX_ROW_BYTES} bytes are stored of an entry, or of a change to it` },
				]);
			// What waits must not grow past what fits by a row that is large itself.
			const waiting = queues.get(section)?.bytes ?? 0;
			if (waiting > 0 && waiting + bytes > CHUNK_BYTES) await write([section]);
			const queue = queues.get(section) ?? { rows: [], bytes: 0 };
			queues.set(section, queue);
			queue.rows.push(text);
			queue.bytes += bytes;
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
			if (!isUsed) return;
			const own = removeSome(sql`import_id = ${importId}`);
			while ((await db.run(own)).meta.changes === REMOVED_AT_ONCE);
		},
	};
}

/**
 * Up to the row that is the last of those that may go: told by one row rather than by a list, since to PostgreSQL this table is empty where
 * it was when it was last analysed, and a list of thousands would then be made again for each row.
 */
function removeSome(condition: SQL): SQL {
	return sql`DELETE FROM import_rows WHERE ${condition} AND (import_id, section, seq) <= (
		SELECT import_id, section, seq FROM (
			SELECT import_id, section, seq FROM import_rows WHERE ${condition} ORDER BY import_id, section, seq LIMIT ${REMOVED_AT_ONCE}) AS gone
		ORDER BY import_id DESC, section DESC, seq DESC LIMIT 1)`;
}

/** No character of JavaScript's takes more than three bytes. */
function mostBytes(text: string): number {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII takes one byte
	return /^[\u0000-\u007f]*$/.test(text) ? text.length : text.length * 3;
}
