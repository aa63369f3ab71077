/** What platforms send that needs a person: by platform and cause, with the fix to send to that platform, and a replay after it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { givenOf, readInput } from "../../http/read-input.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import { MAX_ROWS } from "../../lib/page-cursor.ts";
import { issuePostbackUrl, postbackUrlSchema, showPostbackUrl } from "../../operator/postback-problems/give-postback-url.ts";
import { POSTBACK_FIELDS } from "../../operator/postback-problems/network-macros.ts";
import type { PostbackUrlAnswer, Problem, ReplayedPostbacks } from "../../operator/postback-problems/problems-answers.ts";
import { readProblems } from "../../operator/postback-problems/read-problems.ts";
import { replayPostbacks } from "../../operator/postback-problems/replay.ts";
import { RECEIVED_AT, readProblemsQuery, replaySchema, toReplayRequest } from "../../operator/postback-problems/replay-request.ts";
import { formFaults } from "../form-faults.ts";
import { page, view } from "../page.ts";
import { Confirm, CopyText } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters } from "../ui/filters.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { type Column, Facts, Figures, Table } from "../ui/table.tsx";
import { Code, Count, inWords, Money, Time } from "../ui/values.tsx";
import { givenIn, isPreview } from "./preview.tsx";

const PATH = "/console/operator/postback-problems";
const REPLAY_PATH = `${PATH}/replay`;
const URL_PATH = `${PATH}/url`;

const COLUMNS: readonly Column<Problem>[] = [
	{
		head: "Platform",
		namesRow: true,
		cell: ({ platform }) => (platform === null ? "unknown key" : <a href={addressOf(PATH, { platform })}>{platform}</a>),
	},
	{ head: "Cause", cell: ({ cause }) => inWords(cause) },
	{ head: "Field", cell: ({ field }) => field },
	{ head: "Sent", cell: ({ sent }) => <Code>{sent}</Code> },
	{ head: "How many", kind: "number", cell: ({ count }) => <Count of={count} /> },
	{
		head: "What mends it",
		kind: "prose",
		cell: ({ fix }) => (
			<>
				{fix.text}
				{fix.source === null ? null : ` (${fix.source})`}
			</>
		),
	},
	{ head: "Since", cell: ({ since }) => <Time at={since} /> },
	{ head: "Last", cell: ({ newest_at }) => <Time at={newest_at} /> },
	{
		head: "Examples",
		cell: ({ examples }) => (
			<details>
				<summary>Examples</summary>
				<ul>
					{examples.map(({ at, txnid, query }) => (
						<li>
							<Time at={at} /> {txnid === null ? null : <a href={addressOf("/console/operator/find", { id: txnid })}>{txnid}</a>}{" "}
							<Code>{query}</Code>
						</li>
					))}
				</ul>
			</details>
		),
	},
];

export const POSTBACK_PROBLEMS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Problems with postbacks",
		async handle({ deps, query, now, person }) {
			const { data, complete } = await readProblems(deps.mending, readProblemsQuery({ limit: String(MAX_ROWS), ...givenOf(query) }, now));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "platform", label: "Platform" },
							{ kind: "date", name: "from", label: "Since" },
						]}
					/>
					{complete ? null : <Notice title="There is more">than was looked at: the counts are the least there are.</Notice>}
					<Table
						caption="Problems, the most frequent first"
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="Nothing that came in needs a person">
								<p>Or nothing of the last 30 days: ask for an earlier time.</p>
							</Empty>
						}
					/>
					{query.platform ? <OfPlatform platform={query.platform} url={await urlOf(deps, query.platform)} role={person.role} /> : null}
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: REPLAY_PATH,
		needs: { staff: "finance" },
		title: "Postbacks sent through again",
		async handle({ deps, form, actor, now }) {
			const platform = (form.get("platform") ?? "").trim();
			const mapping = givenIn(
				form,
				POSTBACK_FIELDS.map((field) => `map_${field}`),
			);
			const rest = givenIn(form, ["from", "until", "cursor"]);
			const fields = { platform, ...mapping, ...rest };
			const mapped = Object.fromEntries(Object.entries(mapping).map(([name, from]) => [name.slice("map_".length), from]));
			try {
				const request = toReplayRequest(readInput(replaySchema, { platform, mapping: mapped, ...rest }), now);
				const isDryRun = isPreview(form);
				const replayed = await replayPostbacks(deps.mending, actor, request, isDryRun);
				return view({ mayReturn: true }, <Replayed replayed={replayed} fields={fields} />);
			} catch (error) {
				const faults = formFaults(error).map(({ path, message }) => ({ path: path.replace(/^mapping\./, "map_"), message }));
				return view({ status: 422, title: "Problems with postbacks", over: platform }, <ReplayForm fields={fields} faults={faults} />);
			}
		},
	}),
	page({
		method: "POST",
		path: URL_PATH,
		needs: { staff: "admin", fresh: true },
		once: true,
		title: "Postback address",
		async handle({ deps, form, actor }) {
			const wanted = readInput(postbackUrlSchema, givenIn(form, ["platform", "network"]));
			const url = await issuePostbackUrl({ ...deps, db: deps.db }, actor, wanted);
			return (
				<>
					<Notice tone="good" title="A key was issued.">
						It stands in the address, which is shown here and never again. Other keys of the platform stay valid.
					</Notice>
					<PostbackUrl url={url} />
				</>
			);
		},
	}),
];

type Deps = Parameters<typeof showPostbackUrl>[0];

/** Null where nobody has this id. */
async function urlOf(deps: Deps, platform: string): Promise<PostbackUrlAnswer | null> {
	try {
		return await showPostbackUrl(deps, { platform });
	} catch (error) {
		formFaults(error);
		return null;
	}
}

function OfPlatform({ platform, url, role }: { platform: string; url: PostbackUrlAnswer | null; role: PersonRole }): JSX.Element {
	if (url === null) return <Notice tone="bad">No platform has this id.</Notice>;
	return (
		<>
			<h2>The address to give to {platform}</h2>
			<PostbackUrl url={url} />
			{mayAct(role, "admin") ? (
				<Confirm
					action={URL_PATH}
					label="Issue a key for it"
					question="A further key is made, and the address shown once with it. The keys that there are stay valid."
					fields={{ platform }}
					once
				/>
			) : null}
			{mayAct(role, "finance") ? (
				<>
					<h2>Send through again, once it is mended</h2>
					<ReplayForm fields={{ platform }} />
				</>
			) : null}
		</>
	);
}

function PostbackUrl({ url: { url, network, source, read, note, unknown } }: { url: PostbackUrlAnswer }): JSX.Element {
	return (
		<>
			<CopyText text={url} label="the postback address" block />
			<Facts
				facts={[
					["Macros of", network],
					["Documented at", source],
					["Compared there", network === null ? null : read ? "yes" : "no: general usage, to be compared"],
					["Note", note],
					["Not known", unknown.length === 0 ? null : `${unknown.join(", ")}: words in capitals stand in their places`],
				]}
			/>
		</>
	);
}

function ReplayForm({ fields, faults = [] }: { fields: Readonly<Record<string, string>>; faults?: readonly Fault[] }): JSX.Element {
	const labels: Readonly<Record<string, string>> = {
		...Object.fromEntries(POSTBACK_FIELDS.map((field) => [`map_${field}`, `${field} stands in`])),
		from: "Received from",
		until: "Received before",
	};
	return (
		<form method="post" action={REPLAY_PATH} class="stack">
			<Faults title="Nothing was sent through" faults={faults} labels={labels} />
			<input type="hidden" name="platform" value={fields.platform ?? ""} />
			<details open={Object.keys(fields).some((name) => name.startsWith("map_"))}>
				<summary>Read fields from other parameters</summary>
				{POSTBACK_FIELDS.map((field) => (
					<Field
						name={`map_${field}`}
						label={labels[`map_${field}`] ?? field}
						value={fields[`map_${field}`]}
						faults={faults}
						{...(field === "edate" && { hint: `${RECEIVED_AT}: when the postback came` })}
					/>
				))}
			</details>
			<Field name="from" label={labels.from ?? ""} value={fields.from} hint="UTC; the last 30 days where nothing is said" faults={faults} />
			<Field name="until" label={labels.until ?? ""} value={fields.until} hint="UTC; a date is included" faults={faults} />
			<div class="buttons">
				<button type="submit">See what it comes to</button>
			</div>
		</form>
	);
}

function Replayed({ replayed, fields }: { replayed: ReplayedPostbacks; fields: Readonly<Record<string, string>> }): JSX.Element {
	const { looked_at, accepted, still_refused, conversions, publisher_revenue, gross_revenue, next_cursor, dry_run } = replayed;
	const again = { ...fields, ...(next_cursor !== null && { cursor: next_cursor }) };
	return (
		<>
			<Notice tone={dry_run ? "plain" : "good"} isState={false}>
				{dry_run ? "Nothing was sent through yet: this is what it comes to." : "They were sent through."}
				{next_cursor === null ? null : " There is more than is looked at once."}
			</Notice>
			<Figures
				figures={[
					{ name: "Looked at", value: <Count of={looked_at} /> },
					{ name: "In order now", value: <Count of={accepted} /> },
					{ name: "Still refused", value: <Count of={still_refused} /> },
					{ name: "Conversions changed", value: <Count of={conversions} /> },
					{ name: "Publishers' revenue", value: <Money usd={publisher_revenue} /> },
					{ name: "Gross revenue", value: <Money usd={gross_revenue} /> },
				]}
			/>
			{dry_run ? <ReplayButton label="Send through" fields={{ ...fields, step: "do" }} /> : null}
			{dry_run && next_cursor !== null ? <ReplayButton label="See what the rest comes to" fields={again} /> : null}
			{!dry_run && next_cursor !== null ? <ReplayButton label="Go on with the rest" fields={{ ...again, step: "do" }} /> : null}
			<p>
				<a href={addressOf(PATH, { platform: fields.platform ?? "" })}>Back to the problems</a>
			</p>
		</>
	);
}

function ReplayButton({ label, fields }: { label: string; fields: Readonly<Record<string, string>> }): JSX.Element {
	return (
		<form method="post" action={REPLAY_PATH}>
			{Object.entries(fields).map(([name, value]) => (
				<input type="hidden" name={name} value={value} />
			))}
			<div class="buttons">
				<button type="submit">{label}</button>
			</div>
		</form>
	);
}
