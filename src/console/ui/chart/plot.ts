/** Where the marks of a chart stand. Pure: x in percent of the width, which a page decides; y in pixels from the top. */
import { scaleBand, scaleLinear } from "d3-scale";
import { formatUsd, parseMicros } from "../../../lib/money.ts";

/** Money is decimals of USD as the API answers them; shares are parts of one. */
export type Unit = "money" | "count" | "share";

/** One value a point; null where there is none. */
export type Series = { name: string; values: readonly (string | number | null)[] };

type Bar = { series: number; y: number; height: number };
type Slot = { x: number; left: number; width: number; bars: Bar[]; dots: { series: number; y: number }[] };
export type Plot = {
	slots: Slot[];
	ticks: { y: number; text: string }[];
	zeroY: number;
	/** One a series: paths in a box of {@link PATH_WIDTH} by {@link PLOT_HEIGHT}, broken where there is no value. */
	lines: string[];
};

export const PLOT_HEIGHT = 224;
const TOP = 8;
/** What is beneath it is for the labels of points. */
export const BASE = PLOT_HEIGHT - 26;
export const PATH_WIDTH = 1_000;
/** More could not be told apart. */
const MAX_SERIES = 5;

const TICKS = 4;
const SHORTENED_FROM = 100_000;

/**
 * @param kind bars stand on each other, upwards what is above zero and downwards what is below; lines stand for themselves
 * @throws Error where a series has not one value a point, or there are more than {@link MAX_SERIES}
 */
export function plotChart(kind: "bars" | "lines", unit: Unit, pointCount: number, series: readonly Series[]): Plot {
	if (series.length > MAX_SERIES) throw new Error(`a chart shows at most ${MAX_SERIES} series, not ${series.length}`);
	const wrong = series.find(({ values }) => values.length !== pointCount);
	if (wrong !== undefined) throw new Error(`${wrong.name} has ${wrong.values.length} values for ${pointCount} points`);

	const numbers = series.map(({ values }) => values.map((value) => (value === null ? null : toNumber(value))));
	const points = Array.from({ length: pointCount }, (_, at) => numbers.map((values) => values[at] ?? null));
	const spans = points.map((values) =>
		kind === "bars" ? stack(values) : values.map((value) => (value === null ? null : ([value, value] as const))),
	);
	const y = scaleLinear(reachOf(spans), [BASE, TOP]).nice(TICKS);
	const x = scaleBand(
		points.map((_, at) => at),
		[0, 100],
	).padding(0.22);

	const slots = spans.map((spansOfPoint, at): Slot => {
		const left = x(at) ?? 0;
		const slot: Slot = { x: left + x.bandwidth() / 2, left, width: x.bandwidth(), bars: [], dots: [] };
		spansOfPoint.forEach((span, index) => {
			if (span === null) return;
			if (kind === "lines") slot.dots.push({ series: index, y: y(span[0]) });
			else if (span[0] !== span[1]) slot.bars.push({ series: index, y: y(span[1]), height: y(span[0]) - y(span[1]) });
		});
		return slot;
	});
	return { slots, ticks: ticksOf(y, unit), zeroY: y(0), lines: kind === "lines" ? series.map((_, index) => pathOf(slots, index)) : [] };
}

/** From where to where each value stands: on what is stacked before it on its side of zero. */
function stack(values: readonly (number | null)[]): (readonly [low: number, high: number] | null)[] {
	let [below, above] = [0, 0];
	return values.map((value) => {
		if (value === null) return null;
		if (value < 0) {
			const high = below;
			below += value;
			return [below, high] as const;
		}
		const low = above;
		above += value;
		return [low, above] as const;
	});
}

/** Always with zero in it; of one height where all is zero. */
function reachOf(spans: readonly (readonly (readonly [number, number] | null)[])[]): [number, number] {
	const ends = spans.flat().flatMap((span) => span ?? []);
	const [low, high] = [ends.reduce((least, end) => Math.min(least, end), 0), ends.reduce((most, end) => Math.max(most, end), 0)];
	return low === high ? [0, 1] : [low, high];
}

function ticksOf(y: ReturnType<typeof scaleLinear<number>>, unit: Unit): Plot["ticks"] {
	const most = Math.max(...y.domain().map(Math.abs));
	const form = unit === "share" ? "~%" : `${unit === "money" ? "$" : ""}${most >= SHORTENED_FROM ? ".3~s" : ",~f"}`;
	const format = y.tickFormat(TICKS, form);
	return y
		.ticks(TICKS)
		.filter((tick) => unit !== "count" || Number.isInteger(tick))
		.map((tick) => ({ y: y(tick), text: format(tick) }));
}

function pathOf(slots: readonly Slot[], series: number): string {
	let isDrawing = false;
	return slots
		.flatMap(({ x, dots }) => {
			const dot = dots.find((found) => found.series === series);
			const command = isDrawing ? "L" : "M";
			isDrawing = dot !== undefined;
			return dot === undefined ? [] : [`${command}${round((x * PATH_WIDTH) / 100)} ${round(dot.y)}`];
		})
		.join("");
}

export function round(value: number): number {
	return Math.round(value * 100) / 100;
}

function toNumber(value: string | number): number {
	const number = Number(value);
	if (value === "" || !Number.isFinite(number)) throw new Error(`${JSON.stringify(value)} cannot be drawn`);
	return number;
}

/** What values add up to, exactly; those that are null count nothing. @throws Error where an amount is no decimal */
export function sumOf(unit: "money", values: Series["values"]): string;
export function sumOf(unit: "count", values: Series["values"]): number;
export function sumOf(unit: "money" | "count", values: Series["values"]): string | number {
	const given = values.filter((value) => value !== null);
	if (unit === "count") return given.reduce<number>((sum, value) => sum + Number(value), 0);
	return formatUsd(
		given.reduce<bigint>((sum, value) => {
			const micros = parseMicros(String(value));
			if (micros === null) throw new Error(`${JSON.stringify(value)} is no amount of money`);
			return sum + BigInt(micros);
		}, 0n),
	);
}
