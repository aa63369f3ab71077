/** Takes postbacks and conversions to look at again through: read, decide, write, and hand the callbacks on. */
import type { SQL } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { retryOvertaken } from "../db/overtaken.ts";
import { isAwayError } from "../lib/away.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { logError, logInfo } from "../lib/log.ts";
import { redactErased } from "./after-erasure.ts";
import { type ConversionKey, isCreditWithoutRate, keyOf } from "./conversion.ts";
import { type PostbackItem, type ReceivedPostback, STATEMENT } from "./message.ts";
import { type LedgerState, readLedgerState } from "./read-ledger-state.ts";
import { type Cause, type Facts, settle } from "./settle.ts";
import { growthOf, type Outcome, outcomeOf, writeSettlements } from "./write-settlements.ts";

export type SettleDeps = {
	db: Database;
	/** The CALLBACKS queue; without it the sweep finds what is due. */
	callbacks: Pick<Queue, "sendBatch"> | undefined;
	now: () => number;
};

export type Settled = {
	/** Conversions that changed, or would. */
	changed: number;
	waiting: ConversionKey[];
	/** Messages that were not known before. */
	fresh: number;
	/** What the sums grew by, micro-dollars. */
	publisherRevenueMicros: number;
	grossMicros: number;
};

export type SettleOptions = {
	/** Says what would change, and writes nothing. */
	dryRun?: boolean;
	/** What is written in the same transaction, where anything is. */
	alongside?: (settled: Settled) => readonly SQL[];
};

/** Most messages that a queue takes at once. */
const MAX_SENT = 100;

/**
 * Settles a batch in one transaction. A message that is known already changes nothing.
 * @throws OvertakenError where other writers were faster every time; D1's error where it failed. Nothing is written then
 */
export function settlePostbacks(deps: SettleDeps, messages: readonly PostbackItem[], options: SettleOptions = {}): Promise<Settled> {
	return retryOvertaken(() => settleOnce(deps, messages, options));
}

/**
 * Settles a batch as {@link settlePostbacks} does; where that fails, its halves apart, and theirs. An item that cannot be settled so holds up
 * no other, and costs a transaction a halving. A database that is away fails all alike: then they are not tried apart.
 * @param onFailure told of an item that cannot be settled, or of those that were not since the database is away
 */
export async function settleApart(
	deps: SettleDeps,
	items: readonly PostbackItem[],
	onFailure: (items: readonly PostbackItem[], error: unknown) => void,
): Promise<Pick<Settled, "changed" | "waiting">> {
	try {
		return await settlePostbacks(deps, items);
	} catch (error) {
		if (items.length <= 1 || isAwayError(error)) {
			onFailure(items, error);
			return { changed: 0, waiting: [] };
		}
	}
	const half = Math.ceil(items.length / 2);
	const first = await settleApart(deps, items.slice(0, half), onFailure);
	const second = await settleApart(deps, items.slice(half), onFailure);
	return { changed: first.changed + second.changed, waiting: [...first.waiting, ...second.waiting] };
}

async function settleOnce(
	deps: SettleDeps,
	messages: readonly PostbackItem[],
	{ dryRun = false, alongside = () => [] }: SettleOptions,
): Promise<Settled> {
	const now = deps.now();
	const received = distinct(messages.filter((message) => message.kind === "postback"));
	const others = messages.filter((message) => message.kind === "look_again").map(({ platform, txnid }) => ({ platform, txnid }));
	const ledger = await readLedgerState(deps.db, {
		intakeIds: received.map(({ intake }) => intake.id),
		postbacks: received.flatMap(({ intake: { platform }, postback }) =>
			platform === null || postback === null ? [] : [{ platform, postback }],
		),
		others,
	});
	const asCame = received.filter(({ intake }) => !ledger.storedIntakes.has(intake.id));
	const decided = decide(asCame, others, ledger, now);
	const present = new Map(decided.map(({ settlement: { conversion } }) => [keyOf(conversion), conversion]));
	const fresh = await redactErased(deps.db, asCame, ledger, (key) => present.get(keyOf(key)) ?? ledger.conversionOf(key));
	// They come to the same without it: only what is kept of them is another.
	const outcomes = fresh.every((item, at) => item === asCame[at]) ? decided : decide(fresh, others, ledger, now);
	const waiting = outcomes.filter(({ before, settlement }) => before === null && settlement.conversion.stage === "waiting");
	const settled = {
		changed: outcomes.length,
		waiting: waiting.map(({ settlement: { conversion } }) => ({ platform: conversion.platform, txnid: conversion.txnid })),
		fresh: fresh.length,
		publisherRevenueMicros: growthOf(outcomes, "conversionRevenueMicros"),
		grossMicros: growthOf(outcomes, "grossMicros"),
	};
	if (dryRun) return settled;
	const intakes = fresh.map(({ intake }) => intake);
	await writeSettlements(deps.db, intakes, outcomes, intakes.length + outcomes.length > 0 ? alongside(settled) : []);
	await announce(deps, outcomes);
	return settled;
}

/**
 * One of each intake, in the order in which they came in. A queue that takes a postback too late has it twice: as it was accepted, and as
 * what was answered then, without the postback.
 */
function distinct(items: readonly ReceivedPostback[]): ReceivedPostback[] {
	const byId = new Map<string, ReceivedPostback>();
	for (const item of items) if ((byId.get(item.intake.id)?.postback ?? null) === null) byId.set(item.intake.id, item);
	return [...byId.values()].sort((a, b) => (a.intake.id < b.intake.id ? -1 : 1));
}

function decide(fresh: readonly ReceivedPostback[], others: readonly ConversionKey[], ledger: LedgerState, now: number): Outcome[] {
	const causes = new Map<string, { key: ConversionKey; causes: Cause[] }>();
	const add = (key: ConversionKey, cause: Cause) => {
		const known = causes.get(keyOf(key)) ?? { key, causes: [] };
		known.causes.push(cause);
		causes.set(keyOf(key), known);
	};
	for (const { intake, postback } of fresh) {
		if (postback === null || intake.platform === null) continue;
		const { id: intakeId, receivedAt, method, platform } = intake;
		add({ platform, txnid: postback.txnid }, { intakeId, receivedAt, postback, isStatement: method === STATEMENT });
	}
	for (const key of others) add(key, null);
	return [...causes.values()].flatMap(({ key, causes }) => {
		const before = ledger.conversionOf(key);
		const settlement = settle(key, before, causes, factsOf(key, ledger, now), now);
		return settlement === null ? [] : [outcomeOf(before, settlement, ledger.isBilledClick)];
	});
}

/** What settling a conversion rests on. */
export function factsOf(key: ConversionKey, ledger: LedgerState, now: number): Facts {
	const platform = ledger.platformOf(key.platform);
	if (platform === null) throw new Error(`no platform ${key.platform}`);
	return {
		platform,
		findClick: (cid, toldAt) => ledger.findClick(key.platform, cid, toldAt),
		usdNanosOf: ledger.usdNanosOf,
		holdFactsOf: ledger.holdFactsOf,
		hasCallbackUrl: ledger.hasCallbackUrl,
		amendmentsOf: ledger.amendmentsOf,
		lastCallback: ledger.lastCallbackOf(key),
		newId: () => newTimeOrderedId(now),
	};
}

/**
 * Tells the queue what is due, and the log what needs a person. Best effort: the outbox has it, and a sweep sends what no message came
 * through for.
 */
export async function announce({ callbacks }: SettleDeps, outcomes: readonly Outcome[]): Promise<void> {
	for (const { before, settlement } of outcomes) {
		const { conversion } = settlement;
		if (!isCreditWithoutRate(conversion) || (before !== null && isCreditWithoutRate(before))) continue;
		const { platform, txnid, publisherId, lastIntakeId } = conversion;
		logInfo("conversion.credit_without_rate", { platform, txnid, publisher: publisherId, request: lastIntakeId });
	}
	const due = outcomes.flatMap(({ settlement }) => settlement.callbacks).filter(({ state }) => state === "due");
	if (callbacks === undefined || due.length === 0) return;
	try {
		for (let start = 0; start < due.length; start += MAX_SENT) {
			await callbacks.sendBatch(due.slice(start, start + MAX_SENT).map(({ id }) => ({ body: { format: 1, id } })));
		}
	} catch (error) {
		logError("callbacks.not_announced", error, { count: due.length });
	}
}
