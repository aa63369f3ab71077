/** Values over time or over kinds, drawn on the server, with the same values as a table beneath. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { slugOf } from "../address.ts";
import { Stylesheet } from "../layout.tsx";
import { type Column, Table } from "../table.tsx";
import { Count, Money, None, Percent } from "../values.tsx";
import { BASE, PATH_WIDTH, PLOT_HEIGHT, type Plot, plotChart, round, type Series, sumOf, type Unit } from "./plot.ts";

type ChartProps = {
	/** What is shown, as a heading says it. Two charts of a page have two titles. */
	title: string;
	kind: "bars" | "lines";
	unit: Unit;
	/** What the points are: "Day". */
	of: string;
	/** UTC days, or names. */
	points: readonly string[];
	/** At most five. */
	series: readonly Series[];
	/** The first point that may still change, such as today's; all that follow may as well. */
	partialFrom?: number;
	/** Whether the page has a table of the same values beneath it already. */
	hasTable?: boolean;
	/** Whether each value stands by itself, as prices do: what they come to in all says nothing. */
	isLevel?: boolean;
};

/** Labels that find room beneath the widest chart. */
const MAX_LABELS = 6;
/** More dots than that are a line. */
const MAX_DOTS = 45;

export function Chart(props: ChartProps): JSX.Element {
	const { title, kind, unit, of, points, series, partialFrom = points.length, hasTable = false } = props;
	const id = `chart-${slugOf(title)}`;
	const plot = plotChart(kind, unit, points.length, series);
	const hasPartial = partialFrom < points.length;
	const isSeen = points.map((_, at) => series.some(({ values }) => Number(values[at] ?? 0) !== 0));
	if (!isSeen.includes(true)) return <p class="note">{title}: nothing to show.</p>;
	return (
		<figure class="chart">
			<Stylesheet name="charts.css" />
			<figcaption>
				<strong>{title}</strong>
				<ul class="legend">
					{series.map(({ name }, index) => (
						<li>
							<Swatch kind={kind} id={id} index={index} />
							{name}
						</li>
					))}
					{hasPartial ? (
						<li class="partial">{kind === "bars" ? "Pale" : `From ${shorten(points[partialFrom] ?? "")}`}: not all of it yet</li>
					) : null}
				</ul>
			</figcaption>
			<div class="plot">
				<svg class="axis" width="60" height={PLOT_HEIGHT} aria-hidden="true">
					{plot.ticks.map(({ y, text }) => (
						<text x="52" y={round(y)} dy="0.32em" text-anchor="end">
							{text}
						</text>
					))}
				</svg>
				<svg class="marks" width="100%" height={PLOT_HEIGHT} role="img" aria-labelledby={`${id}-title`} aria-describedby={`${id}-desc`}>
					<title id={`${id}-title`}>{title}</title>
					<desc id={`${id}-desc`}>{describe(props)}</desc>
					<Patterns id={id} count={series.length} />
					{plot.ticks.map(({ y }) => (
						<line class="grid" x1="0" x2="100%" y1={round(y)} y2={round(y)} />
					))}
					{kind === "bars" ? <Bars id={id} plot={plot} partialFrom={partialFrom} /> : <Lines plot={plot} />}
					<line class="zero" x1="0" x2="100%" y1={round(plot.zeroY)} y2={round(plot.zeroY)} />
					<Labels plot={plot} points={points} />
					{plot.slots.map(({ left, width }, at) =>
						isSeen[at] ? (
							<rect class="hit" x={`${round(left)}%`} y="0" width={`${round(width)}%`} height={BASE}>
								<title>{[points[at], ...series.map(({ name, values }) => `${name}: ${show(unit, values[at] ?? null)}`)].join("\n")}</title>
							</rect>
						) : null,
					)}
				</svg>
			</div>
			{hasTable ? null : (
				<details>
					<summary>As a table</summary>
					<ChartTable {...props} title={title} of={of} />
				</details>
			)}
		</figure>
	);
}

function Bars({ id, plot, partialFrom }: { id: string; plot: Plot; partialFrom: number }): JSX.Element {
	return (
		<>
			{plot.slots.flatMap(({ left, width, bars }, at) =>
				bars.map(({ series, y, height }) => (
					<rect
						class={at >= partialFrom ? "bar partial" : "bar"}
						x={`${round(left)}%`}
						width={`${round(width)}%`}
						y={round(y)}
						height={round(height)}
						fill={`url(#${id}-${series})`}
					/>
				)),
			)}
		</>
	);
}

/** A box that is stretched to the width, in which a line keeps its own. */
function Lines({ plot }: { plot: Plot }): JSX.Element {
	const showsDots = plot.slots.length <= MAX_DOTS;
	return (
		<>
			<svg
				aria-hidden="true"
				x="0"
				y="0"
				width="100%"
				height={PLOT_HEIGHT}
				viewBox={`0 0 ${PATH_WIDTH} ${PLOT_HEIGHT}`}
				preserveAspectRatio="none"
			>
				{plot.lines.map((path, index) => (
					<path class={`line s${index}`} d={path} vector-effect="non-scaling-stroke" />
				))}
			</svg>
			{plot.slots.flatMap(({ x, dots }) =>
				dots.filter(() => showsDots).map(({ series, y }) => <circle class={`dot s${series}`} cx={`${round(x)}%`} cy={round(y)} r="3" />),
			)}
		</>
	);
}

/** The labels of so many points as find room; on a narrow page, every other of them. */
function Labels({ plot, points }: { plot: Plot; points: readonly string[] }): JSX.Element {
	const step = Math.ceil(points.length / MAX_LABELS);
	const labelled = plot.slots.map(({ x }, at) => ({ x, at })).filter(({ at }) => at % step === 0);
	return (
		<>
			{labelled.map(({ x, at }, index) => (
				<text class={index % 2 === 1 ? "minor" : undefined} x={`${round(x)}%`} y={PLOT_HEIGHT - 8} text-anchor={x > 96 ? "end" : "middle"}>
					{shorten(points[at] ?? "")}
				</text>
			))}
		</>
	);
}

/** Series are told apart by their pattern as well as by their colour. */
function Patterns({ id, count }: { id: string; count: number }): JSX.Element {
	const strokes = ["", "M-2 2L2-2M0 8L8 0M6 10L10 6", "M0 2H8M0 6H8", "M2 0V8M6 0V8", "M0 8L8 0M0 0L8 8"];
	return (
		<defs>
			{strokes.slice(0, count).map((path, index) => (
				<pattern id={`${id}-${index}`} width="8" height="8" patternUnits="userSpaceOnUse">
					<rect class={`fill s${index}`} width="8" height="8" />
					{path === "" ? null : <path class="hatch" d={path} />}
				</pattern>
			))}
		</defs>
	);
}

function Swatch({ kind, id, index }: { kind: "bars" | "lines"; id: string; index: number }): JSX.Element {
	return (
		<svg class="swatch" width="22" height="12" aria-hidden="true">
			{kind === "bars" ? (
				<rect width="22" height="12" rx="2" fill={`url(#${id}-${index})`} />
			) : (
				<path class={`line s${index}`} d="M0 6H22" />
			)}
		</svg>
	);
}

type Row = { point: string; values: readonly (string | number | null)[] };

function ChartTable({ title, unit, of, points, series, isLevel = false }: ChartProps): JSX.Element {
	const rows = points.map((point, at): Row => ({ point, values: series.map(({ values }) => values[at] ?? null) }));
	const columns: Column<Row>[] = series.map(({ name, values }, index) => ({
		head: name,
		kind: unit === "money" ? "money" : "number",
		cell: (row) => <Value unit={unit} value={row.values[index] ?? null} />,
		...(unit !== "share" && !isLevel && { total: <Value unit={unit} value={totalOf(unit, values)} /> }),
	}));
	return (
		<Table
			caption={`${title}, as a table`}
			quiet
			rows={rows}
			empty={null}
			columns={[{ head: of, cell: ({ point }) => (DAY.test(point) ? <time datetime={point}>{point}</time> : point) }, ...columns]}
		/>
	);
}

function Value({ unit, value }: { unit: Unit; value: string | number | null }): JSX.Element {
	if (value === null) return <None />;
	if (unit === "money") return <Money usd={String(value)} />;
	return unit === "count" ? <Count of={Number(value)} /> : <Percent of={Number(value)} />;
}

function totalOf(unit: "money" | "count", values: Series["values"]): string | number {
	return unit === "money" ? sumOf("money", values) : sumOf("count", values);
}

/** A value in a text, where no markup is. */
function show(unit: Unit, value: string | number | null): string {
	if (value === null) return "none";
	if (unit === "share") return `${(Number(value) * 100).toFixed(1)}%`;
	return unit === "money" ? `${value} USD` : String(value);
}

/** The chart in a sentence a series, for those who do not see it. */
function describe({ unit, points, series, isLevel = false }: ChartProps): string {
	const span = points.length === 1 ? points[0] : `${points[0]} to ${points.at(-1)}`;
	return [
		`${span}.`,
		...series.map(({ name, values }) => {
			const most = values.reduce<number>((best, value, at) => (Number(value) > Number(values[best]) ? at : best), 0);
			const sum = unit === "share" ? "" : ` ${show(unit, totalOf(unit, values))} in all,`;
			const whole = isLevel ? ` ${show(unit, values.at(-1) ?? null)} at last,` : sum;
			return `${name}:${whole} most at ${points[most]} with ${show(unit, values[most] ?? null)}.`;
		}),
	].join(" ");
}

const DAY = /^\d{4}-(\d\d)-(\d\d)$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MAX_LABEL_LENGTH = 12;

/** A day without its year; other labels to what fits. */
function shorten(point: string): string {
	const [, month, day] = DAY.exec(point) ?? [];
	if (month !== undefined) return `${Number(day)} ${MONTHS[Number(month) - 1]}`;
	return point.length > MAX_LABEL_LENGTH ? `${point.slice(0, MAX_LABEL_LENGTH - 1)}…` : point;
}
