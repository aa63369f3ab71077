/** Everything that settling a batch has to know, read from the database at one moment. */
import type { Database } from "../db/client.ts";
import { ERASED } from "../db/schema/clicks.ts";
import type { Amendments } from "../lib/enums.ts";
import { type Conversion, type ConversionKey, keyOf, toConversion } from "./conversion.ts";
import { USD_NANOS } from "./exchange.ts";
import type { HoldFacts } from "./holds.ts";
import { asClickHash, type CandidateClick, type ClickMatch, matchClick, NAMES_NONE } from "./match-click.ts";
import type { LastCallback } from "./owed-callbacks.ts";
import type { StatedPlatform } from "./restate.ts";
import {
	type AskedOfLedger,
	type HashClick,
	type KnownConversion,
	type LedgerRows,
	type Surroundings,
	selectLedgerState,
} from "./select-ledger-state.ts";

type PlatformFacts = StatedPlatform & { maxPayoutMicros: number | null; matchByPublisherClickId: boolean };

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

export async function readLedgerState(
	db: Database,
	{ intakeIds = [], postbacks = [], others = [], clickIds = [] }: Partial<AskedOfLedger>,
): Promise<LedgerState> {
	return arrange(await selectLedgerState(db, { intakeIds, postbacks, others, clickIds }));
}

function arrange(rows: LedgerRows): LedgerState {
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
