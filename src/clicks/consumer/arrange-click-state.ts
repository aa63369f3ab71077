/** What was read for a batch of clicks, as deciding them asks for it: pure, but that the facts remember sources. */
import type { ConnectionTimes } from "./asked-of-clicks.ts";
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
import type { KnownRow, NetworkRow, SourceRow, SpentRow, UnpaidRow, VisitsRow } from "./select-click-state.ts";
import { type Stop, stopKey } from "./stops.ts";

/** What each statement found; nothing where it was not asked. */
export type ClickRows = {
	known: readonly KnownRow[];
	spent: readonly SpentRow[];
	visits: readonly VisitsRow[];
	networks: readonly NetworkRow[];
	unpaid: readonly UnpaidRow[];
	sources: readonly SourceRow[];
	stops: readonly Stop[];
};

/** @param asked what the rows of visits are of, by their place */
export function arrangeClickState(rows: ClickRows, asked: readonly ConnectionTimes[], facts: Facts): ClickState {
	const { networks, unpaid, sources, stops } = rows;
	return {
		...arrangeKnown(rows.known),
		...arrangeSpent(rows.spent, facts),
		visits: visitsOf(rows.visits, asked),
		paidOfNetworks: new Map(networks.map(({ publisherId, network, hour, count }) => [networkHourKey(publisherId, network, hour), count])),
		unpaidStored: new Map(unpaid.map(({ connection, hour, stored }) => [connectionHourKey(connection, hour), stored])),
		sourceCounts: new Map(
			sources.flatMap(({ publisherId, date, source, count }) => (source === null ? [[publisherDayKey(publisherId, date), count]] : [])),
		),
		knownSources: takeSources(sources, facts),
		soldOnDayBefore: new Set(
			sources.flatMap(({ publisherId, date, source, count }) =>
				source !== null && count < 0 ? [sourceKey(publisherId, date, source)] : [],
			),
		),
		stops: Map.groupBy(stops, stopKey),
	};
}

function arrangeKnown(known: readonly KnownRow[]): Pick<ClickState, "version" | "isLearned" | "storedIds" | "billedHashes"> {
	const valuesOf = (kind: KnownRow["kind"]) => known.filter((row) => row.kind === kind).map(({ value }) => value);
	const [version] = valuesOf("version");
	if (version === undefined) throw new Error("click_sequence has no row: the migrations did not run");
	return {
		version: Number(version),
		isLearned: valuesOf("learning").length > 0,
		storedIds: new Set(valuesOf("id")),
		billedHashes: new Set(valuesOf("hash")),
	};
}

/** By the basis of each campaign's budget. */
function arrangeSpent(spent: readonly SpentRow[], { campaigns }: Facts): Pick<ClickState, "spentOnDays" | "spentEver"> {
	const costOf = (campaignId: number, bidMicros: number, grossMicros: number) =>
		budgetCostOf(campaigns.get(campaignId)?.budgetBasis ?? "publisher", { bidMicros, grossMicros });
	return {
		spentOnDays: new Map(
			spent.flatMap(({ campaignId, day, dayClicks: clicks, daySpend, dayGross }): [string, Spent][] =>
				day === null ? [] : [[campaignDayKey(campaignId, day), { clicks, micros: costOf(campaignId, daySpend, dayGross) }]],
			),
		),
		spentEver: new Map(
			spent.map(({ campaignId, everClicks: clicks, everSpend, everGross }): [number, Spent] => [
				campaignId,
				{ clicks, micros: costOf(campaignId, everSpend, everGross) },
			]),
		),
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
