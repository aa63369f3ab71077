/**
 * Sends refused postbacks, and those that found no click, through settling again: bounded by request, and resumed by a cursor. A postback
 * that is replayed keeps its place among what was received, under an id made of its own: whatever is asked for twice is settled once.
 */
import { sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import type { PostbackItem } from "../../conversions/message.ts";
import { type SettleDeps, settlePostbacks } from "../../conversions/settle-postbacks.ts";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { writeCursor } from "../../http/pages.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { logInfo } from "../../lib/log.ts";
import { formatUsd } from "../../lib/money.ts";
import type { ReplayedPostbacks } from "./problems-answers.ts";
import type { ReplayPosition, ReplayRequest } from "./replay-request.ts";
import { type KeptPostback, originOf, reread } from "./reread.ts";

/** Refused postbacks, or conversions, of one request. */
const MAX_LOOKED_AT = 500;
/** What one transaction settles; more where they are of one conversion. */
const CHUNK = 50;

type Step = {
	lookedAt: number;
	items: PostbackItem[];
	accepted: number;
	stillRefused: number;
	next: ReplayPosition | null;
};

/** @throws HttpError 422 where there is no such platform */
export async function replayPostbacks(
	deps: SettleDeps,
	actor: Actor,
	request: ReplayRequest,
	isDryRun: boolean,
): Promise<ReplayedPostbacks> {
	const { db } = deps;
	const { platform } = request;
	const [known] = await db.all<{ secret: string | null }>(sql`SELECT postback_secret AS secret FROM platforms WHERE id = ${platform}`);
	if (known === undefined) throw invalidInput([{ path: "platform", message: "is no platform's id" }]);
	const step =
		request.after?.of === "clickless" ? await readClickless(db, request, known.secret) : await readRefused(db, request, known.secret);
	const total = { changed: 0, publisherRevenueMicros: 0, grossMicros: 0 };
	for (const items of chunksOf(step.items)) {
		const settled = await settlePostbacks(deps, items, {
			dryRun: isDryRun,
			alongside: ({ changed, fresh }) => [
				auditStatement(actor, deps.now(), {
					verb: "replayPostbacks",
					subjectKind: "platform",
					subjectId: platform,
					after: { mapping: request.mapping },
					counts: { postbacks: fresh, conversions: changed },
				}),
			],
		});
		total.changed += settled.changed;
		total.publisherRevenueMicros += settled.publisherRevenueMicros;
		total.grossMicros += settled.grossMicros;
	}
	logInfo("postbacks.replayed", { platform, looked_at: step.lookedAt, conversions: total.changed, dry_run: isDryRun });
	return {
		looked_at: step.lookedAt,
		accepted: step.accepted,
		still_refused: step.stillRefused,
		conversions: total.changed,
		publisher_revenue: formatUsd(total.publisherRevenueMicros),
		gross_revenue: formatUsd(total.grossMicros),
		next_cursor:
			step.next === null
				? null
				: writeCursor(step.next.of === "refused" ? ["refused", step.next.id] : ["clickless", step.next.at, step.next.txnid]),
		dry_run: isDryRun,
	};
}

/** All of a conversion stand in one chunk: a dry run of another would not know what they come to. */
function chunksOf(items: readonly PostbackItem[]): PostbackItem[][] {
	const chunks: PostbackItem[][] = [];
	for (const ofOne of Map.groupBy(items, txnidOf).values()) {
		const last = chunks.at(-1);
		if (last !== undefined && last.length + ofOne.length <= CHUNK) last.push(...ofOne);
		else chunks.push(ofOne);
	}
	return chunks;
}

function txnidOf(item: PostbackItem): string | null {
	return item.kind === "postback" ? item.intake.txnid : item.txnid;
}

const KEPT = sql`i.id, i.received_at AS "receivedAt", i.platform, i.query, i.outcome, i.answer,
	(SELECT max(a.id) FROM postback_intake a WHERE a.id > i.id || '~' AND a.id < i.id || '~~') AS "lastId",
	(SELECT a.query FROM postback_intake a WHERE a.id > i.id || '~' AND a.id < i.id || '~~' ORDER BY a.id DESC LIMIT 1) AS "lastQuery"`;

/** The next refused ones, in the order in which they came; then conversions without a click. */
async function readRefused(db: Database, request: ReplayRequest, secret: string | null): Promise<Step> {
	const { platform, mapping, fromAt, untilAt, after } = request;
	const rows = await db.all<KeptPostback>(sql`SELECT ${KEPT} FROM postback_intake i
		WHERE i.outcome <> 'accepted' AND i.platform = ${platform} AND i.id >= ${leastIdAt(fromAt)} AND i.id < ${leastIdAt(untilAt)}
			AND i.id > ${after?.of === "refused" ? after.id : ""}
		ORDER BY i.id LIMIT ${MAX_LOOKED_AT}`);
	const read = await Promise.all(rows.map((row) => reread(row, mapping, secret)));
	const items = read.filter((item) => item !== null);
	const last = rows.at(-1);
	return {
		lookedAt: rows.length,
		items,
		accepted: items.length,
		stillRefused: rows.filter(({ lastId }, at) => lastId === null && read[at] === null).length,
		next:
			rows.length === MAX_LOOKED_AT && last !== undefined ? { of: "refused", id: last.id } : { of: "clickless", at: untilAt, txnid: "" },
	};
}

type Clickless = { at: number; txnid: string; lastIntakeId: string };

/** The next conversions without a click, the newest first: what they came by is read again, and then each is looked at again. */
async function readClickless(db: Database, { platform, mapping, fromAt, after }: ReplayRequest, secret: string | null): Promise<Step> {
	const [at, txnid] = after?.of === "clickless" ? [after.at, after.txnid] : [0, ""];
	const ofStage = (
		stage: string,
	) => sql`SELECT * FROM (SELECT first_received_at AS at, txnid, last_intake_id AS "lastIntakeId" FROM conversions
		WHERE stage <> 'settled' AND stage = ${stage} AND platform = ${platform} AND first_received_at >= ${fromAt}
			AND (first_received_at < ${at} OR (first_received_at = ${at} AND txnid < ${txnid}))
		ORDER BY first_received_at DESC, txnid DESC LIMIT ${MAX_LOOKED_AT}) s`;
	const rows = await db.all<Clickless>(
		sql`${ofStage("waiting")} UNION ALL ${ofStage("unmatched")} ORDER BY 1 DESC, 2 DESC LIMIT ${MAX_LOOKED_AT}`,
	);
	const isMapped = Object.values(mapping).some((from) => from !== undefined);
	const origins = isMapped ? [...new Set(rows.map(({ lastIntakeId }) => originOf(lastIntakeId)))] : [];
	const kept = await db.all<KeptPostback>(
		sql`SELECT ${KEPT} FROM json_each(${JSON.stringify(origins)}) j CROSS JOIN postback_intake i WHERE i.id = j.atom AND i.outcome = 'accepted'`,
	);
	const read = (await Promise.all(kept.map((row) => reread(row, mapping, secret)))).filter((item) => item !== null);
	const last = rows.at(-1);
	return {
		lookedAt: rows.length,
		items: [...read, ...rows.map(({ txnid }): PostbackItem => ({ format: 1, kind: "look_again", platform, txnid }))],
		accepted: 0,
		stillRefused: 0,
		next: rows.length === MAX_LOOKED_AT && last !== undefined ? { of: "clickless", at: last.at, txnid: last.txnid } : null,
	};
}
