/** What of a conversion stands in reports, row by row: pure. */
import type { conversionChanges, conversionHistory } from "../db/schema/report-history.ts";
import type { ConversionChangeReason } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
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

type Shown = ReturnType<typeof shownOf>;
type Change = Omit<typeof conversionChanges.$inferInsert, "sequence">;

/** Days that were over when a record of them came, changed or went. */
export function changedDays(changes: readonly Change[]): { publisherId: string; date: string }[] {
	return changes.flatMap(({ publisherId, at, oldEventAt, eventAt }) =>
		[...new Set([oldEventAt, eventAt])].flatMap((time) => {
			const date = time == null ? null : utcDay(time);
			return date !== null && date < utcDay(at) ? [{ publisherId, date }] : [];
		}),
	);
}

/**
 * What a change is told as to the publisher, for `conversion_changes`; to each of two, where it is another's since. None where no publisher
 * has it in a report, before or since. `sequence` is for the database to say.
 */
export function changeRows(before: Conversion | null, settlement: Settlement): Change[] {
	const { conversion, creditedMicros } = settlement;
	const [old, present] = [shownOf(before), shownOf(conversion)];
	const tell = (from: Shown, to: Shown) => {
		const why = reasonOf(before, settlement, to !== null);
		return changeOf(from, to, { ...conversion, at: conversion.updatedAt, why, creditedMicros });
	};
	const isMoved = old !== null && present !== null && old.publisherId !== present.publisherId;
	return isMoved ? [...tell(old, null), ...tell(null, present)] : tell(old, present);
}

/** That nothing of its user is left in a record, which stands as it stood. None where no report has it. */
export function erasedRow(conversion: Conversion, creditedMicros: number, at: number): Change[] {
	const shown = shownOf(conversion);
	return changeOf(shown, shown, { ...conversion, at, why: "erased", creditedMicros: { before: creditedMicros, after: creditedMicros } });
}

type Told = Pick<Change, "platform" | "txnid" | "at" | "why"> & Pick<Settlement, "creditedMicros">;

function changeOf(old: Shown, present: Shown, { platform, txnid, at, why, creditedMicros }: Told): Change[] {
	const publisherId = present?.publisherId ?? old?.publisherId ?? null;
	if (publisherId === null) return [];
	return [
		{
			publisherId,
			platform,
			txnid,
			at,
			why,
			oldStatus: old?.status ?? null,
			oldEventAt: old?.eventAt ?? null,
			oldRevenueMicros: old?.revenueMicros ?? null,
			oldGrossMicros: old?.grossMicros ?? null,
			oldSalesUsdMicros: old?.salesUsdMicros ?? null,
			oldCreditedMicros: old === null ? null : creditedMicros.before,
			status: present?.status ?? null,
			eventAt: present?.eventAt ?? null,
			revenueMicros: present?.revenueMicros ?? null,
			grossMicros: present?.grossMicros ?? null,
			salesUsdMicros: present?.salesUsdMicros ?? null,
			creditedMicros: present === null ? null : creditedMicros.after,
		},
	];
}

/** Of several causes of one transaction, the operator's stands before the platform's, and this before the passing of time. */
function reasonOf(before: Conversion | null, { conversion, events }: Settlement, isShown: boolean): ConversionChangeReason {
	const clickBefore = before?.clickId ?? null;
	if (clickBefore !== null && clickBefore !== conversion.clickId) return "moved";
	if (!isShown && conversion.status === "cancelled") return conversion.verdict === "voided" ? "voided" : "cancelled";
	if (!isShown) return "held";
	const kinds = new Set(events.map(({ kind }) => kind));
	if (kinds.has("judged")) return before?.verdict === "voided" ? "restored" : "released";
	if (kinds.has("revalued")) return "revalued";
	if (events.some(({ intakeId }) => intakeId !== null)) return "reported";
	return kinds.has("attributed") || kinds.has("attached") ? "click_found" : "released";
}
