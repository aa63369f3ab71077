/** Takes a due callback for one delivery, so that no other delivery calls for it at the same time. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { takeProbe } from "./breaker.ts";
import type { CallbackFacts } from "./build-callback-url.ts";
import { selectSecrets } from "./callback-secrets.ts";

/** A delivery that has not ended by then has crashed, and the callback is due again: at least once, not at most. */
const LEASE_MS = MINUTE_MS;

export type ClaimedCallback = CallbackFacts & {
	lease: string;
	platform: string;
	seq: number;
	publisherId: string;
	/** Id of the request that brought the postback behind it. */
	intakeId: string | null;
	scheduleStep: number;
	/** Of its conversion; null where that has another click now, or none. */
	version: number | null;
	/** The publisher's address; null where it has none any more. */
	url: string | null;
	/** True where the address is paused and this is its probe. */
	probe: boolean;
	/** What it is signed with, the newest first, sealed. */
	secrets: readonly { sealed: string }[];
};

type Subids = Pick<CallbackFacts, "subid1" | "subid2" | "subid3" | "subid4" | "subid5">;
type Row = Omit<ClaimedCallback, "probe" | "secrets" | keyof Subids> & { probe: number };

const NO_SUBIDS: Subids = { subid1: null, subid2: null, subid3: null, subid4: null, subid5: null };

/** Of a callback whose conversion has lost the click that it was told of: what the present one brought is another user's. */
const OF_FORMER_CLICK = { ...NO_SUBIDS, domain: null, source: null, version: null };

/**
 * Claims a callback. Null where there is nothing to do now: it is delivered, not due yet, in other hands, or put aside because an
 * earlier callback of its conversion to the same publisher comes first or its address is paused. One that never reached the publisher because there was
 * no address (`no_url`) holds nothing up.
 */
export async function claimCallback({ db, now }: { db: Database; now: () => number }, id: string): Promise<ClaimedCallback | null> {
	const at = now();
	const lease = crypto.randomUUID();
	const results = await runTransaction(db, [
		sql`UPDATE callbacks SET
			held_for = decided.hold,
			next_attempt_at = CASE WHEN decided.hold IS NULL THEN CAST(${at + LEASE_MS} AS BIGINT) END,
			lease = CASE WHEN decided.hold IS NULL THEN ${lease} END,
			exposures = exposures + CASE WHEN decided.hold IS NULL THEN 1 ELSE 0 END,
			queued_until = 0
		FROM (SELECT CASE
			WHEN EXISTS (
				SELECT 1 FROM callbacks e
				WHERE e.platform = c.platform AND e.txnid = c.txnid AND e.publisher_id = c.publisher_id AND e.seq < c.seq
					AND e.state IN ('due', 'exhausted')
			) THEN 'order'
			WHEN EXISTS (
				SELECT 1 FROM callback_health h JOIN publishers p ON p.id = h.publisher_id
				WHERE h.publisher_id = c.publisher_id AND h.url = p.callback_url AND h.paused_at IS NOT NULL AND h.next_probe_at > ${at}
			) THEN 'pause'
			END AS hold FROM callbacks c WHERE c.id = ${id}) AS decided
		WHERE callbacks.id = ${id} AND state = 'due' AND next_attempt_at <= ${at}`,
		takeProbe(id, lease, at),
		sql`SELECT c.id, c.lease, c.platform, c.txnid, c.seq, c.publisher_id AS "publisherId", c.status, c.cid, c.payout_micros AS "payoutMicros",
				c.event_at AS "eventAt", c.intake_id AS "intakeId", c.schedule_step AS "scheduleStep", p.callback_url AS url,
				CASE WHEN p.sales_data_enabled = 1 THEN c.sales_usd_micros END AS "salesUsdMicros", b.domain, v.source_id AS source, v.version,
				CASE WHEN h.paused_at IS NOT NULL AND h.url IS NOT DISTINCT FROM p.callback_url THEN 1 ELSE 0 END AS probe
			FROM callbacks c LEFT JOIN publishers p ON p.id = c.publisher_id LEFT JOIN callback_health h ON h.publisher_id = c.publisher_id
				LEFT JOIN conversions v ON v.platform = c.platform AND v.txnid = c.txnid AND v.publisher_id = c.publisher_id
				LEFT JOIN brands b ON b.id = v.brand_id
			WHERE c.id = ${id} AND c.lease = ${lease}`,
		selectSecrets(sql`(SELECT publisher_id FROM callbacks WHERE id = ${id})`, at),
		// By itself, not joined: it may be on another node (decision 0034).
		sql`SELECT subid1, subid2, subid3, subid4, subid5 FROM clicks WHERE id = (SELECT v.click_id FROM callbacks c CROSS JOIN conversions v
			WHERE c.id = ${id} AND c.lease = ${lease} AND v.platform = c.platform AND v.txnid = c.txnid AND v.publisher_id = c.publisher_id)`,
		// By itself for the same reason. It came about with the last event of its moment: its own cancellation with the one that took the click
		// away. Clocks differ, but the events of a conversion are in their order.
		sql`SELECT seq FROM conversion_events WHERE ${ofConversion(id)} AND kind = 'detached'
			AND seq >= (SELECT max(seq) FROM conversion_events WHERE ${ofConversion(id)}
				AND at = (SELECT created_at FROM callbacks WHERE id = ${id})) LIMIT 1`,
	]);
	const row = (results[2]?.results as Row[] | undefined)?.[0];
	const secrets = (results[3]?.results ?? []) as { sealed: string }[];
	const [subids] = (results[4]?.results ?? []) as Subids[];
	if (row === undefined) return null;
	const isOfFormerClick = (results[5]?.results ?? []).length > 0;
	return { ...row, ...(subids ?? NO_SUBIDS), ...(isOfFormerClick && OF_FORMER_CLICK), probe: row.probe === 1, secrets };
}

/** Whether an event is of a callback's conversion. */
function ofConversion(id: string): SQL {
	return sql`platform = (SELECT platform FROM callbacks WHERE id = ${id}) AND txnid = (SELECT txnid FROM callbacks WHERE id = ${id})`;
}
