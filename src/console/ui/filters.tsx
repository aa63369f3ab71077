/** What a list is narrowed down by. All of it lives in the address, so that a page can be kept and sent. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import { addressOf, type Query } from "./address.ts";
import { type Choice, Choices } from "./field.tsx";

export type Filter = { name: string; label: string } & (
	| { kind: "text"; hint?: string; maxLength?: number }
	| { kind: "date" }
	| { kind: "choice"; choices: readonly Choice[]; any?: string }
	| { kind: "check" }
);

/**
 * A GET form with what the address holds filled in; a list narrowed down begins at its first page.
 * @param path the page's own address, without a query
 * @param kept names of further parameters that stay, such as a grouping that is chosen elsewhere
 * @param children links beside the button, such as one to the same as CSV
 */
export function Filters(props: {
	path: string;
	query: Query;
	filters: readonly Filter[];
	kept?: readonly string[];
	/** What is shown where the address does not say: the period, as the answer names it. */
	shown?: Query;
	submit?: string;
	children?: Child;
}): JSX.Element {
	const { path, query, filters, kept = [], shown = {}, submit = "Show", children } = props;
	const keptQuery = Object.fromEntries(kept.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
	const isNarrowed = filters.some(({ name }) => (query[name] ?? "") !== "");
	return (
		<form class="filters" method="get" action={path}>
			<search>
				{filters.map((filter) => (
					<FilterControl filter={filter} value={query[filter.name] || (shown[filter.name] ?? "")} />
				))}
				{Object.entries(keptQuery).map(([name, value]) => (
					<input type="hidden" name={name} value={value} />
				))}
				<div class="buttons">
					<button type="submit">{submit}</button>
					{isNarrowed ? <a href={addressOf(path, keptQuery)}>Clear</a> : null}
					{children}
				</div>
			</search>
		</form>
	);
}

/** Links to the periods that are mostly asked for; the other filters stay. @param shown the one that the page is of, UTC days */
export function Periods(props: { path: string; query: Query; now: number; shown: { from: string; to: string } }): JSX.Element {
	const { path, query, now, shown } = props;
	const today = utcDay(now);
	const daysAgo = (days: number) => utcDay(now - days * DAY_MS);
	const lastOfBefore = utcDay(Date.parse(`${today.slice(0, 8)}01`) - DAY_MS);
	const periods = [
		{ label: "Today", from: today, to: today },
		{ label: "7 days", from: daysAgo(6), to: today },
		{ label: "30 days", from: daysAgo(29), to: today },
		{ label: "This month", from: `${today.slice(0, 8)}01`, to: today },
		{ label: "Last month", from: `${lastOfBefore.slice(0, 8)}01`, to: lastOfBefore },
	];
	return (
		<>
			{periods.map(({ label, from, to }) => (
				<a
					href={addressOf(path, query, { from, to, cursor: null })}
					aria-current={shown.from === from && shown.to === to ? "true" : undefined}
				>
					{label}
				</a>
			))}
		</>
	);
}

function FilterControl({ filter, value }: { filter: Filter; value: string }): JSX.Element {
	const id = `filter-${filter.name}`;
	if (filter.kind === "check") {
		return (
			<label class="check" for={id}>
				<input type="checkbox" id={id} name={filter.name} value="true" checked={value === "true"} /> {filter.label}
			</label>
		);
	}
	return (
		<div>
			<label for={id}>
				{filter.label}
				{filter.kind === "text" && filter.hint !== undefined ? <span class="hint"> {filter.hint}</span> : null}
			</label>
			{filter.kind === "choice" ? (
				<select id={id} name={filter.name}>
					<Choices choices={[{ value: "", label: filter.any ?? "Any" }, ...filter.choices]} chosen={value} />
				</select>
			) : filter.kind === "date" ? (
				<input type="date" id={id} name={filter.name} value={value} />
			) : (
				<input type="text" id={id} name={filter.name} value={value} maxlength={filter.maxLength} autocomplete="off" spellcheck={false} />
			)}
		</div>
	);
}

/**
 * Links between pages of a list. A cursor leads forwards only; backwards leads to the first page, and the browser's own way back.
 * @param next the `next_cursor` of the answer
 */
export function Pager({ path, query, next }: { path: string; query: Query; next: string | null }): JSX.Element | null {
	const isFirst = (query.cursor ?? "") === "";
	if (isFirst && next === null) return null;
	return (
		<nav class="pager" aria-label="Pages">
			{isFirst ? null : (
				<a class="button quiet" href={addressOf(path, query, { cursor: null })}>
					First page
				</a>
			)}
			{next === null ? (
				<span>No more</span>
			) : (
				<a class="button quiet" rel="next" href={addressOf(path, query, { cursor: next })}>
					Next page
				</a>
			)}
		</nav>
	);
}

/** One parameter as links, of which one is shown: how a list is grouped, or which part of a thing. The other filters stay. */
export function Tabs(props: {
	label: string;
	path: string;
	query: Query;
	name: string;
	/** The first is meant where the address names none. */
	tabs: readonly Choice[];
}): JSX.Element {
	const { label, path, query, name, tabs } = props;
	const chosen = query[name] || tabs[0]?.value;
	return (
		<nav class="tabs" aria-label={label}>
			{tabs.map((tab) => (
				<a href={addressOf(path, query, { [name]: tab.value, cursor: null })} aria-current={tab.value === chosen ? "page" : undefined}>
					{tab.label}
				</a>
			))}
		</nav>
	);
}
