/** Rows of one kind. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { slugOf } from "./address.ts";

export type Column<Row> = {
	head: string;
	cell: (row: Row) => Child;
	/**
	 * Numbers stand at the end of their column; of money the head says the currency; prose has room. Text where it is left out, or prose
	 * where a cell is a long one.
	 */
	kind?: "text" | "prose" | "number" | "money";
	/** The cell names its row, for those who hear the table read. The first column where no column says so. */
	namesRow?: boolean;
	/** Whether a row has anything there: where none has, the column is left out. */
	isGiven?: (row: Row) => boolean;
	/** Of the last row, which sums up. */
	total?: Child;
};

/**
 * A table that scrolls within itself where it is wider than the page. Without rows it is what is to be said instead.
 * @param caption what the rows are; two tables of a page have two captions
 * @param quiet the caption is only heard: a heading before it says the same
 */
export function Table<Row>(props: {
	caption: string;
	columns: readonly Column<Row>[];
	rows: readonly Row[];
	empty: Child;
	quiet?: boolean;
}): JSX.Element {
	const { caption, rows, empty, quiet = false } = props;
	if (rows.length === 0) return <>{empty}</>;
	const columns = props.columns.filter(({ isGiven }) => isGiven === undefined || rows.some(isGiven));
	const captionId = `table-${slugOf(caption)}`;
	const naming = columns.find(({ namesRow }) => namesRow) ?? columns[0];
	const hasTotal = columns.some(({ total }) => total !== undefined);
	return (
		// By keyboard, what scrolls can only be scrolled where it has the focus.
		// biome-ignore lint/a11y/useSemanticElements: a fieldset would be of a form.
		<div class="scrolls" role="group" aria-labelledby={captionId} tabindex={0}>
			<table>
				<caption id={captionId} class={quiet ? "unseen" : undefined}>
					{caption}
				</caption>
				<thead>
					<tr>
						{columns.map((column) => (
							<th scope="col" class={column.kind}>
								{column.head}
								{column.kind === "money" ? <span class="unit"> USD</span> : null}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr>
							{columns.map((column) => (
								<Cell kind={column.kind} heads={column === naming}>
									{column.cell(row)}
								</Cell>
							))}
						</tr>
					))}
				</tbody>
				{hasTotal ? (
					<tfoot>
						<tr>
							{columns.map((column) => (
								<Cell kind={column.kind} heads={column === naming}>
									{column.total ?? (column === naming ? "Total" : null)}
								</Cell>
							))}
						</tr>
					</tfoot>
				) : null}
			</table>
		</div>
	);
}

/** Texts from that length on are sentences, in characters. */
const PROSE_LENGTH = 32;

function Cell(props: { kind: Column<never>["kind"]; heads: boolean; children?: Child }): JSX.Element {
	const { heads, children } = props;
	const kind = props.kind ?? (typeof children === "string" && children.length >= PROSE_LENGTH ? "prose" : undefined);
	return heads ? (
		<th scope="row" class={kind}>
			{children}
		</th>
	) : (
		<td class={kind}>{children}</td>
	);
}

/** What is known of one thing: names and values beside each other. Those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: Child])[] }): JSX.Element {
	return (
		<dl class="facts">
			{facts
				.filter(([, value]) => value !== null && value !== undefined && value !== "")
				.map(([name, value]) => (
					<div>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	);
}

type Figure = { name: string; value: Child; note?: Child; at?: string };

/** The few numbers that a page is about. @param note what a number counts, or how it has changed @param at the list of what it counts */
export function Figures({ figures }: { figures: readonly Figure[] }): JSX.Element {
	return (
		<dl class="figures">
			{figures.map(({ name, value, note, at }) => (
				<div>
					<dt>{at === undefined ? name : <a href={at}>{name}</a>}</dt>
					<dd>{value}</dd>
					{note === undefined ? null : <dd class="note">{note}</dd>}
				</div>
			))}
		</dl>
	);
}
