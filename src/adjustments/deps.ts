/** What adjusting needs, and what comes of it. */
import type { SQL } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { callbacks } from "../db/schema/callbacks.ts";
import type { conversions } from "../db/schema/conversions.ts";
import type { Actor } from "../http/actor.ts";
import type { AuditVerb } from "../lib/access-enums.ts";

export type Verdict = typeof conversions.$inferSelect.verdict;
export type ConversionKey = { platform: string; txnid: string };

export type Judgement = {
	/** False where the conversion had that verdict already. */
	changed: boolean;
	previous: Verdict;
	/** The most that it passed if it is a release, micro-dollars. */
	releasedMicros: number;
	/** What the sums grew by, micro-dollars. */
	publisherRevenueMicros: number;
	grossMicros: number;
	/** How it stands after it. */
	conversion: typeof conversions.$inferSelect;
	/** What publishers are told of it. */
	callbacks: readonly (typeof callbacks.$inferInsert)[];
};

type JudgeOptions = {
	/** Says what would change, and writes nothing. */
	dryRun?: boolean;
	/** The version that the verdict was chosen by: of another, OvertakenError is thrown at once. */
	ofVersion?: number;
	/** Of a release that is given back: what it passed, micro-dollars. */
	givenBackMicros?: number | undefined;
	/** What is written in the same transaction. */
	alongside?: (judgement: Judgement) => readonly SQL[];
};

/**
 * Sets a conversion's verdict, with all that follows from it, in one transaction. Null where there is no such conversion.
 * @param adjustmentId what the event names as its cause
 * @throws OvertakenError where that transaction failed again and again, as it does where `alongside` cannot be written
 */
type JudgeConversion = (key: ConversionKey, verdict: Verdict, adjustmentId: string, options: JudgeOptions) => Promise<Judgement | null>;

/** Gives a conversion the click that an operator names (clicks.id), or takes it away, likewise. Null where there is no such conversion or click. */
type MoveToClick = (key: ConversionKey, clickId: string, adjustmentId: string, options: JudgeOptions) => Promise<Judgement | null>;

type Revaluation = { conversions: number; publisherRevenueMicros: number; grossMicros: number };

/**
 * Values settled conversions by the stored rates, with all that follows from it, in one transaction.
 * @throws OvertakenError as for {@link JudgeConversion}
 */
type RevalueConversions = (
	keys: readonly ConversionKey[],
	adjustmentId: string,
	options: { dryRun?: boolean; alongside?: (revaluation: Revaluation) => readonly SQL[] },
) => Promise<Revaluation>;

/** What the verbs have in common, whoever asks. */
export type AdjustingDeps = Omit<AdjustmentDeps, "actor">;

export type AdjustmentDeps = {
	db: Database;
	now: () => number;
	/** Whoever adjusts. */
	actor: Actor;
	/** The operation that the audit names, where it is another than the request's own. */
	verb?: AuditVerb;
	/**
	 * Written in the transaction that adds the adjustment: where these cannot be written, nothing is. An adjustment that is there already was
	 * made without them, and is then no answer.
	 */
	beside?: readonly SQL[];
	judge: JudgeConversion;
	attach: MoveToClick;
	detach: MoveToClick;
	revalue: RevalueConversions;
	/** Told that campaigns may have spent less, or more, than before. */
	onSpendChanged: () => Promise<void>;
};

/** What changes, or would: clicks and conversions, and by how much the sums grow, micro-dollars. */
export type Change = { clicks: number; conversions: number; publisherRevenueMicros: number; grossRevenueMicros: number; complete: boolean };

export const NO_CHANGE: Change = { clicks: 0, conversions: 0, publisherRevenueMicros: 0, grossRevenueMicros: 0, complete: true };
