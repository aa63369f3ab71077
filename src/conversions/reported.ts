/** What of a conversion stands in reports, row by row: pure. */
import type { conversionHistory } from "../db/schema/report-history.ts";
import { type Conversion, contributionOf } from "./conversion.ts";

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
export function changesReports(before: Conversion | null, after: Conversion): boolean {
	return JSON.stringify(shownOf(before)) !== JSON.stringify(shownOf(after));
}

/** What a change replaces, for `conversion_history`; none where it stood in no report. `until_sequence` is for the database to say. */
export function replacedRow(before: Conversion | null): Omit<typeof conversionHistory.$inferInsert, "untilSequence">[] {
	const shown = shownOf(before);
	if (before === null || shown === null) return [];
	const { platform, txnid, sequence } = before;
	return [{ ...shown, platform, txnid, sequence }];
}
