/** Erases in the network database what is known of the users of some clicks: in one transaction, the audit in it. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type EventDetails, keyOf } from "../../conversions/conversion.ts";
import { asClickHash, NAMES_NONE } from "../../conversions/match-click.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { renewDigests } from "../../db/digests-of-days.ts";
import { isConstraintError, OvertakenError, retryOvertaken } from "../../db/overtaken.ts";
import { ERASED, SHARED_ID } from "../../db/schema/clicks.ts";
import type { Actor } from "../../http/actor.ts";
import { haveSameParameters } from "../../lib/query.ts";
import { utcDay } from "../../lib/time.ts";
import type { EraseCounts } from "./erase-answer.ts";
import { type ErasedClick, type OwnIds, ownIdsOf } from "./own-ids.ts";
import { type ErasedIds, type Refused, redactEvent, redactQuery, redactThread } from "./redact.ts";
import { readRecords, tellPublishers } from "./tell-publishers.ts";

/** Who asks, when, and under which receipt; null where it is only counted. */
export type Receipt = { actor: Actor; at: number; id: string } | null;

type RowCounts = Pick<EraseCounts, "clicks" | "visits" | "conversions" | "conversion_events" | "postbacks" | "callbacks" | "claims">;
type Conversion = {
	platform: string;
	txnid: string;
	publisherId: string | null;
	eventAt: number;
	version: number;
	clickId: string | null;
	hash: string;
	had: boolean;
};

type Intake = Refused & { id: string; cid: string | null; outcome: string };

export type Wanted = {
	clicks: readonly ErasedClick[];
	/** Clicks that have no row, or none any more: what came of them may still be there. */
	gone: readonly ErasedClick[];
	own: OwnIds;
	/** Ids of all clicks that are erased, these and others. */
	erased: ErasedIds;
	/** Postbacks that were erased before, and are counted with `counted`: postback_intake.id. */
	refused: ReadonlySet<string>;
	counted: number;
};

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

/** What the tables have of these clicks and of what came of them, and what they are to have instead. */
type Known = Awaited<ReturnType<typeof readKnown>>;

/** Whether a conversion is one of a list, as JSON. */
const isIn = (platform: SQL, txnid: SQL, list: string) =>
	sql`(${platform}, ${txnid}) IN (SELECT value ->> 'platform', value ->> 'txnid' FROM json_each(${list}))`;

async function readKnown(db: Database, { clicks, gone, own, erased, refused, counted }: Wanted) {
	const all = [...clicks, ...gone];
	const ids = JSON.stringify(all.map(({ id }) => id));
	// Platforms that spell everything in capitals are known.
	const hashes = JSON.stringify([...new Set(all.flatMap(({ clickHash }) => [clickHash, clickHash.toUpperCase()]))]);
	const ownIds = JSON.stringify(ownIdsOf(all));
	const ofClicks = sql`(click_id IN (SELECT atom FROM json_each(${ids})) OR cid IN (SELECT atom FROM json_each(${hashes}))
		OR (click_id IS NULL AND cid IN (SELECT atom FROM json_each(${ownIds}))))`;
	const found = await db.all<
		Omit<Conversion, "hash" | "had"> & {
			isEmpty: number;
			attribution: string | null;
			cid: string;
			firstReceivedAt: number;
		}
	>(sql`
		SELECT platform, txnid, publisher_id AS "publisherId", event_at AS "eventAt", version, click_id AS "clickId", attribution, cid,
			first_received_at AS "firstReceivedAt", CASE WHEN coalesce(publisher_click_id, s2, s3, surl) IS NULL THEN 1 ELSE 0 END AS "isEmpty"
		FROM conversions
		WHERE ${ofClicks}`);
	const hashOf = new Map(all.map(({ id, clickHash }) => [id, clickHash]));
	const known = new Set(hashOf.values());
	const newCid = (platform: string | null, cid: string, toldAt: number) => {
		const hash = asClickHash(cid);
		return hash !== null && known.has(hash) ? hash : own.replace(platform, cid, toldAt);
	};
	const othersHashes = await readHashes(
		db,
		found.filter(({ attribution }) => attribution === "operator").flatMap(({ cid }) => asClickHash(cid) ?? []),
	);
	const conversions = found.flatMap(({ clickId, attribution, cid, firstReceivedAt, isEmpty, ...of }): Conversion[] => {
		const own = hashOf.get(clickId ?? "");
		const named = own === undefined || attribution === "operator" ? newCid(of.platform, cid, firstReceivedAt) : own;
		// What a person has attached is not found again by the click's hash, once that is undone.
		const other = asClickHash(cid) ?? "";
		const hash = named ?? (own === undefined ? null : othersHashes.has(other) ? other : NAMES_NONE);
		return hash === null ? [] : [{ ...of, clickId, hash, had: isEmpty === 0 || cid !== hash }];
	});
	const names = JSON.stringify(conversions);
	const ofNamed = isIn(sql`platform`, sql`txnid`, names);
	const byName = new Map(conversions.map(({ hash, ...key }) => [keyOf(key), hash]));
	const events = await db.all<{ platform: string; txnid: string; seq: number; details: string }>(
		sql`SELECT platform, txnid, seq, details FROM conversion_events WHERE ${ofNamed}`,
	);
	const former = await readFormer(db, ids, conversions);
	const ofFormer = sql`${isIn(sql`platform`, sql`txnid`, JSON.stringify(former))}
		AND cid IN (SELECT atom FROM json_each(${JSON.stringify(all.flatMap(({ publisherClickId }) => publisherClickId ?? []))}))`;
	const postbacks = sql`SELECT i.id FROM postback_intake i
			WHERE i.txnid IN (SELECT value ->> 'txnid' FROM json_each(${names})) AND ${isIn(sql`i.platform`, sql`i.txnid`, names)}
		UNION SELECT i.id FROM postback_intake i WHERE i.cid IN (SELECT atom FROM json_each(${hashes}))
		UNION SELECT i.id FROM postback_intake i WHERE i.cid IN (SELECT atom FROM json_each(${ownIds})) AND NOT EXISTS (
			SELECT 1 FROM conversions v WHERE v.platform = i.platform AND v.txnid = i.txnid AND v.click_id IS NOT NULL)`;
	const intakes = await db.all<Intake>(
		sql`SELECT id, platform, txnid, cid, received_at AS "receivedAt", query, outcome FROM postback_intake WHERE id IN (${postbacks})`,
	);
	const callbacks = await db.all<{ id: string }>(sql`SELECT id FROM callbacks WHERE ${ofNamed}
		AND (cid <> '' OR EXISTS (SELECT 1 FROM callback_attempts a WHERE a.callback_id = callbacks.id AND a.answer <> ''))
		UNION SELECT id FROM callbacks WHERE ${ofFormer}`);
	const visits = await db.all<{ id: string }>(
		sql`SELECT click_id AS id FROM paid_visits WHERE click_id IN (SELECT atom FROM json_each(${ids}))`,
	);
	const hashOfName = (platform: string | null, txnid: string | null) =>
		platform === null || txnid === null ? undefined : byName.get(keyOf({ platform, txnid }));
	const newIntakes = intakes.flatMap(({ id, platform, txnid, cid, receivedAt, query, outcome }) => {
		const hash = hashOfName(platform, txnid) ?? newCid(platform, cid ?? "", receivedAt);
		const refused = outcome === "accepted" ? null : { platform, receivedAt, erased };
		return hash === null ? [] : [toRedacted(id, cid, hash, query, redactQuery(query, hash, refused))];
	});
	// A claim is to be about a click that has a row, where one has.
	const claims = await findClaims(db, [...gone, ...clicks], conversions);
	const ofConversions = events.map(({ platform, txnid, seq, details }) => {
		const redacted = redactEvent({ details }, hashOfName(platform, txnid) ?? "");
		return { platform, txnid, seq, details: redacted, had: redacted !== JSON.stringify(JSON.parse(details)) };
	});
	const newEvents = [...ofConversions, ...(await readFormerEvents(db, former, new Set(all.map(({ id }) => id))))];
	// An event is told of with its conversion: as one, they have something of the user or nothing.
	const having = new Set([...conversions, ...newEvents].filter(({ had }) => had).map(keyOf));
	const counts: RowCounts = {
		clicks: clicks.filter(({ isEmpty }) => isEmpty !== 1).length,
		visits: visits.length,
		conversions: conversions.filter((of) => having.has(keyOf(of))).length,
		conversion_events: newEvents.filter((of) => having.has(keyOf(of))).length,
		postbacks: newIntakes.filter(({ id, had }) => had && !refused.has(id)).length + counted,
		callbacks: callbacks.length,
		claims: claims.filter(({ had }) => had).length,
	};
	// A record has fields of its click, too.
	const havingClicks = new Set(clicks.flatMap(({ id, isEmpty }) => (isEmpty === 1 ? [] : [id])));
	const recorded = conversions.filter(({ had, clickId }) => had || havingClicks.has(clickId ?? ""));
	const shared = own.foundAfterwards();
	const told = JSON.stringify(callbacks.map(({ id }) => id));
	const statements = { ofClicks, ofNamed, ofFormer, postbacks };
	return { clicks, conversions, found, intakes, newIntakes, newEvents, recorded, claims, counts, ids, names, shared, told, ...statements };
}

/** What is written rests on what was read: where that has changed, or there is more, none of it is written. */
function erasing(known: Known, receipt: NonNullable<Receipt>): SQL[] {
	const { clicks, conversions, found, intakes, newIntakes, newEvents, claims, counts } = known;
	const { ids, names, shared, told, ofClicks, ofNamed, ofFormer, postbacks } = known;
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

type Key = Pick<Conversion, "platform" | "txnid">;

/** Sales that a person once attached to one of these clicks, and that have it no more: what they told of it is the user's, and they are not. */
async function readFormer(db: Database, ids: string, present: readonly Key[]): Promise<Key[]> {
	const attached = await db.all<Key>(sql`SELECT DISTINCT request ->> 'platform' AS platform, request ->> 'txnid' AS txnid FROM adjustments
		WHERE kind = 'attach_conversion' AND request ->> 'click' IN (SELECT atom FROM json_each(${ids}))`);
	const known = new Set(present.map(keyOf));
	return attached.filter((key) => !known.has(keyOf(key)));
}

/** The events in which they got one of these clicks, without the publisher's id of it. */
async function readFormerEvents(db: Database, former: readonly Key[], clicks: ReadonlySet<string>) {
	if (former.length === 0) return [];
	const events = await db.all<Key & { seq: number; details: string }>(
		sql`SELECT platform, txnid, seq, details FROM conversion_events WHERE ${isIn(sql`platform`, sql`txnid`, JSON.stringify(former))}`,
	);
	return events.flatMap(({ platform, txnid, seq, details }) => {
		const event = JSON.parse(details) as EventDetails;
		const { clickId, publisherClickId } = event.set;
		if (typeof clickId !== "string" || !clicks.has(clickId) || publisherClickId == null) return [];
		event.set.publisherClickId = null;
		return [{ platform, txnid, seq, details: JSON.stringify(event), had: true }];
	});
}

/** Those of these click hashes that clicks have. */
async function readHashes(db: Database, hashes: readonly string[]): Promise<ReadonlySet<string>> {
	if (hashes.length === 0) return new Set();
	const named = sql`click_hash IN (SELECT atom FROM json_each(${JSON.stringify(hashes)}))`;
	const found = await db.all<{
		hash: string;
	}>(sql`SELECT click_hash AS hash FROM clicks WHERE ${named} AND (reason IS NULL OR reason = 'voided')
		UNION SELECT click_hash FROM clicks WHERE ${named} AND reason <> 'voided'`);
	return new Set(found.map(({ hash }) => hash));
}

/** @param redacted the query as it is to be */
function toRedacted(id: string, cid: string | null, hash: string, query: string, redacted: string) {
	return { id, cid: hash, query: redacted, had: cid !== hash || !haveSameParameters(query, redacted) };
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

type Claim = { id: string; publisherId: string; kind: string; aboutId: string; thread: string; version: number; had: boolean };

/** Claims about these clicks, or what came of them, as they are to be: without texts, and our click hash in the place of a publisher's own id. */
async function findClaims(db: Database, clicks: readonly ErasedClick[], conversions: readonly Conversion[]): Promise<Claim[]> {
	const publishers = JSON.stringify([...new Set([...clicks, ...conversions].map(({ publisherId }) => publisherId))]);
	const own = new Map(clicks.map(({ publisherId, publisherClickId, clickHash }) => [`${publisherId} ${publisherClickId}`, clickHash]));
	const names = [
		...clicks.flatMap(({ id, clickHash, publisherClickId }) => [id, clickHash, publisherClickId]),
		...conversions.map(({ txnid }) => txnid),
	];
	const about = JSON.stringify([...new Set(names)].filter((name) => name !== null));
	// Ids and hashes of ours are read in any letter case.
	const ours = JSON.stringify(clicks.flatMap(({ id, clickHash }) => [id, clickHash]));
	const found = await db.all<Omit<Claim, "had">>(sql`
		SELECT id, publisher_id AS "publisherId", kind, about_id AS "aboutId", thread, version FROM claims
		WHERE publisher_id IN (SELECT atom FROM json_each(${publishers}))
			AND (about_id IN (SELECT atom FROM json_each(${about})) OR lower(about_id) IN (SELECT atom FROM json_each(${ours})))
		ORDER BY id`);
	// Of a publisher, a kind and an id there is one claim under way.
	const taken = new Set(found.map(({ publisherId, kind, aboutId }) => `${publisherId} ${kind} ${aboutId}`));
	return found.map((claim) => {
		const hash = own.get(`${claim.publisherId} ${claim.aboutId}`);
		const thread = redactThread(claim.thread);
		const hadText = thread !== JSON.stringify(JSON.parse(claim.thread));
		if (hash === undefined || hash === claim.aboutId) return { ...claim, thread, had: hadText };
		const name = `${claim.publisherId} ${claim.kind} ${hash}`;
		const aboutId = taken.has(name) ? claim.id : hash;
		taken.add(name);
		return { ...claim, aboutId, thread, had: true };
	});
}
