import { formatUsd } from "../lib/money.ts";
import type { Difference, Sum } from "./compare-sums.ts";
import type { SUM_COLUMNS, SumDifference } from "./reconcile-answers.ts";

const COLUMNS: Readonly<Record<Sum, (typeof SUM_COLUMNS)[number]>> = {
	clickCount: "click_count",
	clickRevenueMicros: "click_revenue",
	spendMicros: "spend",
	conversionCount: "conversion_count",
	conversionRevenueMicros: "conversion_revenue",
	pendingRevenueMicros: "pending_revenue",
	grossMicros: "gross",
	salesMicros: "sales",
	adjustmentMicros: "adjustment",
};

/** A difference as operators are shown it. */
export function showDifference({ counter, day, key, column, stored, counted }: Difference): SumDifference {
	const show = (value: number) => (column.endsWith("Micros") ? formatUsd(value) : value);
	const { publisherId, sourceId, campaignId, brandId } = key;
	return {
		counter,
		day,
		publisher: publisherId === undefined ? null : String(publisherId),
		source: sourceId === undefined ? null : String(sourceId),
		campaign_id: campaignId === undefined ? null : Number(campaignId),
		brand: brandId === undefined ? null : Number(brandId),
		column: COLUMNS[column],
		stored: show(stored),
		counted: show(counted),
	};
}
