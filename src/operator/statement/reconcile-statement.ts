/**
 * Compares a platform's own statement with the ledger, and applies what it says otherwise as postbacks. A file is applied once: its
 * postbacks count as received when it was first applied, under ids made of the file and the transaction, so that one that was cut off goes
 * on, and nothing that came since is overruled.
 */
import { sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { RECEIVED } from "../../conversions/answers.ts";
import { type Postback, type ReceivedPostback, STATEMENT } from "../../conversions/message.ts";
import { type SettleDeps, settlePostbacks } from "../../conversions/settle-postbacks.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { isConstraintError } from "../../db/overtaken.ts";
import { statements } from "../../db/schema/statements.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import type { DateOrder } from "../../lib/enums.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { logInfo } from "../../lib/log.ts";
import { formatUsd } from "../../lib/money.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { compareStatement, DIFFERENCE_KINDS, type Difference } from "./compare-statement.ts";
import type { ColumnMapping } from "./layouts.ts";
import { periodOf, readLedger, readPlatform } from "./read-ledger.ts";
import { readStatement, type Statement } from "./read-statement.ts";
import type { DifferenceCounts, Reconciled } from "./statement-answers.ts";

/** Postbacks that a request applies, or tells the worth of: an invocation has 1,000 statements, and a chunk is some fifteen. */
const MAX_APPLIED = 1_000;
const CHUNK = 50;
const MAX_SHOWN = 1_000;
const MAX_FAULTS = 100;

export type ReconcileRequest = {
	/** platforms.id. */
	platform: string;
	/** The file. */
	text: string;
	mapping: ColumnMapping;
	dateOrder: DateOrder | null;
	apply: boolean;
};

type Stored = Pick<typeof statements.$inferSelect, "at" | "completedAt" | "appliedCount">;

/** @throws HttpError 422 where the file cannot be read, or there is no such platform */
export async function reconcileStatement(deps: SettleDeps, actor: Actor, request: ReconcileRequest): Promise<Reconciled> {
	const { db } = deps;
	const { platform, text, mapping, dateOrder, apply } = request;
	const stated = await readPlatform(db, platform);
	const statement = readStatement(text, mapping, dateOrder, deps.now(), stated);
	if (!("sales" in statement)) throw invalidInput(statement.faults);
	const hash = await sha256Hex(JSON.stringify([mapping, dateOrder, text]));
	const ledger = await readLedger(db, stated, statement.sales);
	const differences = compareStatement(statement.sales, ledger, statement.unread);
	const counts = countKinds(differences);
	const known = await readStored(db, platform, hash);
	const isDone = known !== null && known.completedAt !== null;
	const stored = apply && !isDone ? (known ?? (await open(deps, actor, request, hash, statement, counts))) : known;
	const all = isDone ? [] : differences.flatMap(({ postback }) => (postback === null ? [] : [postback]));
	const left = stored === null ? all.map((postback) => ({ postback, id: "" })) : await leaveOutApplied(db, hash, stored.at, all);
	const now = left.slice(0, MAX_APPLIED);
	const total = await settleAll(deps, request, hash, stored?.at ?? deps.now(), now);
	const complete = left.length === now.length && !ledger.isCut;
	const isEnd = apply && !isDone && left.length === now.length;
	const completedAt = isEnd ? deps.now() : (stored?.completedAt ?? null);
	if (isEnd)
		await db.run(
			sql`UPDATE statements SET completed_at = ${completedAt} WHERE platform = ${platform} AND hash = ${hash} AND completed_at IS NULL`,
		);
	const period = periodOf(statement.sales);
	logInfo("statement.reconciled", { platform, hash, differences: differences.length, apply, conversions: total.conversions });
	return {
		platform,
		hash,
		layout: statement.layout,
		rows: statement.rowCount,
		transactions: statement.sales.length,
		faults: statement.faults.slice(0, MAX_FAULTS),
		fault_count: statement.faults.length,
		from: period === null ? null : isoTime(period.fromAt),
		to: period === null ? null : isoTime(period.toAt),
		counts,
		data: differences.slice(0, MAX_SHOWN).map((difference) => showDifference(difference, isDone)),
		applied: (stored?.appliedCount ?? 0) + (apply ? total.fresh : 0),
		conversions: total.conversions,
		publisher_revenue: formatUsd(total.publisherRevenueMicros),
		gross_revenue: formatUsd(total.grossMicros),
		applied_at: isoTimeOrNull(completedAt),
		complete,
		dry_run: !apply,
	};
}

type Total = { fresh: number; conversions: number; publisherRevenueMicros: number; grossMicros: number };

async function settleAll(
	deps: SettleDeps,
	{ platform, apply }: ReconcileRequest,
	hash: string,
	at: number,
	sales: readonly { postback: Postback; id: string }[],
): Promise<Total> {
	const total: Total = { fresh: 0, conversions: 0, publisherRevenueMicros: 0, grossMicros: 0 };
	for (let start = 0; start < sales.length; start += CHUNK) {
		const items = sales
			.slice(start, start + CHUNK)
			.map(({ postback, id }, of) => toMessage(platform, hash, at, postback, id || `${leastIdAt(at)}-${start + of}`));
		const settled = await settlePostbacks(deps, items, {
			dryRun: !apply,
			alongside: ({ fresh }) => [
				sql`UPDATE statements SET applied_count = applied_count + ${fresh} WHERE platform = ${platform} AND hash = ${hash}`,
			],
		});
		total.fresh += settled.fresh;
		total.conversions += settled.changed;
		total.publisherRevenueMicros += settled.publisherRevenueMicros;
		total.grossMicros += settled.grossMicros;
	}
	return total;
}

async function readStored(db: Database, platform: string, hash: string): Promise<Stored | null> {
	const [stored] = await db.all<Stored>(sql`SELECT at, completed_at AS "completedAt", applied_count AS "appliedCount"
		FROM statements WHERE platform = ${platform} AND hash = ${hash}`);
	return stored ?? null;
}

/** Keeps the file's hash before anything of it is applied; of two requests with the same file, the first one's time counts. */
async function open(
	{ db, now }: SettleDeps,
	actor: Actor,
	{ platform }: ReconcileRequest,
	hash: string,
	{ layout, rowCount }: Statement,
	counts: DifferenceCounts,
): Promise<Stored> {
	const at = now();
	try {
		await runTransaction(db, [
			insertRows(statements, [{ platform, hash, at, actor: actor.name, layout, rowCount, report: JSON.stringify(counts) }]),
			auditStatement(actor, at, {
				verb: "reconcileStatement",
				subjectKind: "platform",
				subjectId: platform,
				after: { hash, layout },
				counts: { rows: rowCount, ...counts },
			}),
		]);
	} catch (error) {
		if (!isConstraintError(error)) throw error;
	}
	const stored = await readStored(db, platform, hash);
	if (stored === null) throw new Error("a statement that was kept is gone");
	return stored;
}

/** Those that are not in the intake yet, with the ids that they get there. */
async function leaveOutApplied(
	db: Database,
	hash: string,
	at: number,
	postbacks: readonly Postback[],
): Promise<{ postback: Postback; id: string }[]> {
	const withIds = await Promise.all(postbacks.map(async (postback) => ({ postback, id: await idOf(hash, at, postback.txnid) })));
	const stored = new Set<string>();
	for (let start = 0; start < withIds.length; start += MAX_APPLIED) {
		const ids = JSON.stringify(withIds.slice(start, start + MAX_APPLIED).map(({ id }) => id));
		const rows = await db.all<{ id: string }>(sql`SELECT i.id FROM json_each(${ids}) j CROSS JOIN postback_intake i WHERE i.id = j.atom`);
		for (const { id } of rows) stored.add(id);
	}
	return withIds.filter(({ id }) => !stored.has(id));
}

/** An id of the time at which the file was first applied, of the file and the transaction alone. */
async function idOf(hash: string, at: number, txnid: string): Promise<string> {
	const digits = await sha256Hex(`${hash} ${txnid}`);
	return `${leastIdAt(at)}-7${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`;
}

function toMessage(platform: string, hash: string, at: number, postback: Postback, id: string): ReceivedPostback {
	const { txnid, cid, eventAt, payoutMicros, salesMicros, currency, status } = postback;
	const said = {
		statement: hash,
		txnid,
		cid,
		edate: isoTime(eventAt),
		payout: formatUsd(payoutMicros),
		...(salesMicros !== null && { sales: formatUsd(salesMicros) }),
		...(currency !== null && { currency }),
		...(status !== null && { status }),
	};
	const query = new URLSearchParams(said).toString();
	const intake = {
		id,
		receivedAt: at,
		platform,
		method: STATEMENT,
		query,
		txnid,
		cid,
		outcome: "accepted" as const,
		answer: JSON.stringify(RECEIVED),
	};
	return { format: 1, kind: "postback", intake, postback };
}

function countKinds(differences: readonly Difference[]): DifferenceCounts {
	const counts = Object.fromEntries(DIFFERENCE_KINDS.map((kind) => [kind, 0])) as DifferenceCounts;
	for (const { kind } of differences) counts[kind]++;
	return counts;
}

/** @param isDone whether the file was applied before, and changes nothing again */
function showDifference({ kind, txnid, otherTxnid, ours, theirs, postback }: Difference, isDone: boolean): Reconciled["data"][number] {
	return {
		kind,
		txnid,
		other_txnid: otherTxnid,
		ours: ours && {
			stage: ours.stage,
			status: ours.status,
			payout: formatUsd(ours.payoutMicros),
			currency: ours.currency,
			event_at: isoTime(ours.eventAt),
		},
		theirs: theirs && {
			status: theirs.status,
			payout: formatUsd(theirs.payoutMicros),
			currency: theirs.currency,
			at: isoTimeOrNull(theirs.at),
			cid: theirs.cid,
		},
		applies: postback !== null && !isDone,
	};
}
