/** Sums of the network's reports as operators are shown them: pure. */
import { formatUsd } from "../lib/money.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";
import type { ReportRecord } from "../reports/csv.ts";
import { type ExactSum, readSum } from "../reports/exact-sum.ts";
import type { NetworkReport, ReportGroup, ReportRow, ReportTotal } from "./report-answer.ts";

export type ReportSums = {
	paid: number | null;
	/** Counts by reason, in the order of {@link CLICK_REASONS}, with blanks between them. */
	unpaid: string | null;
	conversions: number | null;
	approved: number | null;
	pending: number | null;
	cancelled: number | null;
	clickGross: ExactSum;
	revenue: ExactSum;
	pendingRevenue: ExactSum;
	gross: ExactSum;
	pendingGross: ExactSum;
	sales: ExactSum;
};

export const NO_SUMS: ReportSums = {
	...{ paid: 0, unpaid: null, conversions: 0, approved: 0, pending: 0, cancelled: 0 },
	...{ clickGross: null, revenue: null, pendingRevenue: null, gross: null, pendingGross: null, sales: null },
};

type Sums = Omit<ReportTotal, "pending_gross_revenue" | "clicks_unpaid" | "unpaid" | "conversions" | "epc_bid" | "reversal_rate">;

/** What is known of a source, too. */
export function showSums({ paid, conversions, revenue, pendingRevenue, gross, sales }: ReportSums): Sums {
	const [income, paidOut] = [readSum(gross), readSum(revenue)];
	const margin = income - paidOut;
	return {
		gross_revenue: formatUsd(income),
		publisher_revenue: formatUsd(paidOut),
		pending_revenue: formatUsd(readSum(pendingRevenue)),
		margin: formatUsd(margin),
		margin_rate: rateOf(Number(margin), Number(income)),
		sales_amount: formatUsd(readSum(sales)),
		clicks_paid: paid ?? 0,
		conversion_count: conversions ?? 0,
		epc_earned: perClick(income, paid ?? 0),
	};
}

export function showTotal(sums: ReportSums): ReportTotal {
	const { paid, unpaid, clickGross, pendingGross } = sums;
	const counts = (unpaid ?? "").split(" ").map(Number);
	const reasons = CLICK_REASONS.map((reason, at) => [reason, counts[at] ?? 0] as const).filter(([, count]) => count !== 0);
	const [approved, pending, cancelled] = [sums.approved ?? 0, sums.pending ?? 0, sums.cancelled ?? 0];
	return {
		...showSums(sums),
		pending_gross_revenue: formatUsd(readSum(pendingGross)),
		clicks_unpaid: reasons.reduce((sum, [, count]) => sum + count, 0),
		unpaid: Object.fromEntries(reasons),
		conversions: { approved, pending, cancelled },
		epc_bid: perClick(readSum(clickGross), paid ?? 0),
		reversal_rate: rateOf(cancelled, approved + pending + cancelled),
	};
}

/** A part of a whole, to four decimals; null of nothing. */
function rateOf(part: number, whole: number): number | null {
	return whole <= 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}

function perClick(micros: bigint, clicks: number): string | null {
	return clicks <= 0 ? null : formatUsd(micros / BigInt(clicks));
}

export function showGroup(row: Partial<Record<ReportGroup, string | number>>, group: readonly ReportGroup[]): Partial<ReportRow> {
	const shown: Partial<ReportRow> = {};
	for (const name of group) {
		const value = row[name] ?? "";
		if (name === "day") shown.day = String(value);
		else if (name === "campaign") shown.campaign = value === -1 ? null : Number(value);
		else if (name === "source") shown.source = value === "" ? null : String(value).slice(1);
		else shown[name] = value === "" ? null : String(value);
	}
	return shown;
}

/**
 * A column a field: those of objects by their members.
 * @param hasDetails whether rows have what sums of sources lack
 */
export function csvOf(
	{ group, data }: Pick<NetworkReport, "group" | "data">,
	hasDetails: boolean,
): { columns: string[]; records: ReportRecord[] } {
	const records = data.map(({ unpaid, conversions, ...row }): ReportRecord => {
		const ofReasons = Object.fromEntries(CLICK_REASONS.map((reason) => [`unpaid_${reason}`, unpaid?.[reason] ?? 0]));
		const ofStatuses = Object.fromEntries(Object.entries(conversions ?? {}).map(([status, count]) => [`conversions_${status}`, count]));
		const plain = Object.entries(row).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined);
		return { ...Object.fromEntries(plain), ...ofStatuses, ...(unpaid !== undefined && ofReasons) };
	});
	const sums = Object.keys(showSums(NO_SUMS));
	const others = [
		"pending_gross_revenue",
		"clicks_unpaid",
		"epc_bid",
		"reversal_rate",
		"conversions_approved",
		"conversions_pending",
		"conversions_cancelled",
	];
	const details = hasDetails ? [...others, ...CLICK_REASONS.map((reason) => `unpaid_${reason}`)] : [];
	return { columns: [...group, ...sums, ...details], records };
}
