import { formatUsd } from "../lib/money.ts";
import type { Difference, Sum } from "./compare-sums.ts";
import { NETWORK_KEYS, type SUM_COLUMNS, type SumDifference } from "./reconcile-answers.ts";

const COLUMNS: Readonly<Record<Sum, (typeof SUM_COLUMNS)[number]>> = {
	clickCount: "click_count",
	clickRevenueMicros: "click_revenue",
	clickGrossMicros: "click_gross",
	approvedCount: "approved_count",
	pendingCount: "pending_count",
	cancelledCount: "cancelled_count",
	spendMicros: "spend",
	conversionCount: "conversion_count",
	conversionRevenueMicros: "conversion_revenue",
	pendingRevenueMicros: "pending_revenue",
	grossMicros: "gross",
	pendingGrossMicros: "pending_gross",
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
		...Object.fromEntries(NETWORK_KEYS.flatMap((name) => (key[name] === undefined ? [] : [[name, String(key[name])]]))),
		column: COLUMNS[column],
		stored: show(stored),
		counted: show(counted),
	};
}
