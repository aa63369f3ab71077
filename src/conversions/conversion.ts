/** The state of a conversion, and what follows from it. */
import type { callbacks } from "../db/schema/callbacks.ts";
import type { conversionEvents, conversions } from "../db/schema/conversions.ts";
import { utcDay } from "../lib/time.ts";

export type Conversion = typeof conversions.$inferSelect;
/** As a raw statement gives it: booleans are 0 and 1. */
export type ConversionRow = Omit<Conversion, "statusUnknown" | "test" | "clickUnseen" | "credited"> & {
	statusUnknown: number;
	test: number;
	clickUnseen: number;
	credited: number;
};
export type ConversionEvent = typeof conversionEvents.$inferSelect;
export type EventKind = ConversionEvent["kind"];
/** What `conversion_events.details` holds. */
export type EventDetails = { set: Partial<Conversion>; why?: string /** adjustments.id of an operator's word. */; adjustment?: string };
export type NewCallback = typeof callbacks.$inferInsert;
export type ConversionKey = { platform: string; txnid: string };

export function keyOf({ platform, txnid }: ConversionKey): string {
	return JSON.stringify([platform, txnid]);
}

export function toConversion(row: ConversionRow): Conversion {
	const { statusUnknown, test, clickUnseen, credited } = row;
	return { ...row, statusUnknown: statusUnknown === 1, test: test === 1, clickUnseen: clickUnseen === 1, credited: credited === 1 };
}

/** True where the publisher holds a credit of which nobody knows the worth any more: a person has to look. */
export function isCreditWithoutRate({ stage, heldFor, credited }: Conversion): boolean {
	return stage === "quarantined" && heldFor === "no_rate" && credited;
}

/** What a conversion adds to daily sums, and where. */
export type Contribution = {
	publisherId: string;
	date: string;
	sourceId: string;
	conversionCount: number;
	conversionRevenueMicros: number;
	/** What of that is pending. */
	pendingRevenueMicros: number;
	grossMicros: number;
	salesMicros: number;
};

/** What it adds on the day of its event; null where it counts nowhere: not settled, cancelled, or of a test click. */
export function contributionOf(conversion: Conversion | null): Contribution | null {
	if (conversion === null || conversion.stage !== "settled" || conversion.status === "cancelled" || conversion.test) return null;
	const { publisherId, campaignId, brandId, sourceId, eventAt, revenueMicros, grossMicros, salesUsdMicros, status } = conversion;
	if (publisherId === null || campaignId === null || brandId === null) return null;
	return {
		publisherId,
		date: utcDay(eventAt),
		sourceId: sourceId ?? "",
		conversionCount: 1,
		conversionRevenueMicros: revenueMicros ?? 0,
		pendingRevenueMicros: status === "pending" ? (revenueMicros ?? 0) : 0,
		grossMicros: grossMicros ?? 0,
		salesMicros: salesUsdMicros ?? 0,
	};
}

/**
 * What it adds for its publisher and source. A publisher paid by clicks sees a conversion in the record of its click: so it counts on that
 * day, and nowhere where the click has no record.
 * @param ofBilledClick whether the click was billed, even if it was taken back since
 */
export function publisherContributionOf(conversion: Conversion | null, ofBilledClick: boolean): Contribution | null {
	const contribution = contributionOf(conversion);
	if (contribution === null || conversion === null || conversion.pricingModel !== "CPC") return contribution;
	return ofBilledClick && conversion.clickedAt !== null ? { ...contribution, date: utcDay(conversion.clickedAt) } : null;
}

/** The same amounts with the sign turned: what takes a contribution back. */
export function negated(contribution: Contribution): Contribution {
	const { conversionCount, conversionRevenueMicros, pendingRevenueMicros, grossMicros, salesMicros } = contribution;
	return {
		...contribution,
		conversionCount: -conversionCount,
		conversionRevenueMicros: -conversionRevenueMicros,
		pendingRevenueMicros: -pendingRevenueMicros,
		grossMicros: -grossMicros,
		salesMicros: -salesMicros,
	};
}
