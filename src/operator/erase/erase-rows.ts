/** Erases in the network database what is known of the users of some clicks: in one transaction, the audit in it. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { renewDigests } from "../../db/digests-of-days.ts";
import { isConstraintError, OvertakenError, retryOvertaken } from "../../db/overtaken.ts";
import { ERASED, SHARED_ID } from "../../db/schema/clicks.ts";
import type { Actor } from "../../http/actor.ts";
import { utcDay } from "../../lib/time.ts";
import { isIn } from "./former-sales.ts";
import { type Known, type RowCounts, readKnown, type Wanted } from "./read-known.ts";
import { readRecords, tellPublishers } from "./tell-publishers.ts";

/** Who asks, when, and under which receipt; null where it is only counted. */
export type Receipt = { actor: Actor; at: number; id: string } | null;

/** @throws OvertakenError where other writers were faster every time; nothing of these clicks is erased then */
export function eraseRows(db: Database, wanted: Wanted, receipt: Receipt): Promise<RowCounts> {
	return retryOvertaken(() => eraseOnce(db, wanted, receipt));
}

async function eraseOnce(db: Database, wanted: Wanted, receipt: Receipt): Promise<RowCounts> {
	const known = await readKnown(db, wanted);
	if (receipt === null) return known.counts;
	// What has changed between the readings fails the guard of what is written.
	const records = await readRecords(db, known.recorded);
	await runGuarded(db, [...erasing(known, receipt), ...tellPublishers(records, receipt.at)]);
	return known.counts;
}

/** What is written rests on what was read: where that has changed, or there is more, none of it is written. */
function erasing(known: Known, receipt: NonNullable<Receipt>): SQL[] {
	const { clicks, newEvents, claims, counts, shared } = known;
	const { ids } = known.asked;
	const { conversions, found, names, ofClicks, ofNamed } = known.named;
	const { postbacks, intakes, newIntakes } = known.received;
	const { ofFormer } = known.callbacks;
	const told = JSON.stringify(known.callbacks.found.map(({ id }) => id));
	const days = [
		...clicks.map(({ publisherId, clickedAt }) => ({ publisherId, date: utcDay(clickedAt) })),
		...conversions.map(({ publisherId, eventAt }) => ({ publisherId, date: utcDay(eventAt) })),
	];
	return [
		auditStatement(receipt.actor, receipt.at, { verb: "eraseUser", subjectKind: "erasure", subjectId: receipt.id, counts }),
		sql`UPDATE clicks SET publisher_click_id = NULL, subid1 = NULL, subid2 = NULL, subid3 = NULL, subid4 = NULL, subid5 = NULL, uid = NULL,
				ip_prefix = NULL, user_agent_hash = NULL, keyword = NULL, asked_from = NULL, written_by = ${ERASED}
			WHERE id IN (SELECT atom FROM json_each(${ids}))`,
		sql`UPDATE clicks SET written_by = ${SHARED_ID}
			WHERE id IN (SELECT atom FROM json_each(${JSON.stringify(shared)})) AND written_by <> ${ERASED}`,
		sql`DELETE FROM paid_visits WHERE click_id IN (SELECT atom FROM json_each(${ids}))`,
		sql`UPDATE conversions SET publisher_click_id = NULL, s2 = NULL, s3 = NULL, surl = NULL, cid = r.cid,
				version = CASE WHEN version = r.of_version THEN version + 1 END
			FROM (SELECT value ->> 'platform' AS of_platform, value ->> 'txnid' AS of_txnid, CAST(value ->> 'version' AS BIGINT) AS of_version,
				value ->> 'hash' AS cid FROM json_each(${names})) AS r
			WHERE conversions.platform = r.of_platform AND conversions.txnid = r.of_txnid`,
		// What has come since it was read: no column here takes null.
		sql`UPDATE conversions SET version = NULL WHERE ${ofClicks} AND NOT ${isIn(sql`platform`, sql`txnid`, JSON.stringify(found))}`,
		sql`UPDATE postback_intake SET answer = NULL WHERE id IN (${postbacks})
			AND id NOT IN (SELECT value ->> 'id' FROM json_each(${JSON.stringify(intakes.map(({ id }) => ({ id })))}))`,
		sql`UPDATE conversion_events SET details = r.details
			FROM (SELECT value ->> 'platform' AS of_platform, value ->> 'txnid' AS of_txnid, CAST(value ->> 'seq' AS BIGINT) AS of_seq,
				value ->> 'details' AS details FROM json_each(${JSON.stringify(newEvents)})) AS r
			WHERE conversion_events.platform = r.of_platform AND conversion_events.txnid = r.of_txnid AND conversion_events.seq = r.of_seq`,
		sql`UPDATE conversion_history SET publisher_click_id = NULL WHERE click_id IN (SELECT atom FROM json_each(${ids}))`,
		sql`UPDATE postback_intake SET query = r.query, cid = r.cid
			FROM (SELECT value ->> 'id' AS of_id, value ->> 'query' AS query, value ->> 'cid' AS cid FROM json_each(${JSON.stringify(newIntakes)})) AS r
			WHERE postback_intake.id = r.of_id`,
		// What the check of the ledger has kept of them: the next check says anew what differs.
		sql`DELETE FROM ledger_differences WHERE ${ofNamed}`,
		sql`UPDATE callbacks SET cid = '' WHERE ${ofNamed}`,
		sql`UPDATE callbacks SET cid = '' WHERE ${ofFormer}`,
		sql`UPDATE callback_attempts SET answer = '' WHERE callback_id IN (SELECT id FROM callbacks WHERE ${ofNamed})
			OR callback_id IN (SELECT atom FROM json_each(${told}))`,
		sql`UPDATE claims SET about_id = r.about_id, thread = r.thread,
				version = CASE WHEN version = r.of_version THEN version + 1 END
			FROM (SELECT value ->> 'id' AS of_id, CAST(value ->> 'version' AS BIGINT) AS of_version, value ->> 'aboutId' AS about_id,
				value ->> 'thread' AS thread
				FROM json_each(${JSON.stringify(claims)})) AS r
			WHERE claims.id = r.of_id`,
		// Publishers verify their copies of click ids by them.
		renewDigests(days),
	];
}

/** @throws OvertakenError where a guard has refused to write */
async function runGuarded(db: Database, statements: readonly SQL[]): Promise<void> {
	try {
		await runTransaction(db, statements);
	} catch (error) {
		if (isConstraintError(error)) throw new OvertakenError("overtaken", { cause: error });
		throw error;
	}
}
