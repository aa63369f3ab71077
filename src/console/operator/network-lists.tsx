/** Publishers, brands, campaigns and platforms: found, and led to. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { ENTRY_KEYS } from "../../operator/network/change-entry.ts";
import { ENTRY_SECTIONS, type EntrySection } from "../../operator/network/entry-answers.ts";
import { readListQuery } from "../../operator/network/entry-requests.ts";
import type { FileEntry } from "../../operator/network/export-entry.ts";
import { listEntries } from "../../operator/network/read-entries.ts";
import { page } from "../page.ts";
import { type Filter, Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Count, Money, Share, State } from "../ui/values.tsx";

/** The address of a section's list, or of one of its entries. */
export function networkPath(section: EntrySection, id?: string): `/console${string}` {
	return `/console/operator/${section}${id === undefined ? "" : `/${segmentOf(id)}`}`;
}

/** Of a form for a new entry. */
export function newPath(section: EntrySection): `/console${string}` {
	return `/console/operator/new/${section}`;
}

/** What entries of a section are called. */
export const SECTION_WORDS: Readonly<Record<EntrySection, { title: string; one: string }>> = {
	publishers: { title: "Publishers", one: "publisher" },
	brands: { title: "Brands", one: "brand" },
	campaigns: { title: "Campaigns", one: "campaign" },
	platforms: { title: "Platforms", one: "platform" },
};

/** What an entry's section tells entries apart by, as text. */
export function idOf(section: EntrySection, entry: FileEntry): string {
	return String(entry[ENTRY_KEYS[section]]);
}

/** Whether brands and campaigns bid at all. */
export function ActiveState({ active }: { active: unknown }): JSX.Element {
	return <State word={active === true ? "active" : "paused"} />;
}

const TEXT: Filter = { kind: "text", name: "text", label: "Name", hint: "or a part of it", maxLength: 200 };
const ACTIVE: Filter = {
	kind: "choice",
	name: "active",
	label: "State",
	choices: [
		{ value: "true", label: "active" },
		{ value: "false", label: "paused" },
	],
};

const FILTERS: Readonly<Record<EntrySection, readonly Filter[]>> = {
	publishers: [
		TEXT,
		{
			kind: "choice",
			name: "status",
			label: "State",
			choices: [
				{ value: "active", label: "active" },
				{ value: "suspended", label: "suspended" },
			],
		},
		{ kind: "text", name: "blocks", label: "Blocked brand", hint: "Its domain", maxLength: 255 },
	],
	brands: [TEXT, ACTIVE, { kind: "text", name: "category", label: "Category", maxLength: 200 }],
	campaigns: [
		{ kind: "text", name: "brand", label: "Brand", hint: "Its domain", maxLength: 255 },
		ACTIVE,
		{ kind: "text", name: "platform", label: "Platform", maxLength: 200 },
		{ kind: "text", name: "country", label: "Country", hint: "Such as US", maxLength: 2 },
	],
	platforms: [TEXT],
};

const nameOf = (section: EntrySection): Column<FileEntry> => ({
	head: "Name",
	namesRow: true,
	cell: (entry) => <a href={networkPath(section, idOf(section, entry))}>{String(entry.name)}</a>,
});
const text = (head: string, field: string): Column<FileEntry> => ({
	head,
	cell: (entry) => (entry[field] === null ? null : String(entry[field])),
});
const flag = (head: string, field: string): Column<FileEntry> => ({ head, cell: (entry) => (entry[field] === true ? "yes" : "no") });
const usd = (head: string, field: string): Column<FileEntry> => ({
	head,
	kind: "money",
	cell: (entry) => <Money usd={entry[field] as string | null} />,
});
const ACTIVE_COLUMN: Column<FileEntry> = { head: "State", cell: ({ active }) => <ActiveState active={active} /> };

const COLUMNS: Readonly<Record<EntrySection, readonly Column<FileEntry>[]>> = {
	publishers: [
		nameOf("publishers"),
		text("Id", "id"),
		{ head: "State", cell: ({ status }) => <State word={String(status)} /> },
		text("Publisher Id", "publisher_id"),
		text("Identity", "publisher_identity"),
		text("Pricing", "pricing_model"),
		{ head: "Share", kind: "number", cell: ({ revenue_share }) => <Share of={revenue_share as number} /> },
		flag("OpenRTB", "openrtb_enabled"),
		flag("Serving Engine", "serving_engine_enabled"),
	],
	brands: [
		nameOf("brands"),
		text("Domain", "domain"),
		ACTIVE_COLUMN,
		text("Category", "category"),
		{ head: "Campaigns", kind: "number", cell: ({ campaigns }) => <Count of={(campaigns as unknown[]).length} /> },
		flag("Marketplace", "marketplace"),
	],
	campaigns: [
		{
			head: "Campaign",
			namesRow: true,
			cell: ({ campaign_id }) => <a href={networkPath("campaigns", String(campaign_id))}>{String(campaign_id)}</a>,
		},
		{ head: "Brand", cell: ({ brand }) => <a href={networkPath("brands", String(brand))}>{String(brand)}</a> },
		ACTIVE_COLUMN,
		text("Country", "country"),
		text("Platform", "platform"),
		usd("EPC", "epc"),
		{ head: "Clicks a day", kind: "number", cell: ({ daily_click_cap }) => <Count of={daily_click_cap as number | null} /> },
		usd("Budget a day", "daily_budget"),
	],
	platforms: [nameOf("platforms"), text("Id", "id"), text("Platform Id", "platform_id"), text("Currency", "currency")],
};

/** Campaigns of one brand, as the list has them. */
export const CAMPAIGN_COLUMNS: readonly Column<FileEntry>[] = COLUMNS.campaigns.filter(({ head }) => head !== "Brand");

export const NETWORK_LIST_PAGES = ENTRY_SECTIONS.map((section) => {
	const { title, one } = SECTION_WORDS[section];
	const path = networkPath(section);
	return page({
		method: "GET",
		path,
		needs: { staff: "viewer" },
		title,
		async handle({ deps, query, person }) {
			const mayAdd = mayAct(person.role, "manager");
			const { data, next_cursor } = await listEntries(deps.db, section, readListQuery(section, query));
			return (
				<>
					<Filters path={path} query={query} filters={FILTERS[section]}>
						{mayAdd ? <a href={newPath(section)}>New {one}</a> : null}
					</Filters>
					<Table
						caption={title}
						columns={COLUMNS[section]}
						rows={data}
						empty={
							next_cursor === null ? (
								<Empty title={`No ${one} is like that`}>
									{mayAdd ? (
										<p>
											Ask for fewer conditions, or <a href={newPath(section)}>add a {one}</a>. Whole files come in by{" "}
											<a href="/console/operator/imports">an import</a>.
										</p>
									) : (
										<p>Ask for fewer conditions.</p>
									)}
								</Empty>
							) : (
								<Empty title="None among those that were looked at">
									<p>There are more: look at the next page.</p>
								</Empty>
							)
						}
					/>
					<Pager path={path} query={query} next={next_cursor} />
				</>
			);
		},
	});
});
