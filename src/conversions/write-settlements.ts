/** Writes what a batch came to: all of it in one transaction, or nothing. */
import { type SQL, sql } from "drizzle-orm";
import { additionTo } from "../db/add-up.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { outdateDigests } from "../db/digests-of-days.ts";
import { insertRows, propertiesOf, replaceColumns } from "../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { NUMBER, TAKE_NUMBER } from "../db/report-sequence.ts";
import { callbacks } from "../db/schema/callbacks.ts";
import { conversionEvents, conversions, postbackIntake } from "../db/schema/conversions.ts";
import { dailyPublishers, dailySources } from "../db/schema/counters.ts";
import { conversionChanges, conversionHistory } from "../db/schema/report-history.ts";
import { learnConversions } from "../learning-rows/learn-conversions.ts";
import { type Contribution, type Conversion, contributionOf, negated, publisherContributionOf } from "./conversion.ts";
import type { Intake } from "./message.ts";
import { addNetworkMoves, networkMoveOf } from "./network-sums.ts";
import type { Amended } from "./owed-callbacks.ts";
import { changedDays, changeRows, changesReports, replacedRow } from "./reported.ts";
import type { Settlement } from "./settle.ts";

export type Outcome = {
	before: Conversion | null;
	settlement: Settlement;
	/** Whether its click was billed, even if it was taken back since. */
	ofBilledClick: boolean;
	/** The same of the click that it had before: only an operator gives a conversion another. */
	wasOfBilledClick: boolean;
};

/** @param isBilledClick whether a click was billed, even if it was taken back since */
export function outcomeOf(before: Conversion | null, settlement: Settlement, isBilledClick: (clickId: string | null) => boolean): Outcome {
	const ofBilledClick = isBilledClick(settlement.conversion.clickId);
	const clickBefore = before?.clickId ?? null;
	return { before, settlement, ofBilledClick, wasOfBilledClick: clickBefore === null ? ofBilledClick : isBilledClick(clickBefore) };
}

/** What the network's sums grow by, micro-dollars; negative where they shrink. */
export function growthOf(outcomes: readonly Outcome[], sum: keyof Contribution & `${string}Micros`): number {
	return outcomes.reduce((total, { before, settlement }) => {
		return total + (contributionOf(settlement.conversion)?.[sum] ?? 0) - (contributionOf(before)?.[sum] ?? 0);
	}, 0);
}

/**
 * @param alongside written in the same transaction
 * @throws OvertakenError where one of the intakes, conversions or amended callbacks was written since it was read; nothing is written then
 */
export async function writeSettlements(
	db: Database,
	intakes: readonly Intake[],
	outcomes: readonly Outcome[],
	alongside: readonly SQL[] = [],
): Promise<void> {
	const shown = outcomes.filter(({ before, settlement }) => changesReports(before, settlement));
	const replaced = shown.flatMap(({ before, settlement }) => replacedRow(before, settlement));
	const changes = shown.flatMap(({ before, settlement }) => changeRows(before, settlement));
	const closedDays = changedDays(shown.filter(isPaidByConversions).flatMap(({ before, settlement }) => changeRows(before, settlement)));
	const events = outcomes.flatMap(({ settlement }) => settlement.events);
	const owed = outcomes.flatMap(({ settlement }) => settlement.callbacks);
	const amended = outcomes.flatMap(({ settlement }) => settlement.amended);
	const publisherMoves = outcomes.flatMap(({ before, settlement, ofBilledClick, wasOfBilledClick }) =>
		movesOf(publisherContributionOf(before, wasOfBilledClick), publisherContributionOf(settlement.conversion, ofBilledClick)),
	);
	const statements = [
		...(intakes.length > 0 ? [insertRows(postbackIntake, intakes)] : []),
		...(shown.length > 0 ? [TAKE_NUMBER] : []),
		...(replaced.length > 0 ? [insertRows(conversionHistory, replaced, sql``, { untilSequence: NUMBER })] : []),
		...(changes.length > 0 ? [insertRows(conversionChanges, changes, sql``, { sequence: NUMBER })] : []),
		...(closedDays.length > 0 ? [outdateDigests(closedDays)] : []),
		...(outcomes.length > 0 ? [upsertConversions(outcomes, new Set(shown))] : []),
		...(events.length > 0 ? [insertRows(conversionEvents, events)] : []),
		...BY_PUBLISHER.flatMap((counter) => counter.statements(publisherMoves)),
		...addNetworkMoves(outcomes.flatMap(networkMovesOf)),
		...learnFrom(outcomes),
		...(amended.length > 0 ? [amendCallbacks(amended)] : []),
		...(owed.length > 0 ? [insertRows(callbacks, owed)] : []),
		...alongside,
	];
	if (statements.length === 0) return;
	try {
		await runTransaction(db, statements);
	} catch (error) {
		if (isConstraintError(error)) throw new OvertakenError("overtaken", { cause: error });
		throw error;
	}
}

/**
 * A new conversion is inserted, a stored one replaced, each only where its version is the one that was read: otherwise the version
 * becomes null, which its column refuses, and with it the whole transaction.
 * @param shown those that change reports: their rows take the transaction's number
 */
function upsertConversions(outcomes: readonly Outcome[], shown: ReadonlySet<Outcome>): SQL {
	const states = outcomes.map((outcome) => {
		const { conversion } = outcome.settlement;
		return shown.has(outcome) ? { ...conversion, sequence: undefined } : conversion;
	});
	const replaced = propertiesOf(conversions).filter((property) => !["platform", "txnid", "version"].includes(property));
	return insertRows(
		conversions,
		states,
		sql`ON CONFLICT (platform, txnid) DO UPDATE SET ${replaceColumns(conversions, replaced)},
			version = CASE WHEN conversions.version = excluded.version - 1 THEN excluded.version END`,
		{ sequence: sql`coalesce(CAST(value ->> 'sequence' AS BIGINT), ${NUMBER})` },
	);
}

/**
 * Writes other amounts into callbacks that are stored, each only where its publisher still cannot know of it: otherwise the amount becomes
 * null, which its column refuses, and with it the whole transaction. So what was sent is what the row says.
 */
function amendCallbacks(amended: readonly Amended[]): SQL {
	return sql`UPDATE callbacks SET event_at = CAST(j.value ->> 'eventAt' AS BIGINT),
			sales_usd_micros = CAST(j.value ->> 'salesUsdMicros' AS BIGINT),
			payout_micros = CASE WHEN exposures = 0 AND lease IS NULL AND state <> 'delivered' THEN CAST(j.value ->> 'payoutMicros' AS BIGINT) END
		FROM json_each(${JSON.stringify(amended)}) j WHERE callbacks.id = j.value ->> 'id'`;
}

/** Of others the records of a day are their clicks. */
function isPaidByConversions({ before, settlement }: Outcome): boolean {
	return before?.pricingModel === "CPA" || settlement.conversion.pricingModel === "CPA";
}

/** What prices are learned from: of those that have a click, or had one. */
function learnFrom(outcomes: readonly Outcome[]): SQL[] {
	const hadClick = ({ before }: Outcome) => before !== null && before.clickId !== null;
	const clicked = outcomes.filter((outcome) => hadClick(outcome) || outcome.settlement.conversion.clickId !== null);
	const conversionOf = ({ settlement }: Outcome) => settlement.conversion;
	return learnConversions(clicked.map(conversionOf), clicked.filter(hadClick).map(conversionOf));
}

const SUMS = [
	"conversionCount",
	"conversionRevenueMicros",
	"pendingRevenueMicros",
	"grossMicros",
	"salesMicros",
] as const satisfies readonly (keyof Contribution)[];

/** What takes the old contribution of a conversion back and adds the new one; none where they are the same. */
function movesOf(old: Contribution | null, present: Contribution | null): Contribution[] {
	if (JSON.stringify(old) === JSON.stringify(present)) return [];
	return [...(old === null ? [] : [negated(old)]), ...(present === null ? [] : [present])];
}

function networkMovesOf({ before, settlement }: Outcome) {
	const [old, present] = [networkMoveOf(before, 1), networkMoveOf(settlement.conversion, 1)];
	return JSON.stringify(old) === JSON.stringify(present) ? [] : [...networkMoveOf(before, -1), ...present];
}

const BY_PUBLISHER = [
	additionTo<Contribution>(dailyPublishers, ["publisherId", "date"], SUMS),
	additionTo<Contribution>(dailySources, ["publisherId", "date", "sourceId"], SUMS),
];
