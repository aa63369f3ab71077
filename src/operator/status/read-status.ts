/** GET /operator/status: how the network is doing, in figures that cost one look into an index each. */
import { asc, isNotNull } from "drizzle-orm";
import { lateJobs, readJobs } from "../../cron-jobs/read-jobs.ts";
import { type Database, isPostgres } from "../../db/client.ts";
import { readSize, sizeAlertOf } from "../../db/database-size.ts";
import { callbackHealth } from "../../db/schema/callbacks.ts";
import { within } from "../../lib/async.ts";
import type { QueueName } from "../../lib/enums.ts";
import { logError } from "../../lib/log.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { findProblems } from "./find-problems.ts";
import { readBook } from "./read-book.ts";
import { readDays } from "./read-days.ts";
import { readFigures } from "./read-figures.ts";
import { readKept } from "./read-kept.ts";
import { readLedger } from "./read-ledger.ts";
import { readPaidTwice } from "./read-paid-twice.ts";
import { readProblemFacts } from "./read-problems.ts";
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

/** This many paused addresses are named. */
const MAX_NAMED = 100;
/** The cron waits for the status before it writes what a queue refused: a queue, or products, that hang must not keep it. */
const ANSWER_TIMEOUT_MS = 3_000;

export async function readStatus(deps: StatusDeps): Promise<Status> {
	const now = deps.now();
	const [ofLedger, ofStores] = await Promise.all([readLedgerFigures(deps.db, now), readStores(deps, now)]);
	const [figures, paused, unknownStatuses, clicks, sums, ledger, days, jobs, facts, paidTwice] = ofLedger;
	const [sizes, book, kept, queues] = ofStores;
	const status: Omit<Status, "problems"> = {
		at: isoTime(now),
		book: book.book,
		book_changes_waiting: figures.book_changes_waiting,
		queues,
		callbacks: { ...figures.callbacks, paused },
		clicks,
		conversions: { ...figures.conversions, unknown_status: unknownStatuses },
		sums,
		ledger,
		days,
		cron: jobs.map(({ name, endedAt, failingSince }) => ({
			job: name,
			ended_at: isoTime(endedAt),
			failing_since: isoTimeOrNull(failingSince),
		})),
		dead_letters: figures.dead_letters,
		kept,
		...sizes,
		paused_campaigns: book.paused_campaigns,
	};
	return { ...status, problems: findProblems(status, { ...facts, ...book.problems }, { late: lateJobs(jobs, now), paidTwice }, now) };
}

/** What the network's database knows, each in one look. */
function readLedgerFigures(db: Database, now: number) {
	return Promise.all([
		readFigures(db, now),
		readPausedAddresses(db),
		readUnknownStatuses(db),
		readClickFigures(db, now),
		readSums(db),
		readLedger(db),
		readDays(db),
		readJobs(db),
		readProblemFacts(db, now),
		readPaidTwice(db, now),
	]);
}

/** How full databases and queues are, and what KV has. */
function readStores({ db, products, kv, queues, maxDatabaseBytes }: StatusDeps, now: number) {
	return Promise.all([readSizes(db, products, maxDatabaseBytes), readBook(db, kv, now), readKept(db, kv), readBacklogs(queues)]);
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

type Sizes = Pick<Status, "database_engine" | `${"database" | "products"}_${"bytes" | "alert"}`>;

async function readSizes(db: Database, products: Database, maxBytes?: number): Promise<Sizes> {
	const [databaseBytes, productsBytes] = await Promise.all([readSize(db), readProductsSize(products)]);
	return {
		database_engine: isPostgres(db) ? "postgres" : "d1",
		database_bytes: databaseBytes,
		database_alert: isPostgres(db) ? null : sizeAlertOf(databaseBytes, maxBytes),
		products_bytes: productsBytes,
		products_alert: sizeAlertOf(productsBytes, maxBytes),
	};
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

async function readBacklogs(queues: StatusDeps["queues"]): Promise<Status["queues"]> {
	const [clicks, postbacks, callbacks] = await Promise.all([
		readBacklog("clicks", queues.clicks),
		readBacklog("postbacks", queues.postbacks),
		readBacklog("callbacks", queues.callbacks),
	]);
	return { clicks, postbacks, callbacks };
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
