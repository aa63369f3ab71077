/** What the network database has of some clicks' users, and what it is to have instead. */
import { sql } from "drizzle-orm";
import { type ConversionKey, keyOf } from "../../conversions/conversion.ts";
import { asClickHash, NAMES_NONE } from "../../conversions/match-click.ts";
import type { Database } from "../../db/client.ts";
import { haveSameParameters } from "../../lib/query.ts";
import type { EraseCounts } from "./erase-answer.ts";
import { callbacksWithin, isIn, type Period, readFormer, readFormerEvents } from "./former-sales.ts";
import { type ErasedClick, type OwnIds, ownIdsOf } from "./own-ids.ts";
import { type ErasedIds, type Refused, redactEvent, redactQuery, redactThread } from "./redact.ts";

export type RowCounts = Pick<EraseCounts, "clicks" | "visits" | "conversions" | "conversion_events" | "postbacks" | "callbacks" | "claims">;
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

/** What the tables have of these clicks and of what came of them, and what they are to have instead. */
export type Known = Awaited<ReturnType<typeof readKnown>>;

export async function readKnown(db: Database, wanted: Wanted) {
	const { clicks, gone, own, refused, counted } = wanted;
	const asked = askFor(wanted);
	const named = await readNamed(db, asked);
	const { conversions } = named;
	const eventsOfNamed = await readEvents(db, named);
	const former = await readFormer(db, asked.ids, conversions);
	const received = await readIntakes(db, asked, named, wanted.erased);
	const ofFormer = await readFormerEvents(db, former, new Set(asked.all.map(({ id }) => id)));
	const callbacks = await readCallbacks(db, asked, named, former, ofFormer.periods);
	const visits = await db.all<{ id: string }>(
		sql`SELECT click_id AS id FROM paid_visits WHERE click_id IN (SELECT atom FROM json_each(${asked.ids}))`,
	);
	// A claim is to be about a click that has a row, where one has.
	const claims = await findClaims(db, [...gone, ...clicks], conversions);
	const newEvents = [...eventsOfNamed, ...ofFormer.newEvents];
	// An event is told of with its conversion: as one, they have something of the user or nothing.
	const having = new Set([...conversions, ...newEvents].filter(({ had }) => had).map(keyOf));
	const counts: RowCounts = {
		clicks: clicks.filter(({ isEmpty }) => isEmpty !== 1).length,
		visits: visits.length,
		conversions: conversions.filter((of) => having.has(keyOf(of))).length,
		conversion_events: newEvents.filter((of) => having.has(keyOf(of))).length,
		postbacks: received.newIntakes.filter(({ id, had }) => had && !refused.has(id)).length + counted,
		callbacks: callbacks.found.length,
		claims: claims.filter(({ had }) => had).length,
	};
	// A record has fields of its click, too.
	const havingClicks = new Set(clicks.flatMap(({ id, isEmpty }) => (isEmpty === 1 ? [] : [id])));
	const recorded = conversions.filter(({ had, clickId }) => had || havingClicks.has(clickId ?? ""));
	return { clicks, asked, named, received, callbacks, newEvents, claims, recorded, counts, shared: own.foundAfterwards() };
}

/** What rows are found by, lists as JSON. */
type Asked = ReturnType<typeof askFor>;

function askFor({ clicks, gone, own }: Wanted) {
	const all = [...clicks, ...gone];
	const ids = JSON.stringify(all.map(({ id }) => id));
	// Platforms that spell everything in capitals are known.
	const hashes = JSON.stringify([...new Set(all.flatMap(({ clickHash }) => [clickHash, clickHash.toUpperCase()]))]);
	const hashOf = new Map(all.map(({ id, clickHash }) => [id, clickHash]));
	const known = new Set(hashOf.values());
	/** What a click id that a platform sent becomes; null where it is of none of these clicks. */
	const newCid = (platform: string | null, cid: string, toldAt: number) => {
		const hash = asClickHash(cid);
		return hash !== null && known.has(hash) ? hash : own.replace(platform, cid, toldAt);
	};
	return { all, ids, hashes, ownIds: JSON.stringify(ownIdsOf(all)), hashOf, newCid };
}

type Named = Awaited<ReturnType<typeof readNamed>>;

/** The conversions of these clicks, and of nobody else's, with the click hash that is to be their click id. */
async function readNamed(db: Database, { ids, hashes, ownIds, hashOf, newCid }: Asked) {
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
	const byName = new Map(conversions.map(({ hash, ...key }) => [keyOf(key), hash]));
	const hashOfName = (platform: string | null, txnid: string | null) =>
		platform === null || txnid === null ? undefined : byName.get(keyOf({ platform, txnid }));
	return { found, conversions, names, hashOfName, ofClicks, ofNamed: isIn(sql`platform`, sql`txnid`, names) };
}

async function readEvents(db: Database, { ofNamed, hashOfName }: Named) {
	const events = await db.all<ConversionKey & { seq: number; details: string }>(
		sql`SELECT platform, txnid, seq, details FROM conversion_events WHERE ${ofNamed}`,
	);
	return events.map(({ platform, txnid, seq, details }) => {
		const redacted = redactEvent({ details }, hashOfName(platform, txnid) ?? "");
		return { platform, txnid, seq, details: redacted, had: redacted !== JSON.stringify(JSON.parse(details)) };
	});
}

/** The postbacks of these conversions, and those that name one of these clicks. @param erased ids of all clicks that are erased */
async function readIntakes(db: Database, { hashes, ownIds, newCid }: Asked, { names, hashOfName }: Named, erased: ErasedIds) {
	const postbacks = sql`SELECT i.id FROM postback_intake i
			WHERE i.txnid IN (SELECT value ->> 'txnid' FROM json_each(${names})) AND ${isIn(sql`i.platform`, sql`i.txnid`, names)}
		UNION SELECT i.id FROM postback_intake i WHERE i.cid IN (SELECT atom FROM json_each(${hashes}))
		UNION SELECT i.id FROM postback_intake i WHERE i.cid IN (SELECT atom FROM json_each(${ownIds})) AND NOT EXISTS (
			SELECT 1 FROM conversions v WHERE v.platform = i.platform AND v.txnid = i.txnid AND v.click_id IS NOT NULL)`;
	const intakes = await db.all<Intake>(
		sql`SELECT id, platform, txnid, cid, received_at AS "receivedAt", query, outcome FROM postback_intake WHERE id IN (${postbacks})`,
	);
	const newIntakes = intakes.flatMap(({ id, platform, txnid, cid, receivedAt, query, outcome }) => {
		const hash = hashOfName(platform, txnid) ?? newCid(platform, cid ?? "", receivedAt);
		const refused = outcome === "accepted" ? null : { platform, receivedAt, erased };
		return hash === null ? [] : [toRedacted(id, cid, hash, query, redactQuery(query, hash, refused))];
	});
	return { postbacks, intakes, newIntakes };
}

/** The callbacks that told a click id of these clicks, or were answered. */
async function readCallbacks(
	db: Database,
	{ all }: Asked,
	{ ofNamed }: Named,
	former: readonly ConversionKey[],
	periods: readonly Period[],
) {
	const ofFormer = sql`${isIn(sql`platform`, sql`txnid`, JSON.stringify(former))}
		AND cid IN (SELECT atom FROM json_each(${JSON.stringify(all.flatMap(({ publisherClickId }) => publisherClickId ?? []))}))`;
	const isAnswered = sql`EXISTS (SELECT 1 FROM callback_attempts a WHERE a.callback_id = callbacks.id AND a.answer <> '')`;
	const found = await db.all<{ id: string }>(sql`SELECT id FROM callbacks WHERE ${ofNamed} AND (cid <> '' OR ${isAnswered})
		UNION SELECT id FROM callbacks WHERE ${ofFormer}
		UNION ${callbacksWithin(periods)} AND cid = '' AND ${isAnswered}`);
	return { found, ofFormer };
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
