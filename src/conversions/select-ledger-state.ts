/** The statements that read what settling a batch rests on, and their rows. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { allColumns } from "../db/json-rows.ts";
import { conversions } from "../db/schema/conversions.ts";
import type { Amendments, CallbackStatus, NegativePayout } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import type { ConversionKey, ConversionRow } from "./conversion.ts";
import { type CandidateClick, MAX_CANDIDATES } from "./match-click.ts";
import type { Postback } from "./message.ts";

type PlatformRow = {
	id: string;
	currency: string;
	statusMap: string;
	negativePayout: NegativePayout;
	maxPayoutMicros: number | null;
	matchByPublisherClickId: number;
};

/** What is known beside a stored conversion and beside a click alike. */
export type Surroundings = {
	publisherId: string | null;
	campaignId: number | null;
	hasCallbackUrl: number;
	amendments: Amendments | null;
	isSuspended: number;
	campaignMaxMicros: number | null;
};

/** What the redirects of a click's hash say of it. */
export type HashClick = {
	id: string;
	clickHash: string;
	writtenBy: string;
	reason: CandidateClick["reason"];
	/** Whether others than its user called the click's URL: see {@link isStuffed}. */
	isStuffed: number;
};

export type KnownConversion = ConversionRow &
	Surroundings & {
		lastId: string | null;
		lastSeq: number | null;
		lastStatus: CallbackStatus | null;
		lastPayoutMicros: number | null;
		isLastUnsent: number;
	};

type ClickRow = CandidateClick & Surroundings & HashClick & { wanted: string };

/** Since when a platform names a click id that has found no click, Unix ms; null where it does not. */
type Told = { platform: string; cid: string; toldAt: number | null };

export type LedgerRows = {
	intakes: readonly { id: string }[];
	conversions: readonly KnownConversion[];
	/** Of the clicks of these conversions, as far as they are still there. */
	hashClicks: readonly HashClick[];
	platforms: readonly PlatformRow[];
	byHash: readonly ClickRow[];
	byName: readonly ClickRow[];
	told: readonly Told[];
	byId: readonly ClickRow[];
	rates: readonly { id: string; usdNanos: number }[];
};

/** At most this many redirects of one click hash are looked at: the billed one, and the first of the others. */
const MAX_CLICKS_OF_ONE_HASH = 10;

/** At most this many conversions of a click id are looked at, to tell since when a platform has named it in vain: many may have its click. */
const MAX_TOLD_BEFORE = 1_000;

/** Visitors that prefetch a bid's URL for a user: an ad server's machines, and the user's browser. */
const MAX_PREFETCHERS = 3;

/** Times that one is prefetched, by whomever: of visitors whose signals say no nothing is kept that would tell them apart. */
const MAX_PREFETCHES = 20;

/** Of a publisher `p` and a campaign `g`. */
const surroundings = sql`CASE WHEN p.callback_url IS NOT NULL THEN 1 ELSE 0 END AS "hasCallbackUrl", p.amendments AS amendments,
	CASE WHEN p.status = 'suspended' THEN 1 ELSE 0 END AS "isSuspended", g.max_payout_micros AS "campaignMaxMicros"`;

/**
 * Of a click `c`: any page embedded its bid, or more than some prefetched it, or it is a program's, which speaks for nobody who prefetched
 * it.
 */
const isStuffed = sql`CASE WHEN EXISTS (SELECT 1 FROM clicks e WHERE e.click_hash = c.click_hash AND e.reason <> 'voided' AND e.reason = 'embedded')
		OR (SELECT CASE WHEN COUNT(*) > ${MAX_PREFETCHES} THEN COUNT(*) ELSE COUNT(DISTINCT e.ip_prefix || ' ' || e.user_agent_hash) END FROM clicks e
			WHERE e.click_hash = c.click_hash AND e.reason <> 'voided' AND e.reason = 'prefetch') > ${MAX_PREFETCHERS}
		OR (c.reason IN ('no_user_agent', 'bot', 'data_centre')
			AND EXISTS (SELECT 1 FROM clicks e WHERE e.click_hash = c.click_hash AND e.reason <> 'voided' AND e.reason = 'prefetch'))
		THEN 1 ELSE 0 END AS "isStuffed"`;

/** Of a click `c`: only the bids of tests have no price. */
const isTest = sql`CASE WHEN c.reason = 'test' OR (c.kind = 'openrtb' AND c.bid_micros = 0) THEN 1 ELSE 0 END AS "isTest"`;

const clickColumns = sql`c.id, c.click_hash AS "clickHash", c.reason, c.clicked_at AS "clickedAt", c.publisher_id AS "publisherId",
	c.brand_id AS "brandId", c.campaign_id AS "campaignId", c.platform, c.publisher_click_id AS "publisherClickId",
	c.source_id AS "sourceId", c.pricing_model AS "pricingModel", c.written_by AS "writtenBy",
	CASE WHEN p.id IS NOT NULL THEN coalesce(c.revenue_share_ppm, p.revenue_share_ppm) END AS "revenueSharePpm",
	p.pricing_model AS "publisherPricingModel", ${isTest}, ${surroundings}, ${isStuffed}`;

/** Of a click `c`. */
const aroundClick = sql`LEFT JOIN publishers p ON p.id = c.publisher_id LEFT JOIN campaigns g ON g.campaign_id = c.campaign_id`;

/** Of a conversion `v`, beside {@link storedOf}. */
const isStored = sql`v.platform = k.value ->> 'platform' AND v.txnid = k.value ->> 'txnid'`;

/** What settling asks of the ledger. */
export type AskedOfLedger = {
	/** Ids of what comes in. */
	intakeIds: readonly string[];
	postbacks: readonly { platform: string; postback: Postback }[];
	/** Conversions to look at again. */
	others: readonly ConversionKey[];
	/** clicks.id that an operator names. */
	clickIds: readonly string[];
};

/** All of it at one moment. */
export async function selectLedgerState(db: Database, { intakeIds, postbacks, others, clickIds }: AskedOfLedger): Promise<LedgerRows> {
	const keys = JSON.stringify([...postbacks.map(({ platform, postback: { txnid } }) => ({ platform, txnid })), ...others]);
	const stored = storedOf(keys);
	const wanted = wantedCids(stored, postbacks);
	const results = await runTransaction(db, [
		sql`SELECT i.id FROM json_each(${JSON.stringify(intakeIds)}) j CROSS JOIN postback_intake i WHERE i.id = j.atom`,
		selectConversions(stored),
		// By themselves, not joined: conversions and clicks may be on different nodes (decision 0034).
		sql`SELECT c.id, c.click_hash AS "clickHash", c.written_by AS "writtenBy", c.reason, ${isStuffed} FROM clicks c WHERE c.id IN (SELECT v.click_id ${stored} WHERE ${isStored})`,
		sql`SELECT id, currency, status_map AS "statusMap", negative_payout AS "negativePayout", max_payout_micros AS "maxPayoutMicros", match_by_publisher_click_id AS "matchByPublisherClickId"
			FROM platforms WHERE id IN (SELECT value ->> 'platform' FROM json_each(${keys}))`,
		selectClicksByHash(wanted),
		selectClicksByName(wanted),
		selectTold(stored, postbacks),
		selectRates(stored, postbacks),
		...(clickIds.length === 0 ? [] : [selectClicksById(clickIds)]),
	]);
	const [intakes, conversionRows, hashClicks, platforms, byHash, byName, told, rates, byId = []] = results.map(({ results }) => results);
	return {
		intakes: intakes as { id: string }[],
		conversions: conversionRows as KnownConversion[],
		hashClicks: hashClicks as HashClick[],
		platforms: platforms as PlatformRow[],
		byHash: byHash as ClickRow[],
		byName: byName as ClickRow[],
		told: told as Told[],
		rates: rates as { id: string; usdNanos: number }[],
		byId: byId as ClickRow[],
	};
}

/** Before `WHERE` and {@link isStored}: the conversions `v` of some keys, given as JSON. */
function storedOf(keys: string): SQL {
	return sql`FROM json_each(${keys}) k CROSS JOIN conversions v`;
}

/** The click ids of what comes in, and of what is stored without a click. */
function wantedCids(stored: SQL, postbacks: AskedOfLedger["postbacks"]): SQL {
	const cids = JSON.stringify(postbacks.map(({ postback }) => postback.cid));
	return sql`(SELECT atom AS cid FROM json_each(${cids}) UNION SELECT v.cid ${stored} WHERE ${isStored} AND v.click_id IS NULL)`;
}

function selectConversions(stored: SQL): SQL {
	return sql`SELECT DISTINCT ${allColumns(conversions, "v")}, ${surroundings}, o.id AS "lastId", o.seq AS "lastSeq", o.status AS "lastStatus",
		o.payout_micros AS "lastPayoutMicros",
		CASE WHEN o.exposures = 0 AND o.lease IS NULL AND o.state <> 'delivered' THEN 1 ELSE 0 END AS "isLastUnsent"
		${stored}
		LEFT JOIN publishers p ON p.id = v.publisher_id
		LEFT JOIN campaigns g ON g.campaign_id = v.campaign_id
		LEFT JOIN callbacks o ON o.platform = v.platform AND o.txnid = v.txnid
			AND o.seq = (SELECT max(seq) FROM callbacks b WHERE b.platform = v.platform AND b.txnid = v.txnid)
		WHERE ${isStored}`;
}

function selectClicksByHash(wanted: SQL): SQL {
	return sql`SELECT w.cid AS wanted, ${clickColumns} FROM ${wanted} w
		CROSS JOIN clicks c ${aroundClick}
		WHERE length(w.cid) = 32 AND c.id IN (
			SELECT id FROM clicks WHERE click_hash = lower(w.cid) AND (reason IS NULL OR reason = 'voided')
			UNION SELECT id FROM (SELECT id FROM clicks WHERE click_hash = lower(w.cid) AND reason <> 'voided' ORDER BY id LIMIT ${MAX_CLICKS_OF_ONE_HASH}))`;
}

function selectClicksByName(wanted: SQL): SQL {
	return sql`SELECT w.cid AS wanted, ${clickColumns} FROM ${wanted} w
		CROSS JOIN clicks c ${aroundClick}
		WHERE c.id IN (SELECT id FROM clicks WHERE publisher_click_id = w.cid LIMIT ${MAX_CANDIDATES + 1})`;
}

function selectClicksById(ids: readonly string[]): SQL {
	return sql`SELECT c.id AS wanted, ${clickColumns} FROM json_each(${JSON.stringify(ids)}) j
		CROSS JOIN clicks c ${aroundClick}
		WHERE c.id = j.atom`;
}

/** Of hashes, too, which nearly all name: a publisher may call its click what looks like one. */
function selectTold(stored: SQL, postbacks: AskedOfLedger["postbacks"]): SQL {
	const named = JSON.stringify(postbacks.map(({ platform, postback: { cid } }) => ({ platform, cid })));
	return sql`SELECT w.platform, w.cid, (SELECT min(CASE WHEN t.platform = w.platform AND t.click_id IS NULL THEN t.first_received_at END) FROM (
			SELECT platform, click_id, first_received_at FROM conversions WHERE cid = w.cid LIMIT ${MAX_TOLD_BEFORE}) t) AS "toldAt"
		FROM (SELECT value ->> 'platform' AS platform, value ->> 'cid' AS cid FROM json_each(${named})
			UNION SELECT v.platform, v.cid ${stored} WHERE ${isStored} AND v.click_id IS NULL) w`;
}

function selectRates(stored: SQL, postbacks: AskedOfLedger["postbacks"]): SQL {
	const days = JSON.stringify(
		postbacks.map(({ platform, postback: { txnid, currency, eventAt } }) => ({ platform, txnid, currency, day: utcDay(eventAt) })),
	);
	return sql`SELECT id, usd_nanos AS "usdNanos" FROM exchange_rates WHERE id IN (
		SELECT coalesce(d.value ->> 'currency',
			(SELECT default_currency FROM conversions f WHERE f.platform = d.value ->> 'platform' AND f.txnid = d.value ->> 'txnid'),
			(SELECT currency FROM platforms p WHERE p.id = d.value ->> 'platform')) || ' ' || (d.value ->> 'day') FROM json_each(${days}) d
		UNION SELECT v.currency || ' ' || date(v.event_at / 1000, 'unixepoch') ${stored} WHERE ${isStored})`;
}
