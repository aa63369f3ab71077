/** Writes what a batch came to: all of it in one transaction, or nothing. */
import { type SQL, sql } from "drizzle-orm";
import { additionTo } from "../db/add-up.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows, propertiesOf, replaceColumns } from "../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { callbacks } from "../db/schema/callbacks.ts";
import { conversionEvents, conversions, postbackIntake } from "../db/schema/conversions.ts";
import { dailyCampaigns, dailyPublishers, dailySources } from "../db/schema/counters.ts";
import { type Contribution, type Conversion, contributionOf, negated } from "./conversion.ts";
import type { Intake } from "./message.ts";
import type { Amended } from "./owed-callbacks.ts";
import type { Settlement } from "./settle.ts";

export type Outcome = { before: Conversion | null; settlement: Settlement };

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
	const states = outcomes.map(({ settlement }) => settlement.conversion);
	const events = outcomes.flatMap(({ settlement }) => settlement.events);
	const owed = outcomes.flatMap(({ settlement }) => settlement.callbacks);
	const amended = outcomes.flatMap(({ settlement }) => settlement.amended);
	const moves = outcomes.flatMap(({ before, settlement }) => movesOf(before, settlement.conversion));
	const statements = [
		...(intakes.length > 0 ? [insertRows(postbackIntake, intakes)] : []),
		...(states.length > 0 ? [upsertConversions(states)] : []),
		...(events.length > 0 ? [insertRows(conversionEvents, events)] : []),
		...COUNTERS.flatMap((counter) => counter.statements(moves)),
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
 */
function upsertConversions(states: readonly Conversion[]): SQL {
	const replaced = propertiesOf(conversions).filter((property) => !["platform", "txnid", "version"].includes(property));
	return insertRows(
		conversions,
		states,
		sql`ON CONFLICT (platform, txnid) DO UPDATE SET ${replaceColumns(conversions, replaced)},
			version = CASE WHEN conversions.version = excluded.version - 1 THEN excluded.version END`,
	);
}

/**
 * Writes other amounts into callbacks that are stored, each only where its publisher still cannot know of it: otherwise the amount becomes
 * null, which its column refuses, and with it the whole transaction. So what was sent is what the row says.
 */
function amendCallbacks(amended: readonly Amended[]): SQL {
	return sql`UPDATE callbacks SET event_at = CAST(j.value ->> 'eventAt' AS BIGINT),
			payout_micros = CASE WHEN exposures = 0 AND lease IS NULL AND state <> 'delivered' THEN CAST(j.value ->> 'payoutMicros' AS BIGINT) END
		FROM json_each(${JSON.stringify(amended)}) j WHERE callbacks.id = j.value ->> 'id'`;
}

const SUMS = [
	"conversionCount",
	"conversionRevenueMicros",
	"grossMicros",
	"salesMicros",
] as const satisfies readonly (keyof Contribution)[];

/** What takes the old contribution of a conversion back and adds the new one; none where they are the same. */
function movesOf(before: Conversion | null, after: Conversion): Contribution[] {
	const old = contributionOf(before);
	const present = contributionOf(after);
	if (JSON.stringify(old) === JSON.stringify(present)) return [];
	return [...(old === null ? [] : [negated(old)]), ...(present === null ? [] : [present])];
}

const COUNTERS = [
	additionTo<Contribution>(dailyPublishers, ["publisherId", "date"], SUMS),
	additionTo<Contribution>(dailySources, ["publisherId", "date", "sourceId"], SUMS),
	additionTo<Contribution>(dailyCampaigns, ["campaignId", "brandId", "publisherId", "date"], SUMS),
];
