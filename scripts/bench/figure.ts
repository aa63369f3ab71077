/** A measured figure, and the bar it must hold where there is one. */
export type Figure = {
	/** Stable: scripts look figures up by it. */
	name: string;
	value: number;
	unit: string;
	/** The bar as text, such as "≥ 0.70"; null where the figure only tells. */
	bar: string | null;
	/** Whether the bar is held; null where there is none. */
	holds: boolean | null;
};

/** A figure that only tells. */
export function tell(name: string, value: number, unit: string): Figure {
	return { name, value: round(value), unit, bar: null, holds: null };
}

/** A figure that must be at least `bar`. */
export function atLeast(name: string, value: number, unit: string, bar: number): Figure {
	return { ...tell(name, value, unit), bar: `≥ ${writeBar(bar)}`, holds: value >= bar };
}

/** A figure that must be at most `bar`. */
export function atMost(name: string, value: number, unit: string, bar: number): Figure {
	return { ...tell(name, value, unit), bar: `≤ ${writeBar(bar)}`, holds: value <= bar };
}

/** Four significant digits; whole numbers stay whole. */
function round(value: number): number {
	return Number.isInteger(value) || Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4));
}

function writeBar(bar: number): string {
	return Number.isInteger(bar) ? String(bar) : bar.toFixed(2);
}

/** The middle value; the mean of the two in the middle of an even number. @throws RangeError where there is none */
export function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const upper = sorted[Math.floor(sorted.length / 2)];
	const lower = sorted[Math.ceil(sorted.length / 2) - 1];
	if (upper === undefined || lower === undefined) throw new RangeError("no values");
	return (upper + lower) / 2;
}

/** @param sorted ascending @param part of one */
export function quantile(sorted: Float64Array, part: number): number {
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
