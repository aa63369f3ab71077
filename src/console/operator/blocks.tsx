/** Brands that are blocked for publishers: on the page of either. What changes is shown first, as of the publisher's entry. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import type { BlockedBrand } from "../../lib/blocked-brands.ts";
import { readListQuery } from "../../operator/network/entry-requests.ts";
import type { FileEntry } from "../../operator/network/export-entry.ts";
import { type FoundEntry, listEntries } from "../../operator/network/read-entries.ts";
import type { ConsoleDeps } from "../deps.ts";
import { type PersonRequest, page, type Shown } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { Field } from "../ui/field.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { answerChange, requireEntry } from "./change-entry-pages.tsx";
import { stateFields } from "./entry-form.tsx";
import { idOf, networkPath } from "./network-lists.tsx";

export const BLOCK_PAGES = [
	page({
		method: "POST",
		path: `${networkPath("publishers")}/:id/block`,
		needs: { staff: "manager" },
		title: "Block a brand",
		async handle(request) {
			const found = await requireEntry(request, "publishers", request.param("id"));
			const block = blockOf((request.form.get("domain") ?? "").trim(), request);
			return show(request, found, [...blocksOf(found), block]);
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
			if (publisher === "") throw invalidInput([{ path: "publisher", message: "must be a publisher's id" }]);
			const found = await requireEntry(request, "publishers", publisher);
			const block = blockOf(domain, request);
			const others = blocksOf(found).filter((one) => !isSame(one, block));
			const of = { id: publisher, etag: found.etag };
			return show(request, found, form.get("deed") === "unblock" ? others : [...others, block], of);
		},
	}),
];

function show(
	request: PersonRequest,
	found: FoundEntry,
	blocked: readonly BlockedBrand[],
	of?: { id: string; etag: string },
): Promise<Shown> {
	const sent = { fields: { blocked_brands: blocked }, texts: { blocked_brands: JSON.stringify(blocked, null, 2) }, faults: [] };
	return answerChange(request, "publishers", found, sent, of);
}

function blocksOf({ entry }: { entry: FileEntry }): readonly BlockedBrand[] {
	return entry.blocked_brands as BlockedBrand[];
}

/** Of a brand in the form's country; in all of them where it names none. */
function blockOf(domain: string, { form }: PersonRequest): BlockedBrand {
	const country = (form.get("country") ?? "").trim().toUpperCase();
	return { domain, ...(country !== "" && { country }) };
}

function isSame(one: BlockedBrand, other: BlockedBrand): boolean {
	return one.domain === other.domain && one.country === other.country;
}

/** On a publisher's page. */
export function BlockBrand({ path, found }: { path: string; found: FoundEntry }): JSX.Element {
	return (
		<BlockForm action={`${path}/block`} summary="Block a brand for it…" hidden={stateFields(found)}>
			<Field name="domain" label="Brand" hint="Its domain" required />
		</BlockForm>
	);
}

/** @param children what is asked beside the country */
function BlockForm({
	action,
	summary,
	hidden = {},
	children,
}: {
	action: string;
	summary: string;
	hidden?: Readonly<Record<string, string>>;
	children: Child;
}): JSX.Element {
	return (
		<details>
			<summary>{summary}</summary>
			<form method="post" action={action} class="stack">
				{Object.entries(hidden).map(([name, value]) => (
					<input type="hidden" name={name} value={value} />
				))}
				{children}
				<Field name="country" label="Country" hint="Such as US; otherwise in all of them" maxLength={2} />
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
			{mayChange ? (
				<BlockForm action={path} summary="Block it for a publisher…">
					<Field name="publisher" label="Publisher" hint="Its id" required />
				</BlockForm>
			) : null}
		</>
	);
}
