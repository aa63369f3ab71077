/** GET /operator/status: how the network is doing, in figures that cost one look into an index each. */
import { asc, isNotNull, type SQL, sql } from "drizzle-orm";
import { MANIFEST_KEY, PAUSED_KEY, parseManifest, parsePauses } from "../../campaign-book/format.ts";
import { parseHead } from "../../campaign-book/packed/head.ts";
import { lateJobs, readJobs } from "../../cron-jobs/read-jobs.ts";
import { type Database, isPostgres } from "../../db/client.ts";
import { readSize, sizeAlertOf } from "../../db/database-size.ts";
import { callbackHealth } from "../../db/schema/callbacks.ts";
import { within } from "../../lib/async.ts";
import type { ConversionHold, QueueName, UnsettledStage } from "../../lib/enums.ts";
import { logError } from "../../lib/log.ts";
import { isoTime, isoTimeOrNull, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { findProblems } from "./find-problems.ts";
import { readDays } from "./read-days.ts";
import { readKept } from "./read-kept.ts";
import { readLedger } from "./read-ledger.ts";
import { readPaidTwice } from "./read-paid-twice.ts";
import { type ProblemFacts, readProblemFacts } from "./read-problems.ts";
import { readClickFigures, readSums } from "./read-traffic.ts";
import { readUnknownStatuses } from "./read-unknown-statuses.ts";
import type { Status } from "./status-answer.ts";

export type StatusDeps = {
	db: Database;
	products: Database;
	kv: KVNamespace;
	queues: Record<QueueName, Pick<Queue, "metrics"> | undefined>;
	now: () => number;
	/** What either database holds, where that is not D1's 10 GB. */
	maxDatabaseBytes?: number;
};

/** Nothing is counted further than this: the figure then means as many or more. */
const MAX_COUNTED = 10_000;
/** This many paused campaigns and addresses are named. */
const MAX_NAMED = 100;
/** The cron waits for the status before it writes what a queue refused: a queue, or products, that hang must not keep it. */
const ANSWER_TIMEOUT_MS = 3_000;
/** A change that waits longer to be published waits for more than its turn. */
const BOOK_LATE_MS = 5 * MINUTE_MS;

type Figures = {
	dirty: number;
	undelivered: number;
	oldest: number | null;
	overdue: number;
	exhausted: number;
	waiting: number;
	unmatched: number;
	quarantined: number;
	withoutRate: number;
	ofAmounts: number;
	forReview: number;
	ofSuspended: number;
	creditedWithoutRate: number;
	deadClicks: number;
	deadPostbacks: number;
	deadCallbacks: number;
};

export async function readStatus(deps: StatusDeps): Promise<Status> {
	const now = deps.now();
	const [
		figures,
		clickFigures,
		unknownStatuses,
		sums,
		ledger,
		days,
		jobs,
		facts,
		paidTwice,
		paused,
		databaseBytes,
		productsBytes,
		kept,
		book,
		clicks,
		postbacks,
		callbacks,
	] = await Promise.all([
		readFigures(deps.db, now),
		readClickFigures(deps.db, now),
		readUnknownStatuses(deps.db),
		readSums(deps.db),
		readLedger(deps.db),
		readDays(deps.db),
		readJobs(deps.db),
		readProblemFacts(deps.db, now),
		readPaidTwice(deps.db, now),
		readPausedAddresses(deps.db),
		readSize(deps.db),
		readProductsSize(deps.products),
		readKept(deps.db, deps.kv),
		readBook(deps.kv).then(async (found) => ({ ...found, facts: await readBookFacts(deps.db, found.manifest, now) })),
		readBacklog("clicks", deps.queues.clicks),
		readBacklog("postbacks", deps.queues.postbacks),
		readBacklog("callbacks", deps.queues.callbacks),
	]);
	const status: Omit<Status, "problems"> = {
		at: isoTime(now),
		book: book.manifest === null ? null : { ...book.manifest, age_seconds: ageSeconds(now, Date.parse(book.manifest.published_at)) },
		book_changes_waiting: figures.dirty,
		queues: { clicks, postbacks, callbacks },
		callbacks: {
			undelivered: {
				count: figures.undelivered,
				oldest_at: isoTimeOrNull(figures.oldest),
				oldest_age_seconds: figures.oldest === null ? null : ageSeconds(now, figures.oldest),
			},
			overdue: figures.overdue,
			exhausted: figures.exhausted,
			paused,
		},
		clicks: clickFigures,
		conversions: {
			waiting: figures.waiting,
			unmatched: figures.unmatched,
			quarantined: figures.quarantined,
			held_for: {
				no_rate: figures.withoutRate,
				amount: figures.ofAmounts,
				review: figures.forReview,
				publisher_suspended: figures.ofSuspended,
			},
			credited_without_rate: figures.creditedWithoutRate,
			unknown_status: unknownStatuses,
		},
		sums,
		ledger,
		days,
		cron: jobs.map(({ name, endedAt, failingSince }) => ({
			job: name,
			ended_at: isoTime(endedAt),
			failing_since: isoTimeOrNull(failingSince),
		})),
		dead_letters: { clicks: figures.deadClicks, postbacks: figures.deadPostbacks, callbacks: figures.deadCallbacks },
		kept,
		database_engine: isPostgres(deps.db) ? "postgres" : "d1",
		database_bytes: databaseBytes,
		database_alert: isPostgres(deps.db) ? null : sizeAlertOf(databaseBytes, deps.maxDatabaseBytes),
		products_bytes: productsBytes,
		products_alert: sizeAlertOf(productsBytes, deps.maxDatabaseBytes),
		paused_campaigns: { count: book.paused.length, campaigns: book.paused.slice(0, MAX_NAMED) },
	};
	return { ...status, problems: findProblems(status, { ...facts, ...book.facts }, { late: lateJobs(jobs, now), paidTwice }, now) };
}

/** The statement behind the figures of the database. Each condition is that of a partial index, word for word. */
export function figuresQuery(now: number): SQL {
	const dead = (queue: QueueName) => counted(sql`SELECT 1 FROM dead_letters WHERE replayed_at IS NULL AND queue = ${queue}`);
	// What is cancelled, or a test, is worth nothing, and needs nobody.
	const open = (stage: UnsettledStage) =>
		counted(sql`SELECT 1 FROM conversions WHERE stage <> 'settled' AND status <> 'cancelled' AND test = 0 AND stage = ${stage}`);
	const held = (why: ConversionHold) =>
		counted(sql`SELECT 1 FROM conversions WHERE stage = 'quarantined' AND status <> 'cancelled' AND test = 0 AND held_for = ${why}`);
	return sql`SELECT
		${counted(sql`SELECT 1 FROM book_dirty_slots`)} + (SELECT count(*) FROM book_state WHERE id = 1 AND (next_bits IS NOT NULL OR manifest_dirty <> 0)) AS dirty,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'due'`)} AS undelivered,
		(SELECT MIN(created_at) FROM callbacks WHERE state = 'due') AS oldest,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'due' AND max(next_attempt_at, queued_until) <= ${now}`)} AS overdue,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'exhausted'`)} AS exhausted,
		${counted(sql`SELECT 1 FROM conversions WHERE stage <> 'settled' AND stage = 'waiting'`)} AS waiting,
		${open("unmatched")} AS unmatched, ${open("quarantined")} AS quarantined,
		${held("no_rate")} AS "withoutRate", ${held("amount")} AS "ofAmounts", ${held("review")} AS "forReview",
		${held("publisher_suspended")} AS "ofSuspended",
		${counted(sql`SELECT 1 FROM conversions WHERE stage = 'quarantined' AND credited = 1 AND held_for = 'no_rate'`)} AS "creditedWithoutRate",
		${dead("clicks")} AS "deadClicks", ${dead("postbacks")} AS "deadPostbacks", ${dead("callbacks")} AS "deadCallbacks"`;
}

function counted(rows: SQL): SQL {
	return sql`(SELECT count(*) FROM (${rows} LIMIT ${MAX_COUNTED}))`;
}

function readFigures(db: Database, now: number): Promise<Figures> {
	return db.get<Figures>(figuresQuery(now));
}

async function readPausedAddresses(db: Database): Promise<Status["callbacks"]["paused"]> {
	const rows = await db
		.select()
		.from(callbackHealth)
		.where(isNotNull(callbackHealth.pausedAt))
		.orderBy(asc(callbackHealth.pausedAt))
		.limit(MAX_NAMED);
	return rows.flatMap(({ publisherId, pausedAt, failuresInARow, nextProbeAt }) => {
		if (pausedAt === null) return [];
		return [
			{
				publisher: publisherId,
				since: isoTime(pausedAt),
				failures_in_a_row: failuresInARow,
				next_probe_at: isoTimeOrNull(nextProbeAt),
			},
		];
	});
}

type Manifest = { version: number; published_at: string };

/** The book as readers find it, which may be a minute behind what was published elsewhere. */
async function readBook(kv: KVNamespace): Promise<{ manifest: Manifest | null; paused: number[] }> {
	const values = await kv.get([MANIFEST_KEY, PAUSED_KEY], "text");
	const text = values.get(MANIFEST_KEY) ?? null;
	const manifest = parseManifest(text) ?? parseHead(text);
	return {
		manifest: manifest === null ? null : { version: manifest.version, published_at: isoTime(manifest.publishedAt) },
		paused: parsePauses(values.get(PAUSED_KEY) ?? "")?.campaigns ?? [],
	};
}

/** Whether bids should know by now what was imported since their book, or have a book at all. */
async function readBookFacts(db: Database, manifest: Manifest | null, now: number): Promise<ProblemFacts> {
	const publishedAt = manifest === null ? 0 : Date.parse(manifest.published_at);
	const { version } = await db.get<{ version: number | null }>(
		sql`SELECT MIN(version) AS version FROM network_versions WHERE version > ${publishedAt}`,
	);
	// What is no import, such as a key that ended, has no time of its own.
	const late = version ?? (manifest === null ? now : publishedAt);
	if (now - late <= BOOK_LATE_MS) return {};
	// Where there is none, nobody knows since when.
	return { book_stale: { since: manifest === null ? null : version, costMicros: null } };
}

/** Null where they do not answer: neither bids nor money rest on them. */
async function readProductsSize(products: Database): Promise<number | null> {
	try {
		return await within(readSize(products), ANSWER_TIMEOUT_MS, null);
	} catch (error) {
		logError("status.products_unknown", error);
		return null;
	}
}

async function readBacklog(name: QueueName, queue: Pick<Queue, "metrics"> | undefined): Promise<Status["queues"][QueueName]> {
	if (queue === undefined) return null;
	try {
		const metrics = await within(queue.metrics(), ANSWER_TIMEOUT_MS, null);
		if (metrics === null) throw new Error("the queue did not answer in time");
		const { backlogCount, oldestMessageTimestamp } = metrics;
		return { messages: backlogCount, oldest_at: oldestMessageTimestamp?.toISOString() ?? null };
	} catch (error) {
		logError("status.queue_unknown", error, { queue: name });
		return null;
	}
}

function ageSeconds(now: number, at: number): number {
	return Math.max(0, Math.floor((now - at) / SECOND_MS));
}
