/** What the rows of one transaction come to together. */
import { MAX_AMOUNT_MICROS } from "../../conversions/read-amount.ts";
import type { StatedPlatform } from "../../conversions/restate.ts";
import { readStatus } from "../../conversions/status-map.ts";
import type { StatedSale } from "./read-row.ts";

/** What words of rows that count may mean, what goes before the others first. */
const MEANINGS = ["unknown", "pending", "approved"] as const;

/**
 * A transaction's rows as one, in whatever order they stand. Beside others, rows whose word cancels count only as far as together they take
 * something off. Of words that mean different things one that nobody knows holds, else one that is pending.
 */
export function joinRows(rows: readonly [StatedSale, ...StatedSale[]], { statusMap }: StatedPlatform): StatedSale {
	if (rows.length === 1) return rows[0];
	const meaningOf = ({ status }: StatedSale) => {
		const { status: meaning, unknown } = readStatus(status, statusMap);
		return unknown ? "unknown" : meaning;
	};
	const { cancelled = [], kept = [] } = Object.groupBy(rows.toSorted(compareRows), (row) =>
		meaningOf(row) === "cancelled" ? "cancelled" : "kept",
	);
	const [counted, left] = kept.length === 0 ? [cancelled, []] : [kept, cancelled];
	const meaning = MEANINGS.find((one) => counted.some((row) => meaningOf(row) === one)) ?? "cancelled";
	const within = (micros: number) => Math.max(-MAX_AMOUNT_MICROS, Math.min(MAX_AMOUNT_MICROS, micros));
	const total = (field: "payoutMicros" | "salesMicros") =>
		within(addUp(counted.map((row) => row[field])) + Math.min(0, addUp(left.map((row) => row[field]))));
	return {
		...rows[0],
		cid: [...counted, ...left].find(({ cid }) => cid !== null)?.cid ?? null,
		at: [...counted, ...left].find(({ at }) => at !== null)?.at ?? null,
		payoutMicros: total("payoutMicros"),
		salesMicros: counted.some(({ salesMicros }) => salesMicros === null) ? null : total("salesMicros"),
		status: counted.find((row) => row.status !== null && meaningOf(row) === meaning)?.status ?? null,
	};
}

function addUp(amounts: readonly (number | null)[]): number {
	return amounts.reduce<number>((sum, micros) => sum + (micros ?? 0), 0);
}

/** By day, then by all that is taken from a single row. */
function compareRows(a: StatedSale, b: StatedSale): number {
	const parts = ({ at, cid, status, payoutMicros }: StatedSale) => [at ?? Number.MAX_VALUE, cid ?? "", status ?? "", payoutMicros] as const;
	const [ofA, ofB] = [parts(a), parts(b)];
	const differing = ofA.findIndex((part, index) => part !== ofB[index]);
	if (differing < 0) return 0;
	return (ofA[differing] ?? "") < (ofB[differing] ?? "") ? -1 : 1;
}
