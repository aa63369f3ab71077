/** Tracking links to pages: addresses pasted, links to copy, or the reason why there is none. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { readInput } from "../../http/read-input.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { NO_LINK_REASONS } from "../../publisher-api/choose-link.ts";
import type { Links } from "../../publisher-api/links-answer.ts";
import { linksRequestSchema, MAX_LINKS, MAX_LINKS_BYTES, writeLinks } from "../../publisher-api/write-links.ts";
import { formFaults } from "../form-faults.ts";
import { type PublisherRequest, page, view } from "../page.ts";
import { isStaff } from "../session/sessions.ts";
import { CopyText } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Empty, Faults } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Money, State } from "../ui/values.tsx";
import { ownPublisher } from "./own-publisher.ts";

const PATH = "/console/links";
const LABELS = { urls: "Addresses", country: "Country", clickid: "Click id", subi: "Sub id" };

type Fields = Record<keyof typeof LABELS, string>;

export const LINKS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst", active: true },
		title: "Links",
		handle: ({ query, person }) =>
			isStaff(person.role) ? (
				<p>The publisher's own people make links here.</p>
			) : (
				<LinksForm fields={fieldsOf((name) => query[name] ?? "")} />
			),
	}),
	// Changes nothing: by POST, since 500 addresses are too long for one.
	page({
		method: "POST",
		path: PATH,
		needs: { publisher: "analyst", active: true },
		title: "Links",
		maxBytes: MAX_LINKS_BYTES,
		async handle(request) {
			const fields = fieldsOf((name) => request.form.get(name) ?? "");
			try {
				const { data } = await makeLinks(request, fields);
				return view(
					{ mayReturn: true },
					<>
						<Made links={data} />
						<LinksForm fields={fields} />
					</>,
				);
			} catch (error) {
				const faults = formFaults(error);
				return view({ status: 422 }, <LinksForm fields={fields} faults={faults} />);
			}
		},
	}),
];

function fieldsOf(get: (name: string) => string): Fields {
	return { urls: get("urls"), country: get("country"), clickid: get("clickid"), subi: get("subi") };
}

async function makeLinks({ deps, publisher }: PublisherRequest, { urls, ...others }: Fields): Promise<Links> {
	const lines = urls.split(/\s+/).filter((line) => line !== "");
	if (lines.length === 0) throw invalidInput([{ path: "urls", message: "must hold at least one address" }]);
	const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value.trim() !== ""));
	return writeLinks(deps.publisherApi, await ownPublisher(deps, publisher), readInput(linksRequestSchema, { urls: lines, ...given }));
}

function LinksForm({ fields, faults = [] }: { fields: Fields; faults?: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={PATH} class="stack">
			<Faults title="No link was made" faults={faults} labels={LABELS} />
			<Field
				kind="long"
				name="urls"
				label={LABELS.urls}
				value={fields.urls}
				hint={`Of shops' pages, each on a line: up to ${MAX_LINKS}. Nothing is opened.`}
				faults={faults}
				required
			/>
			<Field
				name="country"
				label={LABELS.country}
				value={fields.country}
				hint="Such as US; otherwise the one that pays most"
				maxLength={2}
				faults={faults}
			/>
			<Field
				name="clickid"
				label={LABELS.clickid}
				value={fields.clickid}
				hint="Yours; otherwise the link has a place for it"
				faults={faults}
			/>
			<Field name="subi" label={LABELS.subi} value={fields.subi} hint="Your source, as reports have it" faults={faults} />
			<div class="buttons">
				<button type="submit">Make links</button>
			</div>
		</form>
	);
}

const COLUMNS: readonly Column<Links["data"][number]>[] = [
	{ head: "Address", cell: ({ url }) => <span class="address">{url}</span> },
	{ head: "State", cell: (link) => <State word={"link" in link ? "ready" : "refused"} /> },
	{
		head: "Link",
		cell: (link) =>
			"link" in link ? (
				<CopyText text={link.link} label={`the link to ${link.brand}`} />
			) : (
				`There is none: ${NO_LINK_REASONS[link.reason]}.`
			),
	},
	{
		head: "Brand",
		cell: (link) => ("link" in link ? <a href={`/console/brands/${segmentOf(link.brand)}`}>{link.brand}</a> : null),
	},
	{ head: "A click now", kind: "money", cell: (link) => ("link" in link ? <Money usd={link.price} /> : null) },
];

function Made({ links }: { links: Links["data"] }): JSX.Element {
	return (
		<>
			<Table caption="Links" columns={COLUMNS} rows={links} empty={<Empty title="No address was given" />} />
			{links.length < 2 ? null : (
				<Field
					kind="long"
					name="links"
					label="All links, to copy at once"
					hint="Each on the line of its address, which is empty where there is none"
					value={links.map((link) => ("link" in link ? link.link : "")).join("\n")}
					readonly
				/>
			)}
		</>
	);
}
