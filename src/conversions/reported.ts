/** What of a conversion stands in reports, row by row: pure. */
import type { conversionHistory } from "../db/schema/report-history.ts";
import { type Conversion, contributionOf } from "./conversion.ts";
import type { Settlement } from "./settle.ts";

const SHOWN = [
	"status",
	"eventAt",
	"grossMicros",
	"salesUsdMicros",
	"revenueMicros",
	"clickId",
	"clickedAt",
	"publisherId",
	"publisherClickId",
	"sourceId",
	"brandId",
	"campaignId",
	"pricingModel",
] as const satisfies readonly (keyof Conversion & keyof typeof conversionHistory.$inferInsert)[];

/** What reports show of it; null where it is in none. */
function shownOf(conversion: Conversion | null): Pick<Conversion, (typeof SHOWN)[number]> | null {
	if (conversion === null || contributionOf(conversion) === null) return null;
	return Object.fromEntries(SHOWN.map((name) => [name, conversion[name]])) as Pick<Conversion, (typeof SHOWN)[number]>;
}

/** Whether a record of a report comes, goes or changes. */
export function changesReports(before: Conversion | null, { conversion, creditedMicros }: Settlement): boolean {
	const [old, present] = [shownOf(before), shownOf(conversion)];
	const isCreditOther = present !== null && creditedMicros.before !== creditedMicros.after;
	return isCreditOther || JSON.stringify(old) !== JSON.stringify(present);
}

/** What a change replaces, for `conversion_history`; none where it stood in no report. `until_sequence` is for the database to say. */
export function replacedRow(
	before: Conversion | null,
	{ creditedMicros }: Settlement,
): Omit<typeof conversionHistory.$inferInsert, "untilSequence">[] {
	const shown = shownOf(before);
	if (before === null || shown === null) return [];
	const { platform, txnid, sequence } = before;
	return [{ ...shown, platform, txnid, sequence, creditedMicros: creditedMicros.before }];
}
