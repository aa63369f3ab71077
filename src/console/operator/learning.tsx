/** How prices are learned, and what they would change: accepted singly or all, looked at first. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { readInput } from "../../http/read-input.ts";
import { HttpError } from "../../lib/http.ts";
import { acceptAdvice } from "../../operator/learning/accept-advice.ts";
import type { Advice, AdviceItem, LearningState } from "../../operator/learning/learning-answers.ts";
import { acceptSchema, adviceQuerySchema } from "../../operator/learning/learning-requests.ts";
import { showAdvice } from "../../operator/learning/read-advice.ts";
import { showLearningState } from "../../operator/learning/show-state.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import { formFaults } from "../form-faults.ts";
import { page, seeOther, view } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Pager } from "../ui/filters.tsx";
import { Empty, Faults, Look, Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Count, Money, State, Time } from "../ui/values.tsx";
import { Difference, NEEDS_A_YES } from "./difference.tsx";
import { evidenceColumns, LEARNING_PATH, pricesPath } from "./learned-parts.tsx";

const ACCEPT_PATH = `${LEARNING_PATH}/accept`;
/** Campaigns of a page. */
const LIMIT = "50";

export const LEARNING_PAGES = [
	page({
		method: "GET",
		path: LEARNING_PATH,
		needs: { staff: "viewer" },
		title: "Learned prices",
		async handle({ deps, query, now, session }) {
			const { cursor, campaign } = query;
			const asked = { limit: LIMIT, ...(cursor && { cursor }), ...(campaign && { campaign }) };
			const [state, advice] = await Promise.all([
				showLearningState(deps.db, now),
				showAdvice(deps.db, readInput(adviceQuerySchema, asked), now),
			]);
			return (
				<>
					{query.accepted === undefined ? null : <Accepted by={query.accepted} />}
					<Standing state={state} />
					<AdviceTable advice={advice} mayAccept={mayAct(session.person.role, "manager")} isOfOne={Boolean(campaign)} />
					<Pager path={LEARNING_PATH} query={query} next={advice.next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: ACCEPT_PATH,
		needs: { staff: "manager" },
		title: "Accept advice",
		async handle({ deps, form, actor }) {
			const isDone = form.get("step") === "do";
			const campaigns = form.get("campaigns") ?? "";
			const options = { isDryRun: true, isConfirmed: false, isComplete: false, ifMatch: versionIn(form), actor };
			try {
				const request = readInput(acceptSchema, { campaigns: campaigns === "all" ? campaigns : campaigns.split(",").map(Number) });
				if (isDone) {
					const report = await acceptAdvice(deps.imports, request, {
						...options,
						isDryRun: false,
						isConfirmed: form.get("yes") === "true",
					});
					return seeOther(`${LEARNING_PATH}?${new URLSearchParams({ accepted: report.id ?? "" })}`);
				}
				const report = await acceptAdvice(deps.imports, request, options);
				return view({ mayReturn: true }, <Looked report={report} campaigns={campaigns} version={form.get("version") ?? ""} />);
			} catch (error) {
				const isOther = error instanceof HttpError && error.status === 412;
				return view({ status: isOther ? 412 : 422 }, <Refused faults={isOther ? CHANGED : formFaults(error)} />);
			}
		},
	}),
];

const CHANGED: readonly Fault[] = [{ path: "", message: "The network has changed since: look at the advice again" }];

/** The network's version that was read, which the form names. */
function versionIn(form: URLSearchParams): number | null {
	const version = form.get("version") ?? "";
	return /^\d{1,15}$/.test(version) ? Number(version) : null;
}

/** @param by the import that it was made by; empty where nothing of the network had to change */
function Accepted({ by }: { by: string }): JSX.Element {
	return (
		<Notice tone="good" title="It is accepted.">
			The numbers are the operator's now.
			{/^[\w-]{1,64}$/.test(by) ? (
				<>
					{" "}
					The network's changes can be undone: <a href={`/console/operator/imports/${by}`}>their import</a>.
				</>
			) : null}
		</Notice>
	);
}

function Refused({ faults }: { faults: readonly Fault[] }): JSX.Element {
	return (
		<>
			<Faults title="Nothing was accepted" faults={faults} />
			<p>
				<a href={LEARNING_PATH}>Back to what is advised</a>
			</p>
		</>
	);
}

function Looked({ report, campaigns, version }: { report: ImportReport; campaigns: string; version: string }): JSX.Element {
	return (
		<Look title="What changes">
			<Difference report={report} />
			{report.difference.changed === 0 ? null : (
				<form method="post" action={ACCEPT_PATH} class="stack">
					{Object.entries({ campaigns, version, step: "do" }).map(([name, value]) => (
						<input type="hidden" name={name} value={value} />
					))}
					{report.needs_confirmation ? <Field kind="check" name="yes" label={`Yes, although it ${NEEDS_A_YES}`} required /> : null}
					<div class="buttons">
						<button type="submit">Accept</button>
					</div>
				</form>
			)}
		</Look>
	);
}

function Standing({ state }: { state: LearningState }): JSX.Element {
	const { mode, night, publishing, campaigns, platforms, breaks } = state;
	return (
		<>
			{night.fault === null ? null : (
				<Notice tone="bad" title={`The night of ${night.fault.day} failed`}>
					Prices stay as they are. It failed of: {night.fault.message}
				</Notice>
			)}
			{publishing.fault === null ? null : (
				<Notice tone="bad" title="The last hour failed">
					Prices and guards stay as they are since <Time at={publishing.at} />. It failed of: {publishing.fault.message}
				</Notice>
			)}
			<Facts
				facts={[
					["Mode of the network", <State word={mode} tone="plain" />],
					["Campaigns", `${campaigns.automatic} automatic, ${campaigns.advise} advised, ${campaigns.off} off`],
					["With clicks that tell", <Count of={campaigns.learned} />],
					["Last night", <Time at={night.finished_at} />],
					["Learned of clicks before", <Time at={night.learned_until} date />],
					["Put in force", <Time at={publishing.at} />],
				]}
			/>
			{breaks.length === 0 ? null : (
				<Table
					caption="Campaigns whose worth has changed at once"
					columns={[
						{ head: "Campaign", cell: ({ campaign_id }) => <a href={pricesPath(campaign_id)}>{campaign_id}</a> },
						{ head: "By", cell: ({ day }) => <Time at={day} date /> },
						{ head: "Conversions", kind: "number", cell: ({ earned_conversions }) => earned_conversions },
						{ head: "Expected", kind: "number", cell: ({ expected_conversions }) => expected_conversions },
					]}
					rows={breaks}
					empty={null}
				/>
			)}
			<Table
				caption="When conversions come, by platform"
				columns={[
					{ head: "Platform", cell: ({ platform }) => platform },
					{ head: "Conversions", kind: "number", cell: ({ conversions }) => <Count of={conversions} /> },
					...[1, 7, 30].map((days) => ({
						head: `By day ${days}`,
						kind: "number" as const,
						cell: ({ arrivals }: LearningState["platforms"][number]) => percent(arrivals, days),
					})),
					{ head: "Taken back", kind: "number", cell: ({ reversals }) => percent(reversals, 90) },
					{ head: "Curve", cell: ({ stated, conversions }) => (stated ? "stated" : conversions === 0 ? "assumed" : "learned") },
				]}
				rows={platforms}
				empty={null}
			/>
		</>
	);
}

function percent(curve: LearningState["platforms"][number]["arrivals"], days: number): string {
	return `${Math.round((curve.find((point) => point.days === days)?.part ?? 0) * 100)}%`;
}

/** @param props.isOfOne whether one campaign's advice was asked for: all of it is more than is shown then */
function AdviceTable(props: { advice: Advice; mayAccept: boolean; isOfOne: boolean }): JSX.Element {
	const { mayAccept, isOfOne } = props;
	const { data, version } = props.advice;
	const fields = { version: String(version) };
	return (
		<>
			<h2>What is advised</h2>
			<Table
				caption="Numbers that are off, the costliest first"
				columns={[
					{ head: "Campaign", cell: ({ campaign_id }) => <a href={pricesPath(campaign_id)}>{campaign_id}</a> },
					{ head: "Brand", cell: ({ brand }) => brand },
					{ head: "Changes", cell: ({ numbers }) => <Numbers numbers={numbers} /> },
					{ head: "Worth a week", kind: "money", cell: ({ worth_a_week }) => <Money usd={worth_a_week} /> },
					...evidenceColumns(({ evidence }: AdviceItem) => evidence),
					...(mayAccept
						? [
								{
									head: "Accept",
									cell: ({ campaign_id }: AdviceItem) => (
										<Do
											action={ACCEPT_PATH}
											label="Accept…"
											of={`campaign ${campaign_id}`}
											fields={{ ...fields, campaigns: String(campaign_id) }}
										/>
									),
								},
							]
						: []),
				]}
				rows={data}
				empty={
					<Empty title="Nothing is advised">
						<p>Campaigns in the mode advise have prices as learned, or too little is known of them.</p>
					</Empty>
				}
			/>
			{mayAccept && !isOfOne && data.length > 0 ? (
				<Do action={ACCEPT_PATH} label="Accept all…" fields={{ ...fields, campaigns: "all" }} />
			) : null}
		</>
	);
}

function Numbers({ numbers }: Pick<AdviceItem, "numbers">): JSX.Element {
	return (
		<ul>
			{numbers.slice(0, MAX_NUMBERS).map(({ field, operator, learned, factor }) => (
				<li>
					{field}: <Money usd={operator} /> → <Money usd={learned} /> (× {factor})
				</li>
			))}
			{numbers.length > MAX_NUMBERS ? <li>and {numbers.length - MAX_NUMBERS} further ones</li> : null}
		</ul>
	);
}

const MAX_NUMBERS = 5;
