/** Reads all that deciding a batch of clicks rests on, at one moment. */
import { type Database, readByKeys } from "../../db/client.ts";
import { writeCells } from "../../db/json-rows.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import {
	brandStops,
	type ConnectionTimes,
	campaignDaysOf,
	connectionHoursOf,
	connectionTimesOf,
	covers,
	networkHoursOf,
	sourcesOf,
	stopOwners,
} from "./asked-of-clicks.ts";
import {
	type ClickState,
	campaignDayKey,
	connectionHourKey,
	networkHourKey,
	type PaidVisit,
	publisherDayKey,
	sourceKey,
} from "./click-state.ts";
import { budgetCostOf, type Spent } from "./decide-pause.ts";
import type { Facts } from "./facts.ts";
import type { KnownFacts } from "./kept-facts.ts";
import {
	BRAND_STOP,
	CAMPAIGN_DAYS,
	CONNECTION_HOUR,
	CONNECTION_TIMES,
	type KnownRow,
	NETWORK_HOUR,
	type NetworkRow,
	SELECT_KNOWN,
	SELECT_NETWORKS,
	SELECT_SOURCES,
	SELECT_SPENT,
	SELECT_STOPS,
	SELECT_UNPAID,
	SELECT_VISITS,
	SOURCE,
	type SourceRow,
	type SpentRow,
	STOP_OWNER,
	type UnpaidRow,
	type VisitsRow,
} from "./select-click-state.ts";
import { type Stop, stopKey } from "./stops.ts";

/**
 * A bid is paid for a week at most (`bid_pay_minutes`), so what a hash was billed for is no older. Hashes are thus looked for in the newest
 * partitions alone, where clicks are partitioned.
 */
const BILLED_WITHIN_MS = 8 * DAY_MS;

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
