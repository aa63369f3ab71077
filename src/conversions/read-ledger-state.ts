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
	const clicksByHash = Map.groupBy(rows.byHash, ({ clickHash }) => clickHash);
	const clickById = new Map(rows.byId.map((row) => [row.id, row]));
	const rateById = new Map(rows.rates.map(({ id, usdNanos }) => [id, usdNanos]));
	const clickRows = [...rows.byHash, ...rows.byName, ...rows.byId];
	const around: readonly Surroundings[] = [...rows.conversions, ...clickRows];
	const hashClicks: readonly HashClick[] = [...rows.hashClicks, ...clickRows];
	const reasonOf = arrangeReasons(rows.conversions, hashClicks);
	const platformOf = arrangePlatforms(rows);
	return {
		storedIntakes: new Set(rows.intakes.map(({ id }) => id)),
		conversionOf: (key) => withoutSurroundings(conversionByKey.get(keyOf(key))),
		lastCallbackOf: (key) => lastCallbackIn(conversionByKey.get(keyOf(key))),
		platformOf,
		findClick: arrangeNames(rows, clicksByHash, platformOf),
		clickOf: (id) => clickById.get(id) ?? null,
		usdNanosOf: (currency, day) => (currency === "USD" ? USD_NANOS : (rateById.get(`${currency} ${day}`) ?? null)),
		holdFactsOf: arrangeHoldFacts(around, hashClicks, reasonOf, platformOf),
		erasedCidOf: arrangeErased(hashClicks, clicksByHash, conversionByKey),
		isBilledClick: (clickId) => {
			const reason = reasonOf(clickId);
			return clickId !== null && (reason === null || reason === "voided");
		},
		...arrangePublishers(around),
	};
}

function arrangePlatforms({ platforms }: LedgerRows): LedgerState["platformOf"] {
	const platformById = new Map(
		platforms.map(({ id, statusMap, matchByPublisherClickId, ...rest }): [string, PlatformFacts] => [
			id,
			{ ...rest, statusMap: JSON.parse(statusMap) as PlatformFacts["statusMap"], matchByPublisherClickId: matchByPublisherClickId === 1 },
		]),
	);
	return (id) => platformById.get(id) ?? null;
}

/** By a click's hash, and by the publisher's click id where the platform is matched by it. */
function arrangeNames(
	rows: LedgerRows,
	clicksByHash: ReadonlyMap<string, CandidateClick[]>,
	platformOf: LedgerState["platformOf"],
): LedgerState["findClick"] {
	const clicksByName = Map.groupBy(rows.byName, ({ wanted }) => wanted);
	const toldSince = new Map(rows.told.map(({ platform, cid, toldAt }) => [`${platform} ${cid}`, toldAt]));
	return (platform, cid, toldAt) => {
		const named = platformOf(platform)?.matchByPublisherClickId === true ? clicksByName.get(cid) : undefined;
		const since = Math.min(toldAt, toldSince.get(`${platform} ${cid}`) ?? toldAt);
		return matchClick(platform, clicksByHash.get(asClickHash(cid) ?? "") ?? [], named ?? [], since);
	};
}

type ReasonOf = (clickId: string | null) => HashClick["reason"] | undefined;

/** Why clicks are not paid: null where they are. Of a click that retention has removed nothing is known, which stands for a billed one. */
function arrangeReasons(conversions: readonly KnownConversion[], hashClicks: readonly HashClick[]): ReasonOf {
	const reasons = new Map([
		...conversions.map(({ clickId }) => [clickId, null] as const),
		...hashClicks.map(({ id, reason }) => [id, reason] as const),
	]);
	return (clickId) => reasons.get(clickId);
}

function arrangeHoldFacts(
	around: readonly Surroundings[],
	hashClicks: readonly HashClick[],
	reasonOf: ReasonOf,
	platformOf: LedgerState["platformOf"],
): LedgerState["holdFactsOf"] {
	const campaignMaxMicros = new Map(around.map((row) => [row.campaignId, row.campaignMaxMicros]));
	const suspended = publishersWith(around, "isSuspended");
	const stuffed = new Set(hashClicks.flatMap(({ id, isStuffed }) => (isStuffed === 1 ? [id] : [])));
	return ({ platform, campaignId, clickId, publisherId }) => ({
		platformMaxMicros: platformOf(platform)?.maxPayoutMicros ?? null,
		campaignMaxMicros: campaignMaxMicros.get(campaignId) ?? null,
		// Whoever stuffs pages with a bid's URL has clicked it once, and been paid: decision 0032.
		clickReason: clickId !== null && stuffed.has(clickId) ? "embedded" : (reasonOf(clickId) ?? null),
		isPublisherSuspended: suspended.has(publisherId),
	});
}

function arrangeErased(
	hashClicks: readonly HashClick[],
	clicksByHash: ReadonlyMap<string, unknown>,
	conversionByKey: ReadonlyMap<string, KnownConversion>,
): LedgerState["erasedCidOf"] {
	const hashes = new Map(hashClicks.flatMap(({ id, clickHash, writtenBy }) => (writtenBy === ERASED ? [[id, clickHash]] : [])));
	const erased = new Set(hashes.values());
	return ({ clickId, attribution, cid, ...key }) => {
		const hash = asClickHash(cid);
		const own = hashes.get(clickId ?? "");
		if (own === undefined) return hash !== null && erased.has(hash) ? hash : null;
		const hadClick = (conversionByKey.get(keyOf(key))?.clickId ?? null) !== null;
		if (hadClick && attribution !== "operator") return own;
		return hash !== null && clicksByHash.has(hash) ? hash : NAMES_NONE;
	};
}

function arrangePublishers(around: readonly Surroundings[]): Pick<LedgerState, "hasCallbackUrl" | "amendmentsOf"> {
	const reachable = publishersWith(around, "hasCallbackUrl");
	const amendments = new Map(around.map((row) => [row.publisherId, row.amendments]));
	return {
		hasCallbackUrl: (publisherId) => reachable.has(publisherId),
		amendmentsOf: (publisherId) => amendments.get(publisherId) ?? "none",
	};
}

function publishersWith(around: readonly Surroundings[], fact: "hasCallbackUrl" | "isSuspended"): ReadonlySet<string | null> {
	return new Set(around.filter((row) => row[fact] === 1).map(({ publisherId }) => publisherId));
}

function lastCallbackIn(row: KnownConversion | undefined): LastCallback | null {
	if (row === undefined || row.lastId === null || row.lastSeq === null || row.lastStatus === null) return null;
	const { lastId: id, lastSeq: seq, lastStatus: status, lastPayoutMicros, isLastUnsent } = row;
	return { id, seq, status, payoutMicros: lastPayoutMicros ?? 0, isUnsent: isLastUnsent === 1 };
}

function withoutSurroundings(row: KnownConversion | undefined): Conversion | null {
	if (row === undefined) return null;
	const { hasCallbackUrl: _, amendments: _1, isSuspended: _2, campaignMaxMicros: _3, ...known } = row;
	const { lastId: _4, lastSeq: _5, lastStatus: _6, lastPayoutMicros: _7, isLastUnsent: _8, ...stored } = known;
	return toConversion(stored);
}
