/** One publisher, brand, campaign or platform: what is known of it, what is often done to it, and the form over it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { isObject } from "../../lib/json.ts";
import { ENTRY_SECTIONS, type EntrySection } from "../../operator/network/entry-answers.ts";
import { type FileEntry, shownTo } from "../../operator/network/export-entry.ts";
import type { FoundEntry } from "../../operator/network/read-entries.ts";
import { page, view } from "../page.ts";
import { isFresh } from "../session/sessions.ts";
import { Do } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { Empty, Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Count, Money, None, Share, State } from "../ui/values.tsx";
import { BlockBrand, showBlocked } from "./blocks.tsx";
import { requireEntry } from "./change-entry-pages.tsx";
import { clicksAddress } from "./clicks.tsx";
import { Value } from "./difference.tsx";
import { fieldsOf, USD_FIELDS } from "./entry-fields.ts";
import { EntryForm, stateFields } from "./entry-form.tsx";
import { pricesPath } from "./learned-parts.tsx";
import { ActiveState, CAMPAIGN_COLUMNS, idOf, networkPath, newPath, SECTION_WORDS } from "./network-lists.tsx";
import { PostbackSecret } from "./postback-secret.tsx";

const COUNT_FIELDS: ReadonlySet<string> = new Set(["daily_click_cap", "bid_pay_minutes", "postbacks_per_minute"]);

export const ENTRY_PAGES = ENTRY_SECTIONS.map((section) =>
	page({
		method: "GET",
		path: `${networkPath(section)}/:id`,
		needs: { staff: "viewer" },
		title: SECTION_WORDS[section].title,
		async handle(request) {
			const { deps, param, query, person, session, now } = request;
			const [isManager, isAdmin] = [mayAct(person.role, "manager"), mayAct(person.role, "admin")];
			const found = await requireEntry(request, section, param("id"));
			const entry = shownTo(person.role, found.entry);
			const id = idOf(section, entry);
			const { one } = SECTION_WORDS[section];
			const name = typeof entry.name === "string" ? entry.name : id;
			return view(
				{ title: `${one.slice(0, 1).toUpperCase()}${one.slice(1)} ${name}` },
				<>
					<Changed how={query.changed} />
					<Facts
						facts={fieldsOf(section).map(({ name: field, label }) => [label, <Shown name={field} value={entry[field]} entry={entry} />])}
					/>
					<Further section={section} id={id} entry={entry} isManager={isManager} isAdmin={isAdmin} />
					{section === "brands" ? await showBlocked(deps, id, isManager) : null}
					{isManager ? <Changes section={section} id={id} found={found} /> : null}
					{section === "platforms" && isAdmin ? <PostbackSecret id={id} etag={found.etag} isFresh={isFresh(session, now)} /> : null}
				</>,
			);
		},
	}),
);

function Changed({ how }: { how: string | undefined }): JSX.Element | null {
	if (how === undefined) return null;
	return how === "late" ? (
		<Notice tone="waiting" title="It is changed." isState={false}>
			Bids could not be told at once: they follow within a minute.
		</Notice>
	) : (
		<Notice tone="good" title="It is as follows now.">
			The next bid knows of it.
		</Notice>
	);
}

function Shown({ name, value, entry }: { name: string; value: unknown; entry: FileEntry }): JSX.Element | null {
	if (value === null || value === undefined) return <None />;
	if (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0) return <None />;
	if (name === "revenue_share") return <Share of={Number(value)} />;
	if (typeof value === "number" && COUNT_FIELDS.has(name)) return <Count of={value} />;
	if (name === "blocked_brands" && Array.isArray(value)) return <Blocked brands={value} />;
	if (name === "status") return <State word={String(value)} />;
	if (name === "active") return <ActiveState active={value} />;
	if (USD_FIELDS.has(name)) return <Money usd={String(value)} />;
	if (name === "brand") return <a href={networkPath("brands", String(value))}>{String(value)}</a>;
	if (name === "platform") return <a href={networkPath("platforms", String(entry.platform))}>{String(value)}</a>;
	return <Value of={value} />;
}

/** As the network file has them: a brand everywhere, or in a country. */
function Blocked({ brands }: { brands: readonly { domain?: string; country?: string | null }[] }): JSX.Element {
	return (
		<ul class="plain">
			{brands.map(({ domain = "", country }) => (
				<li>
					<a href={networkPath("brands", domain)}>{domain}</a>
					{country == null ? "" : ` in ${country}`}
				</li>
			))}
		</ul>
	);
}

/** What belongs to an entry, on other pages. */
function Further(props: { section: EntrySection; id: string; entry: FileEntry; isManager: boolean; isAdmin: boolean }): JSX.Element {
	const { section, id, entry, isManager, isAdmin } = props;
	const links = [...LINKS[section](id), { href: auditOf(section, id), label: "Who changed it" }];
	if (section === "brands" && isManager) links.push({ href: addressOf(newPath("campaigns"), { brand: id }), label: "New campaign" });
	if (section === "publishers" && isAdmin) links.push({ href: `${networkPath("publishers", id)}/people`, label: "People" });
	return (
		<>
			<h2>Further</h2>
			<div class="buttons">
				{section === "publishers" ? <Do action="/console/view-as" label="Look at its console" fields={{ publisher: id }} /> : null}
				{links.map(({ href, label }) => (
					<a class="button quiet" href={href}>
						{label}
					</a>
				))}
			</div>
			{section === "brands" ? (
				<Table
					caption="Campaigns"
					columns={CAMPAIGN_COLUMNS}
					rows={entry.campaigns as FileEntry[]}
					empty={
						<Empty title="It has no campaign">
							<p>
								Without one it never bids
								{isManager ? (
									<>
										: <a href={addressOf(newPath("campaigns"), { brand: id })}>add a campaign</a>
									</>
								) : null}
								.
							</p>
						</Empty>
					}
				/>
			) : null}
		</>
	);
}

type Link = { href: string; label: string };

const LINKS: Readonly<Record<EntrySection, (id: string) => Link[]>> = {
	publishers: (publisher) => [
		{ href: addressOf("/console/operator/keys", { owner: publisher }), label: "Keys" },
		{ href: addressOf("/console/operator/traffic", { publisher, group: "publisher,source" }), label: "Traffic by source" },
		{ href: clicksAddress({ publisher }), label: "Clicks" },
		{ href: addressOf("/console/operator/conversions", { publisher }), label: "Conversions" },
		{ href: addressOf("/console/operator/claims", { publisher }), label: "Claims" },
		{ href: addressOf("/console/operator/callbacks", { publisher }), label: "Callbacks" },
	],
	brands: (brand) => [
		{ href: addressOf(networkPath("campaigns"), { brand }), label: "Its campaigns" },
		{ href: clicksAddress({ brand }), label: "Clicks" },
	],
	campaigns: (campaign) => [
		{ href: pricesPath(campaign), label: "Learned prices" },
		{ href: "/console/operator/explain", label: "Why a request gets it or not" },
		{ href: clicksAddress({ campaign }), label: "Clicks" },
	],
	platforms: (platform) => [
		{ href: addressOf("/console/operator/postback-problems", { platform }), label: "Postback address and problems" },
		{ href: addressOf("/console/operator/keys", { owner: platform, kind: "platform_key" }), label: "Keys" },
		{ href: addressOf(networkPath("campaigns"), { platform }), label: "Its campaigns" },
		{ href: clicksAddress({ platform }), label: "Clicks" },
	],
};

function auditOf(section: EntrySection, id: string): string {
	return addressOf("/console/operator/audit", { subject_kind: SECTION_WORDS[section].one, subject: id });
}

function Changes({ section, id, found }: { section: EntrySection; id: string; found: FoundEntry }): JSX.Element {
	const path = networkPath(section, id);
	const toggle = toggleOf(section, found.entry);
	return (
		<>
			<h2>Change</h2>
			<p>What changes is shown first.</p>
			{toggle === null ? null : (
				<Do action={path} label={`${toggle.label}…`} fields={{ ...stateFields(found), fields: JSON.stringify(toggle.fields) }} />
			)}
			{section === "publishers" ? <BlockBrand path={path} found={found} /> : null}
			<details>
				<summary>Change its fields…</summary>
				<EntryForm section={section} action={path} found={found} />
			</details>
		</>
	);
}

/** What stops an entry, or lets it go on. */
function toggleOf(section: EntrySection, { active, status }: FileEntry): { label: string; fields: Record<string, unknown> } | null {
	if (section === "publishers") {
		return status === "suspended"
			? { label: "Activate", fields: { status: "active" } }
			: { label: "Suspend", fields: { status: "suspended" } };
	}
	if (section === "platforms") return null;
	return active === true ? { label: "Pause", fields: { active: false } } : { label: "Resume", fields: { active: true } };
}
