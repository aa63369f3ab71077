/** Everything that settling a batch has to know, read from the database at one moment. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { allColumns } from "../db/json-rows.ts";
import { ERASED } from "../db/schema/clicks.ts";
import { conversions } from "../db/schema/conversions.ts";
import type { Amendments, CallbackStatus, NegativePayout } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import { type Conversion, type ConversionKey, type ConversionRow, keyOf, toConversion } from "./conversion.ts";
import { USD_NANOS } from "./exchange.ts";
import type { HoldFacts } from "./holds.ts";
import { asClickHash, type CandidateClick, type ClickMatch, MAX_CANDIDATES, matchClick, NAMES_NONE } from "./match-click.ts";
import type { Postback } from "./message.ts";
import type { LastCallback } from "./owed-callbacks.ts";
import type { StatedPlatform } from "./restate.ts";

type PlatformFacts = StatedPlatform & { maxPayoutMicros: number | null; matchByPublisherClickId: boolean };
type PlatformRow = {
	id: string;
	currency: string;
	statusMap: string;
	negativePayout: NegativePayout;
	maxPayoutMicros: number | null;
	matchByPublisherClickId: number;
};

export type LedgerState = {
	/** Ids of the intake rows that are stored already. */
	storedIntakes: ReadonlySet<string>;
	conversionOf: (key: ConversionKey) => Conversion | null;
	lastCallbackOf: (key: ConversionKey) => LastCallback | null;
	platformOf: (id: string) => PlatformFacts | null;
	/** @param toldAt when the conversion was first told of, Unix ms */
	findClick: (platform: string, cid: string, toldAt: number) => ClickMatch;
	/** One of the clicks that were asked for by id; null where it is not there. */
	clickOf: (id: string) => CandidateClick | null;
	usdNanosOf: (currency: string, day: string) => number | null;
	holdFactsOf: (conversion: Conversion) => HoldFacts;
	/**
	 * What a postback has as its click id where it is of the click of an erased user, or names one: that click's hash. Where it is not by its
	 * platform that the sale had that click before, the hash of the one that the postback names, if there is such a click, or none: by what it
	 * has instead it finds no other. Null for all others.
	 */
	erasedCidOf: (postback: Pick<Conversion, "platform" | "txnid" | "clickId" | "attribution" | "cid">) => string | null;
	/** Whether the click was billed, even if it was taken back since: reports of a publisher paid by clicks have a record of it. */
	isBilledClick: (clickId: string | null) => boolean;
	hasCallbackUrl: (publisherId: string) => boolean;
	amendmentsOf: (publisherId: string) => Amendments;
};

/** What is known beside a stored conversion and beside a click alike. */
type Surroundings = {
	publisherId: string | null;
	campaignId: number | null;
	hasCallbackUrl: number;
	amendments: Amendments | null;
	isSuspended: number;
	campaignMaxMicros: number | null;
};
/** What the redirects of a click's hash say of it. */
type HashClick = {
	id: string;
	clickHash: string;
	writtenBy: string;
	reason: CandidateClick["reason"];
	/** Whether others than its user called the click's URL: any page that embedded it, or more than some that prefetched it. */
	isStuffed: number;
};
type KnownConversion = ConversionRow &
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

/** Of a click `c`. */
const isStuffed = sql`CASE WHEN EXISTS (SELECT 1 FROM clicks e WHERE e.click_hash = c.click_hash AND e.reason <> 'voided' AND e.reason = 'embedded')
		OR (SELECT CASE WHEN COUNT(*) > ${MAX_PREFETCHES} THEN COUNT(*) ELSE COUNT(DISTINCT e.ip_prefix || ' ' || e.user_agent_hash) END FROM clicks e
			WHERE e.click_hash = c.click_hash AND e.reason <> 'voided' AND e.reason = 'prefetch') > ${MAX_PREFETCHERS} THEN 1 ELSE 0 END AS "isStuffed"`;

/** Of a click `c`: only the bids of tests have no price. */
const isTest = sql`CASE WHEN c.reason = 'test' OR (c.kind = 'openrtb' AND c.bid_micros = 0) THEN 1 ELSE 0 END AS "isTest"`;

const clickColumns = sql`c.id, c.click_hash AS "clickHash", c.reason, c.clicked_at AS "clickedAt", c.publisher_id AS "publisherId",
	c.brand_id AS "brandId", c.campaign_id AS "campaignId", c.platform, c.publisher_click_id AS "publisherClickId",
	c.source_id AS "sourceId", c.pricing_model AS "pricingModel", c.written_by AS "writtenBy",
	CASE WHEN p.id IS NOT NULL THEN coalesce(c.revenue_share_ppm, p.revenue_share_ppm) END AS "revenueSharePpm",
	p.pricing_model AS "publisherPricingModel", ${isTest}, ${surroundings}, ${isStuffed}`;

/** @param postbacks what comes in @param others conversions to look at again @param clickIds clicks.id that an operator names */
export async function readLedgerState(
	db: Database,
	intakeIds: readonly string[],
	postbacks: readonly { platform: string; postback: Postback }[],
	others: readonly ConversionKey[],
	clickIds: readonly string[] = [],
): Promise<LedgerState> {
	const keys = JSON.stringify([...postbacks.map(({ platform, postback: { txnid } }) => ({ platform, txnid })), ...others]);
	const cids = JSON.stringify(postbacks.map(({ postback }) => postback.cid));
	const named = JSON.stringify(postbacks.map(({ platform, postback: { cid } }) => ({ platform, cid })));
	const days = JSON.stringify(
		postbacks.map(({ platform, postback: { txnid, currency, eventAt } }) => ({ platform, txnid, currency, day: utcDay(eventAt) })),
	);
	const stored = sql`FROM json_each(${keys}) k CROSS JOIN conversions v`;
	const isStored = sql`v.platform = k.value ->> 'platform' AND v.txnid = k.value ->> 'txnid'`;
	// The click ids of what comes in, and of what is stored without a click.
	const wanted = sql`(SELECT atom AS cid FROM json_each(${cids}) UNION SELECT v.cid ${stored} WHERE ${isStored} AND v.click_id IS NULL)`;
	const results = await runTransaction(db, [
		sql`SELECT i.id FROM json_each(${JSON.stringify(intakeIds)}) j CROSS JOIN postback_intake i WHERE i.id = j.atom`,
		sql`SELECT DISTINCT ${allColumns(conversions, "v")}, ${surroundings}, o.id AS "lastId", o.seq AS "lastSeq", o.status AS "lastStatus",
			o.payout_micros AS "lastPayoutMicros",
			CASE WHEN o.exposures = 0 AND o.lease IS NULL AND o.state <> 'delivered' THEN 1 ELSE 0 END AS "isLastUnsent"
			${stored}
			LEFT JOIN publishers p ON p.id = v.publisher_id
			LEFT JOIN campaigns g ON g.campaign_id = v.campaign_id
			LEFT JOIN callbacks o ON o.platform = v.platform AND o.txnid = v.txnid
				AND o.seq = (SELECT max(seq) FROM callbacks b WHERE b.platform = v.platform AND b.txnid = v.txnid)
			WHERE ${isStored}`,
		// By themselves, not joined: conversions and clicks may be on different nodes (decision 0034).
		sql`SELECT c.id, c.click_hash AS "clickHash", c.written_by AS "writtenBy", c.reason, ${isStuffed} FROM clicks c WHERE c.id IN (SELECT v.click_id ${stored} WHERE ${isStored})`,
		sql`SELECT id, currency, status_map AS "statusMap", negative_payout AS "negativePayout", max_payout_micros AS "maxPayoutMicros", match_by_publisher_click_id AS "matchByPublisherClickId"
			FROM platforms WHERE id IN (SELECT value ->> 'platform' FROM json_each(${keys}))`,
		sql`SELECT w.cid AS wanted, ${clickColumns} FROM ${wanted} w
			CROSS JOIN clicks c
			LEFT JOIN publishers p ON p.id = c.publisher_id
			LEFT JOIN campaigns g ON g.campaign_id = c.campaign_id
			WHERE length(w.cid) = 32 AND c.id IN (
				SELECT id FROM clicks WHERE click_hash = lower(w.cid) AND (reason IS NULL OR reason = 'voided')
				UNION SELECT id FROM (SELECT id FROM clicks WHERE click_hash = lower(w.cid) AND reason <> 'voided' ORDER BY id LIMIT ${MAX_CLICKS_OF_ONE_HASH}))`,
		sql`SELECT w.cid AS wanted, ${clickColumns} FROM ${wanted} w
			CROSS JOIN clicks c
			LEFT JOIN publishers p ON p.id = c.publisher_id
			LEFT JOIN campaigns g ON g.campaign_id = c.campaign_id
			WHERE c.id IN (SELECT id FROM clicks WHERE publisher_click_id = w.cid LIMIT ${MAX_CANDIDATES + 1})`,
		// Hashes, too, which nearly all name: a publisher may call its click what looks like one.
		sql`SELECT w.platform, w.cid, (SELECT min(CASE WHEN t.platform = w.platform AND t.click_id IS NULL THEN t.first_received_at END) FROM (
				SELECT platform, click_id, first_received_at FROM conversions WHERE cid = w.cid LIMIT ${MAX_TOLD_BEFORE}) t) AS "toldAt"
			FROM (SELECT value ->> 'platform' AS platform, value ->> 'cid' AS cid FROM json_each(${named})
				UNION SELECT v.platform, v.cid ${stored} WHERE ${isStored} AND v.click_id IS NULL) w`,
		sql`SELECT id, usd_nanos AS "usdNanos" FROM exchange_rates WHERE id IN (
			SELECT coalesce(d.value ->> 'currency',
				(SELECT default_currency FROM conversions f WHERE f.platform = d.value ->> 'platform' AND f.txnid = d.value ->> 'txnid'),
				(SELECT currency FROM platforms p WHERE p.id = d.value ->> 'platform')) || ' ' || (d.value ->> 'day') FROM json_each(${days}) d
			UNION SELECT v.currency || ' ' || date(v.event_at / 1000, 'unixepoch') ${stored} WHERE ${isStored})`,
		...(clickIds.length === 0
			? []
			: [
					sql`SELECT c.id AS wanted, ${clickColumns} FROM json_each(${JSON.stringify(clickIds)}) j
						CROSS JOIN clicks c
						LEFT JOIN publishers p ON p.id = c.publisher_id
						LEFT JOIN campaigns g ON g.campaign_id = c.campaign_id
						WHERE c.id = j.atom`,
				]),
	]);
	const [intakeRows, conversionRows, hashClickRows, platformRows, hashRows, namedRows, toldRows, rateRows, clickRows = []] = results.map(
		({ results }) => results,
	);
	return arrange({
		intakes: intakeRows as { id: string }[],
		conversions: conversionRows as KnownConversion[],
		hashClicks: hashClickRows as HashClick[],
		platforms: platformRows as PlatformRow[],
		byHash: hashRows as ClickRow[],
		byName: namedRows as ClickRow[],
		told: toldRows as Told[],
		byId: clickRows as ClickRow[],
		rates: rateRows as { id: string; usdNanos: number }[],
	});
}

type Rows = {
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

function arrange(rows: Rows): LedgerState {
	const conversionByKey = new Map(rows.conversions.map((row) => [keyOf(row), row]));
	const platformById = new Map(
		rows.platforms.map(({ id, statusMap, matchByPublisherClickId, ...rest }): [string, PlatformFacts] => [
			id,
			{ ...rest, statusMap: JSON.parse(statusMap) as PlatformFacts["statusMap"], matchByPublisherClickId: matchByPublisherClickId === 1 },
		]),
	);
	const byHash = Map.groupBy(rows.byHash, ({ clickHash }) => clickHash);
	const byName = Map.groupBy(rows.byName, ({ wanted }) => wanted);
	const toldSince = new Map(rows.told.map(({ platform, cid, toldAt }) => [`${platform} ${cid}`, toldAt]));
	const rateById = new Map(rows.rates.map(({ id, usdNanos }) => [id, usdNanos]));
	const clickRows = [...rows.byHash, ...rows.byName, ...rows.byId];
	const around: readonly Surroundings[] = [...rows.conversions, ...clickRows];
	const publishersWith = (fact: "hasCallbackUrl" | "isSuspended") =>
		new Set(around.filter((row) => row[fact] === 1).map(({ publisherId }) => publisherId));
	const reachable = publishersWith("hasCallbackUrl");
	const suspended = publishersWith("isSuspended");
	const amendments = new Map(around.map((row) => [row.publisherId, row.amendments]));
	const campaignMaxMicros = new Map(around.map((row) => [row.campaignId, row.campaignMaxMicros]));
	const hashClicks: readonly HashClick[] = [...rows.hashClicks, ...clickRows];
	// Of a click that retention has removed nothing is known, which stands for a billed one.
	const clickReasons = new Map([
		...rows.conversions.map(({ clickId }) => [clickId, null] as const),
		...hashClicks.map(({ id, reason }) => [id, reason] as const),
	]);
	const stuffed = new Set(hashClicks.flatMap(({ id, isStuffed }) => (isStuffed === 1 ? [id] : [])));
	const erased = new Map(hashClicks.flatMap(({ id, clickHash, writtenBy }) => (writtenBy === ERASED ? [[id, clickHash]] : [])));
	const erasedHashes = new Set(erased.values());
	const byId = new Map(rows.byId.map((row) => [row.id, row]));
	const platformOf = (id: string) => platformById.get(id) ?? null;
	return {
		storedIntakes: new Set(rows.intakes.map(({ id }) => id)),
		conversionOf: (key) => withoutSurroundings(conversionByKey.get(keyOf(key))),
		lastCallbackOf: (key) => {
			const row = conversionByKey.get(keyOf(key));
			if (row === undefined || row.lastId === null || row.lastSeq === null || row.lastStatus === null) return null;
			const { lastId: id, lastSeq: seq, lastStatus: status, lastPayoutMicros, isLastUnsent } = row;
			return { id, seq, status, payoutMicros: lastPayoutMicros ?? 0, isUnsent: isLastUnsent === 1 };
		},
		platformOf,
		findClick: (platform, cid, toldAt) => {
			const named = platformOf(platform)?.matchByPublisherClickId === true ? byName.get(cid) : undefined;
			const since = Math.min(toldAt, toldSince.get(`${platform} ${cid}`) ?? toldAt);
			return matchClick(platform, byHash.get(asClickHash(cid) ?? "") ?? [], named ?? [], since);
		},
		clickOf: (id) => byId.get(id) ?? null,
		usdNanosOf: (currency, day) => (currency === "USD" ? USD_NANOS : (rateById.get(`${currency} ${day}`) ?? null)),
		holdFactsOf: ({ platform, campaignId, clickId, publisherId }) => ({
			platformMaxMicros: platformOf(platform)?.maxPayoutMicros ?? null,
			campaignMaxMicros: campaignMaxMicros.get(campaignId) ?? null,
			// Whoever stuffs pages with a bid's URL has clicked it once, and been paid: decision 0032.
			clickReason: clickId !== null && stuffed.has(clickId) ? "embedded" : (clickReasons.get(clickId) ?? null),
			isPublisherSuspended: suspended.has(publisherId),
		}),
		erasedCidOf: ({ clickId, attribution, cid, ...key }) => {
			const hash = asClickHash(cid);
			const own = erased.get(clickId ?? "");
			if (own === undefined) return hash !== null && erasedHashes.has(hash) ? hash : null;
			const hadClick = (conversionByKey.get(keyOf(key))?.clickId ?? null) !== null;
			if (hadClick && attribution !== "operator") return own;
			return hash !== null && byHash.has(hash) ? hash : NAMES_NONE;
		},
		isBilledClick: (clickId) => {
			const reason = clickReasons.get(clickId);
			return clickId !== null && (reason === null || reason === "voided");
		},
		hasCallbackUrl: (publisherId) => reachable.has(publisherId),
		amendmentsOf: (publisherId) => amendments.get(publisherId) ?? "none",
	};
}

function withoutSurroundings(row: KnownConversion | undefined): Conversion | null {
	if (row === undefined) return null;
	const { hasCallbackUrl: _, amendments: _1, isSuspended: _2, campaignMaxMicros: _3, ...known } = row;
	const { lastId: _4, lastSeq: _5, lastStatus: _6, lastPayoutMicros: _7, isLastUnsent: _8, ...stored } = known;
	return toConversion(stored);
}
