/** Reads all that deciding a batch of clicks rests on, at one moment. The statements are constant texts: they run a hundred times a second. */
import { sql } from "drizzle-orm";
import { type Database, readByKeys, textOf } from "../../db/client.ts";
import { namedCells, writeCells } from "../../db/json-rows.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { brandSubject, publisherSubject } from "../../lib/stop-subject.ts";
import { DAY_MS, hourOf, localDay, utcDay } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import { networkOfClick, visitWindowMs } from "./batch-visits.ts";
import {
	type ClickState,
	campaignDayKey,
	connectionHourKey,
	networkHourKey,
	type PaidVisit,
	publisherDayKey,
	sourceKey,
} from "./click-state.ts";
import { policyOf } from "./click-terms.ts";
import { budgetCostOf, hasCap, type Spent } from "./decide-pause.ts";
import type { Facts } from "./facts.ts";
import type { KnownFacts } from "./kept-facts.ts";
import { type Stop, stopKey, stopOwnersOf } from "./stops.ts";

/**
 * A bid is paid for a week at most (`bid_pay_minutes`), so what a hash was billed for is no older. Hashes are thus looked for in the newest
 * partitions alone, where clicks are partitioned.
 */
const BILLED_WITHIN_MS = 8 * DAY_MS;

/**
 * ?1 ids, ?2 hashes, ?3 the least id of a click that may be billed for one of them: what of the batch is stored or billed already, the number
 * of the last transaction that counted, and whether prices are learned from what is counted.
 */
const SELECT_KNOWN = textOf(sql`SELECT 'version' AS kind, CAST(version AS TEXT) AS value FROM click_sequence WHERE id = 1
	UNION ALL SELECT 'learning', CAST(learning_gap AS TEXT) FROM click_sequence WHERE id = 1 AND learning_gap IS NOT NULL
	UNION ALL SELECT 'id', id FROM clicks WHERE id IN (SELECT atom FROM json_each(?1))
	UNION ALL SELECT 'hash', click_hash FROM clicks
		WHERE click_hash IN (SELECT atom FROM json_each(?2)) AND id >= ?3 AND (reason IS NULL OR reason = 'voided')`);

const CAMPAIGN_DAYS = ["campaignId", "from", "to", "totalOf"] as const;
/** `totalOf` is the campaign where it has a budget of all days, else null. Without a row there is no `day`. */
const campaignDays = namedCells(CAMPAIGN_DAYS, sql`asked.value`);
const SELECT_SPENT = textOf(sql`SELECT CAST(${campaignDays.campaignId} AS BIGINT) AS "campaignId", d.day,
		coalesce(d.click_count, 0) AS "dayClicks", coalesce(d.spend_micros, 0) AS "daySpend", coalesce(d.gross_micros, 0) AS "dayGross",
		coalesce(t.click_count, 0) AS "everClicks", coalesce(t.spend_micros, 0) AS "everSpend", coalesce(t.gross_micros, 0) AS "everGross"
	FROM json_each(?1) asked
	LEFT JOIN campaign_days d ON d.campaign_id = CAST(${campaignDays.campaignId} AS BIGINT)
		AND d.day BETWEEN ${campaignDays.from} AND ${campaignDays.to}
	LEFT JOIN campaign_totals t ON t.campaign_id = CAST(${campaignDays.totalOf} AS BIGINT)`);

const CONNECTION_TIMES = ["publisherId", "connection", "from", "to"] as const;
const asked = namedCells(CONNECTION_TIMES, sql`asked.value`);
/**
 * Of each connection the latest 5,000: more than `velocity` lets through in the two hours around a click, however high it is set. Each
 * is asked by itself: joined, PostgreSQL would go through all visits there are, where it believes that there are few.
 * Neither ids nor hashes have spaces or commas.
 */
const SELECT_VISITS = textOf(sql`SELECT asked.key AS place, (SELECT group_concat(latest.visit)
		FROM (SELECT v.clicked_at || ' ' || v.brand_id || ' ' || v.click_id || ' '
			|| CASE WHEN v.voided_by IS NULL THEN 0 ELSE 1 END || ' ' || v.user_agent_hash AS visit FROM paid_visits v
			WHERE v.publisher_id = ${asked.publisherId} AND v.connection = ${asked.connection}
				AND v.clicked_at BETWEEN CAST(${asked.from} AS BIGINT) AND CAST(${asked.to} AS BIGINT)
			ORDER BY v.clicked_at DESC LIMIT 5000) latest) AS visits
	FROM json_each(?1) asked`);

const NETWORK_HOUR = ["publisherId", "network", "hour"] as const;
const networkHour = namedCells(NETWORK_HOUR, sql`asked.value`);
const SELECT_NETWORKS = textOf(sql`SELECT n.publisher_id AS "publisherId", n.network, n.hour, n.click_count AS count
	FROM json_each(?1) asked CROSS JOIN paid_networks n
	WHERE n.publisher_id = ${networkHour.publisherId} AND n.network = ${networkHour.network} AND n.hour = CAST(${networkHour.hour} AS BIGINT)`);

const CONNECTION_HOUR = ["connection", "hour"] as const;
const connectionHour = namedCells(CONNECTION_HOUR, sql`asked.value`);
const SELECT_UNPAID = textOf(sql`SELECT u.connection, u.hour, u.stored FROM json_each(?1) asked CROSS JOIN unpaid_hours u
	WHERE u.connection = ${connectionHour.connection} AND u.hour = CAST(${connectionHour.hour} AS BIGINT)`);

const SOURCE = ["publisherId", "date", "dayBefore", "source"] as const;
const source = namedCells(SOURCE, sql`asked.value`);
/** What a publisher has on a day, and those of its sources that are known then, or had a sale on the day before: other rows tell nothing. */
const SELECT_SOURCES = textOf(sql`SELECT p.publisher_id AS "publisherId", p.date, CAST(NULL AS TEXT) AS source, p.source_count AS count
	FROM json_each(?1) asked CROSS JOIN daily_publishers p WHERE p.publisher_id = ${source.publisherId} AND p.date = ${source.date}
	UNION ALL SELECT s.publisher_id, s.date, s.source_id, 0 FROM json_each(?1) asked CROSS JOIN daily_sources s
	WHERE s.publisher_id = ${source.publisherId} AND s.date = ${source.date} AND s.source_id = ${source.source}
	UNION ALL SELECT s.publisher_id, ${source.date}, s.source_id, -1 FROM json_each(?1) asked CROSS JOIN daily_sources s
	WHERE s.publisher_id = ${source.publisherId} AND s.date = ${source.dayBefore} AND s.source_id = ${source.source} AND s.conversion_count > 0`);

const STOP_OWNER = ["subject", "domain"] as const;
const owner = namedCells(STOP_OWNER, sql`asked.value`);
const BRAND_STOP = ["brandId", "prefix", "publisher"] as const;
const brandStop = namedCells(BRAND_STOP, sql`asked.value`);
/**
 * ?1 is whose stops are asked; ?2 the same of brands whose domain is not known here: their own, and a publisher's of them. `prefix` stands
 * before a brand's domain.
 */
const SELECT_STOPS = textOf(sql`SELECT s.subject, s.domain, s.reason, s.country, s.since FROM json_each(?1) asked CROSS JOIN stops s
	WHERE s.subject = ${owner.subject} AND s.domain = ${owner.domain}
	UNION ALL SELECT s.subject, s.domain, s.reason, s.country, s.since
	FROM json_each(?2) asked CROSS JOIN brands b CROSS JOIN stops s
	WHERE b.id = CAST(${brandStop.brandId} AS BIGINT) AND s.subject = ${brandStop.prefix} || b.domain AND s.domain = ''
	UNION ALL SELECT s.subject, s.domain, s.reason, s.country, s.since
	FROM json_each(?2) asked CROSS JOIN brands b CROSS JOIN stops s
	WHERE b.id = CAST(${brandStop.brandId} AS BIGINT) AND s.subject = ${brandStop.publisher} AND s.domain = b.domain`);

type KnownRow = { kind: "version" | "learning" | "id" | "hash"; value: string };
type SpentRow = Record<"campaignId" | "dayClicks" | "daySpend" | "dayGross" | "everClicks" | "everSpend" | "everGross", number> & {
	day: string | null;
};
/** Visits of the connection that was asked for at a place; null for none. */
type VisitsRow = { place: number; visits: string | null };
type NetworkRow = NetworkHour & { count: number };
type UnpaidRow = { connection: string; hour: number; stored: number };
/** Without a source, the publisher's number of them; with one, it is known, or below zero, had a sale on the day before. */
type SourceRow = { publisherId: string; date: string; source: string | null; count: number };

/** @param known is whole afterwards: what it still asks is asked in the same round trip */
export async function readClickState(db: Database, clicks: readonly ClickMessage[], { facts, questions }: KnownFacts): Promise<ClickState> {
	const open = clicks.filter(({ reason }) => reason === undefined);
	const ids = JSON.stringify(clicks.map(({ id }) => id));
	const hashes = JSON.stringify(open.map(({ hash }) => hash));
	const oldest = clicks.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
	const statements = [db.$client.prepare(SELECT_KNOWN).bind(ids, hashes, leastIdAt(oldest - BILLED_WITHIN_MS))];
	/** A question that the batch does not ask costs no statement. Returns where its rows will stand. */
	const ask = (text: string, ...lists: readonly string[]): number => {
		if (lists.every((list) => list === "[]")) return Number.NaN;
		return statements.push(db.$client.prepare(text).bind(...lists)) - 1;
	};
	const connectionTimes = connectionTimesOf(open, facts);
	const spentAt = ask(SELECT_SPENT, writeCells(CAMPAIGN_DAYS, campaignDaysOf(open, facts)));
	const visitsAt = ask(SELECT_VISITS, writeCells(CONNECTION_TIMES, [...connectionTimes.values()]));
	const networksAt = ask(SELECT_NETWORKS, writeCells(NETWORK_HOUR, networkHoursOf(open, facts)));
	const unpaidAt = ask(SELECT_UNPAID, writeCells(CONNECTION_HOUR, connectionHoursOf(clicks)));
	const sourcesAt = ask(SELECT_SOURCES, writeCells(SOURCE, sourcesOf(open, facts)));
	const stopsAt = ask(SELECT_STOPS, writeCells(STOP_OWNER, stopOwners(open, facts)), writeCells(BRAND_STOP, brandStops(open, facts)));
	for (const { text, value } of questions) statements.push(db.$client.prepare(text).bind(value));
	const results = await readByKeys(db.$client, statements);
	const firstAnswer = results.length - questions.length;
	for (const [at, { take }] of questions.entries()) take(results[firstAnswer + at]?.results ?? []);
	// A campaign that was not known then may look further around its clicks.
	if (questions.length > 0 && !covers(connectionTimes, connectionTimesOf(open, facts)))
		return readClickState(db, clicks, { facts, questions: [] });
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	const known = rows<KnownRow>(0);
	const valuesOf = (kind: KnownRow["kind"]) => known.filter((row) => row.kind === kind).map(({ value }) => value);
	const [version] = valuesOf("version");
	if (version === undefined) throw new Error("click_sequence has no row: the migrations did not run");
	const spent = rows<SpentRow>(spentAt);
	const costOf = (campaignId: number, bidMicros: number, grossMicros: number) =>
		budgetCostOf(facts.campaigns.get(campaignId)?.budgetBasis ?? "publisher", { bidMicros, grossMicros });
	const sources = rows<SourceRow>(sourcesAt);
	return {
		version: Number(version),
		isLearned: valuesOf("learning").length > 0,
		storedIds: new Set(valuesOf("id")),
		billedHashes: new Set(valuesOf("hash")),
		spentOnDays: new Map(
			spent.flatMap((row): [string, Spent][] => {
				if (row.day === null) return [];
				const micros = costOf(row.campaignId, row.daySpend, row.dayGross);
				return [[campaignDayKey(row.campaignId, row.day), { clicks: row.dayClicks, micros }]];
			}),
		),
		spentEver: new Map(
			spent.map((row): [number, Spent] => [
				row.campaignId,
				{ clicks: row.everClicks, micros: costOf(row.campaignId, row.everSpend, row.everGross) },
			]),
		),
		visits: visitsOf(rows<VisitsRow>(visitsAt), [...connectionTimes.values()]),
		paidOfNetworks: new Map(
			rows<NetworkRow>(networksAt).map(({ publisherId, network, hour, count }) => [networkHourKey(publisherId, network, hour), count]),
		),
		unpaidStored: new Map(rows<UnpaidRow>(unpaidAt).map((row) => [connectionHourKey(row.connection, row.hour), row.stored])),
		sourceCounts: new Map(
			sources.flatMap(({ publisherId, date, source, count }) => (source === null ? [[publisherDayKey(publisherId, date), count]] : [])),
		),
		knownSources: takeSources(sources, facts),
		soldOnDayBefore: new Set(
			sources.flatMap(({ publisherId, date, source, count }) =>
				source !== null && count < 0 ? [sourceKey(publisherId, date, source)] : [],
			),
		),
		stops: Map.groupBy(rows<Stop>(stopsAt), stopKey),
	};
}

function visitsOf(rows: readonly VisitsRow[], asked: readonly ConnectionTimes[]): PaidVisit[] {
	return rows.flatMap(({ place, visits }) => {
		const of = asked[place];
		if (visits === null || of === undefined) return [];
		return visits.split(",").map((visit): PaidVisit => {
			const [clickedAt, brandId, clickId = "", voided, userAgentHash = ""] = visit.split(" ");
			const { publisherId, connection } = of;
			return {
				clickId,
				publisherId,
				connection,
				userAgentHash,
				brandId: Number(brandId),
				clickedAt: Number(clickedAt),
				isVoided: voided === "1",
			};
		});
	});
}

/** Remembers the sources that are known now; the facts have them from batch to batch. */
function takeSources(rows: readonly SourceRow[], { sources }: Facts): ReadonlySet<string> {
	for (const { publisherId, date, source, count } of rows) {
		if (source !== null && count >= 0) sources.add(sourceKey(publisherId, date, source));
	}
	return sources;
}

/** Rows without repetition. */
function distinct<Row>(rows: readonly Row[]): Row[] {
	return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

/** Of a campaign that is not known, neither its caps nor its clocks are: the days that it may be there. */
function campaignDaysOf(clicks: readonly ClickMessage[], { campaigns }: Facts) {
	return distinct(
		clicks.flatMap(({ campaignId, at }) => {
			const campaign = campaigns.get(campaignId);
			if (campaign === undefined) return [{ campaignId, from: utcDay(at - DAY_MS), to: utcDay(at + DAY_MS), totalOf: campaignId }];
			if (!hasCap(campaign)) return [];
			const day = localDay(campaign.timezone, at);
			return [{ campaignId, from: day, to: day, totalOf: campaign.totalBudgetMicros === null ? null : campaignId }];
		}),
	);
}

type ConnectionTimes = Record<"publisherId" | "connection", string> & Record<"from" | "to", number>;

/** Each connection of a publisher once, with all the times around its clicks. */
function connectionTimesOf(clicks: readonly ClickMessage[], facts: Facts): ReadonlyMap<string, ConnectionTimes> {
	const asked = new Map<string, ConnectionTimes>();
	for (const click of clicks) {
		const publisherId = facts.publishers.get(click.publisher)?.id;
		const { connection, at } = click;
		const policy = policyOf(facts, click);
		if (publisherId === undefined || connection === undefined) continue;
		if (policy.modes.repeat === "off" && policy.modes.velocity === "off") continue;
		const windowMs = visitWindowMs(policy);
		const key = `${connection} ${publisherId}`;
		const known = asked.get(key) ?? { publisherId, connection, from: at, to: at };
		asked.set(key, { ...known, from: Math.min(known.from, at - windowMs), to: Math.max(known.to, at + windowMs) });
	}
	return asked;
}

/** Whether what was asked of each connection is all that is needed. */
function covers(asked: ReadonlyMap<string, ConnectionTimes>, needed: ReadonlyMap<string, ConnectionTimes>): boolean {
	return [...needed].every(([key, { from, to }]) => {
		const times = asked.get(key);
		return times !== undefined && times.from <= from && to <= times.to;
	});
}

type NetworkHour = Record<"publisherId" | "network", string> & { hour: number };

function networkHoursOf(clicks: readonly ClickMessage[], facts: Facts): NetworkHour[] {
	return distinct(
		clicks.flatMap((click) => {
			const publisherId = facts.publishers.get(click.publisher)?.id;
			const network = networkOfClick(click);
			return publisherId === undefined || network === null ? [] : [{ publisherId, network, hour: hourOf(click.at) }];
		}),
	);
}

/** Of all clicks: one that the redirect let pass may yet be found unpaid. */
function connectionHoursOf(clicks: readonly ClickMessage[]) {
	return distinct(clicks.flatMap(({ connection, at }) => (connection === undefined ? [] : [{ connection, hour: hourOf(at) }])));
}

/** Each of them once. */
function stopOwners(clicks: readonly ClickMessage[], facts: Facts) {
	const owners = clicks.flatMap((click) => stopOwnersOf(click, facts));
	return [...new Map(owners.map((of) => [stopKey(of), of])).values()];
}

/** Brands whose domain is not known, each with the publishers of its clicks. */
function brandStops(clicks: readonly ClickMessage[], { publishers, domains }: Facts) {
	return distinct(
		clicks.flatMap(({ brandId, publisher }) => {
			if (domains.has(brandId)) return [];
			const publisherId = publishers.get(publisher)?.id;
			return [{ brandId, prefix: brandSubject(""), publisher: publisherId === undefined ? null : publisherSubject(publisherId) }];
		}),
	);
}

/** Those that are not known yet. */
function sourcesOf(clicks: readonly ClickMessage[], { publishers, sources }: Facts) {
	return distinct(
		clicks.flatMap(({ publisher, at, texts }) => {
			const publisherId = publishers.get(publisher)?.id;
			const row = { publisherId, date: utcDay(at), dayBefore: utcDay(at - DAY_MS), source: texts?.subi ?? texts?.psorc ?? "" };
			return publisherId === undefined || sources.has(sourceKey(publisherId, row.date, row.source)) ? [] : [row];
		}),
	);
}
