/** Of the status: the campaign book as bids find it. */
import { sql } from "drizzle-orm";
import { MANIFEST_KEY, PAUSED_KEY, parseManifest, parsePauses } from "../../campaign-book/format.ts";
import { parseHead } from "../../campaign-book/packed/head.ts";
import type { Database } from "../../db/client.ts";
import { ageSeconds, isoTime, MINUTE_MS } from "../../lib/time.ts";
import type { ProblemFacts } from "./read-problems.ts";
import type { Status } from "./status-answer.ts";

/** A change that waits longer to be published waits for more than its turn. */
const BOOK_LATE_MS = 5 * MINUTE_MS;
/** This many paused campaigns are named. */
const MAX_NAMED = 100;

type Shown = Pick<Status, "book" | "paused_campaigns"> & { problems: ProblemFacts };

/** As readers find it, which may be a minute behind what was published elsewhere. */
export async function readBook(db: Database, kv: KVNamespace, now: number): Promise<Shown> {
	const values = await kv.get([MANIFEST_KEY, PAUSED_KEY], "text");
	const text = values.get(MANIFEST_KEY) ?? null;
	const head = parseManifest(text) ?? parseHead(text);
	const paused = parsePauses(values.get(PAUSED_KEY) ?? "")?.campaigns ?? [];
	return {
		book:
			head === null
				? null
				: { version: head.version, published_at: isoTime(head.publishedAt), age_seconds: ageSeconds(head.publishedAt, now) },
		paused_campaigns: { count: paused.length, campaigns: paused.slice(0, MAX_NAMED) },
		problems: await findStale(db, head?.publishedAt ?? null, now),
	};
}

/** Whether bids should know by now what was imported since their book, or have a book at all. */
async function findStale(db: Database, publishedAt: number | null, now: number): Promise<ProblemFacts> {
	const { version } = await db.get<{ version: number | null }>(
		sql`SELECT MIN(version) AS version FROM network_versions WHERE version > ${publishedAt ?? 0}`,
	);
	// What is no import, such as a key that ended, has no time of its own.
	const late = version ?? publishedAt ?? now;
	if (now - late <= BOOK_LATE_MS) return {};
	// Where there is none, nobody knows since when.
	return { book_stale: { since: publishedAt === null ? null : version, costMicros: null } };
}
