/** Brands that are blocked for publishers: on the page of either. What changes is shown first, as of the publisher's entry. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BlockedBrand } from "../../lib/blocked-brands.ts";
import { canonicalCountry } from "../../lib/country.ts";
import { readListQuery } from "../../operator/network/entry-requests.ts";
import type { FileEntry } from "../../operator/network/export-entry.ts";
import { type FoundEntry, findEntry, listEntries } from "../../operator/network/read-entries.ts";
import type { ConsoleDeps } from "../deps.ts";
import { type PersonRequest, page, type Shown, view } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { answerChange, requireEntry } from "./change-entry-pages.tsx";
import { stateFields } from "./entry-form.tsx";
import { idOf, networkPath } from "./network-lists.tsx";

const LABELS = { domain: "Brand", publisher: "Publisher", country: "Country" };

export const BLOCK_PAGES = [
	page({
		method: "POST",
		path: `${networkPath("publishers")}/:id/block`,
		needs: { staff: "manager" },
		title: "Block a brand",
		async handle(request) {
			const found = await requireEntry(request, "publishers", request.param("id"));
			const block = blockOf((request.form.get("domain") ?? "").trim(), request);
			const path = networkPath("publishers", request.param("id"));
			const again = (faults: readonly Fault[]) => <BlockBrand path={path} found={found} {...typedIn(request)} faults={faults} />;
			return show(request, found, [...blocksOf(found), block], again);
		},
	}),
	page({
		method: "POST",
		path: `${networkPath("brands")}/:id/block`,
		needs: { staff: "manager" },
		title: "Block for a publisher",
		async handle(request) {
			const { form, param } = request;
			const domain = idOf("brands", (await requireEntry(request, "brands", param("id"))).entry);
			const publisher = (form.get("publisher") ?? "").trim();
			const again = (faults: readonly Fault[]) => <BlockFor path={networkPath("brands", domain)} {...typedIn(request)} faults={faults} />;
			if (publisher === "") return view({ status: 422 }, again([{ path: "publisher", message: "must be a publisher's id" }]));
			const found = await findEntry(request.deps.db, "publishers", publisher);
			if (found === null) return view({ status: 404 }, again([{ path: "publisher", message: "is no publisher's id" }]));
			const block = blockOf(domain, request);
			const others = blocksOf(found).filter((one) => !isSame(one, block));
			const of = { id: publisher, etag: found.etag };
			return show(request, found, form.get("deed") === "unblock" ? others : [...others, block], again, of);
		},
	}),
];

function show(
	request: PersonRequest,
	found: FoundEntry,
	blocked: readonly BlockedBrand[],
	again: (faults: readonly Fault[]) => JSX.Element,
	of?: { id: string; etag: string },
): Promise<Shown> {
	const sent = { fields: { blocked_brands: blocked }, texts: { blocked_brands: JSON.stringify(blocked, null, 2) }, faults: [] };
	// The faults of the block by the names of the form's fields.
	const formAgain = (faults: readonly Fault[]) =>
		again(faults.map(({ path, message }) => ({ path: path.replace(/^blocked_brands\[\d+\]\./, ""), message })));
	return answerChange(request, "publishers", found, sent, of, formAgain);
}

/** What was typed into the form of a block. */
function typedIn({ form }: PersonRequest): { typed: Record<string, string> } {
	return { typed: Object.fromEntries(["domain", "publisher", "country"].map((name) => [name, form.get(name) ?? ""])) };
}

function blocksOf({ entry }: { entry: FileEntry }): readonly BlockedBrand[] {
	return entry.blocked_brands as BlockedBrand[];
}

/** Of a brand in the form's country; in all of them where it names none. */
function blockOf(domain: string, { form }: PersonRequest): BlockedBrand {
	const given = (form.get("country") ?? "").trim();
	// What is none is refused where it is changed, as it was typed.
	const country = /^[A-Za-z]{2}$/.test(given) ? canonicalCountry(given.toUpperCase()) : given;
	return { domain, ...(country !== "" && { country }) };
}

function isSame(one: BlockedBrand, other: BlockedBrand): boolean {
	return one.domain === other.domain && one.country === other.country;
}

/** What was typed, and why it was refused. */
type Refused = { typed?: Readonly<Record<string, string>>; faults?: readonly Fault[] };

/** On a publisher's page. */
export function BlockBrand({ path, found, typed, faults = [] }: { path: string; found: FoundEntry } & Refused): JSX.Element {
	return (
		<BlockForm action={`${path}/block`} summary="Block a brand for it…" hidden={stateFields(found)} typed={typed} faults={faults}>
			<Field name="domain" label={LABELS.domain} hint="Its domain" value={typed?.domain} faults={faults} required />
		</BlockForm>
	);
}

/** On a brand's page. */
function BlockFor({ path, typed, faults = [] }: { path: string } & Refused): JSX.Element {
	return (
		<BlockForm action={`${path}/block`} summary="Block it for a publisher…" typed={typed} faults={faults}>
			<Field name="publisher" label={LABELS.publisher} hint="Its id" value={typed?.publisher} faults={faults} required />
		</BlockForm>
	);
}

/** @param children what is asked beside the country */
function BlockForm({
	action,
	summary,
	hidden = {},
	typed = {},
	faults = [],
	children,
}: {
	action: string;
	summary: string;
	hidden?: Readonly<Record<string, string>>;
	typed?: Readonly<Record<string, string>> | undefined;
	faults?: readonly Fault[] | undefined;
	children: Child;
}): JSX.Element {
	return (
		<details open={faults.length > 0}>
			<summary>{summary}</summary>
			<form method="post" action={action} class="stack">
				<Faults title="Nothing was blocked" faults={faults} labels={LABELS} />
				{Object.entries(hidden).map(([name, value]) => (
					<input type="hidden" name={name} value={value} />
				))}
				{children}
				<Field
					name="country"
					label={LABELS.country}
					hint="Such as US or GB; otherwise in all of them"
					maxLength={2}
					value={typed.country}
					faults={faults}
				/>
				<div class="buttons">
					<button type="submit">Show what changes</button>
				</div>
			</form>
		</details>
	);
}

const LIMIT = 100;

/** On a brand's page: for whom it is blocked, with what changes that for those who may. */
export async function showBlocked({ db }: ConsoleDeps, domain: string, mayChange: boolean): Promise<JSX.Element> {
	const list = await listEntries(db, "publishers", readListQuery("publishers", { blocks: domain, limit: String(LIMIT) }));
	const rows = list.data.flatMap((entry) =>
		blocksOf({ entry })
			.filter((block) => block.domain === domain)
			.map(({ country }) => ({ id: idOf("publishers", entry), name: String(entry.name), country })),
	);
	const path = `${networkPath("brands", domain)}/block`;
	const columns: Column<(typeof rows)[number]>[] = [
		{ head: "Publisher", namesRow: true, cell: ({ id, name }) => <a href={networkPath("publishers", id)}>{name}</a> },
		{ head: "Country", cell: ({ country }) => country ?? "all" },
	];
	const unblock: (typeof columns)[number] = {
		head: "Change",
		cell: ({ id, country = "" }) => (
			<Do action={path} label="Unblock…" of={`for ${id}`} fields={{ publisher: id, country, deed: "unblock" }} />
		),
	};
	return (
		<>
			<Table
				caption="Publishers for whom it is blocked"
				columns={mayChange ? [...columns, unblock] : columns}
				rows={rows}
				empty={<p>It is blocked for nobody.</p>}
			/>
			{list.next_cursor === null ? null : <a href={addressOf(networkPath("publishers"), { blocks: domain })}>All of them</a>}
			{mayChange ? <BlockFor path={networkPath("brands", domain)} /> : null}
		</>
	);
}
