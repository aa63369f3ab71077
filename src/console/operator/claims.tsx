/** Publishers' claims: each with what is known of it, answered, granted or declined. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { AdjustmentDeps } from "../../adjustments/deps.ts";
import type { OperatorClaim } from "../../claims/claim-answers.ts";
import { claimsQuerySchema, grantSchema, MAX_CLAIM_TEXT, wordsSchema } from "../../claims/claim-requests.ts";
import { lookUp } from "../../claims/own-claims.ts";
import { answerClaim, declineClaim, grantClaim, listClaims, listOthersOfSale } from "../../claims/settle-claims.ts";
import { traceConversion } from "../../conversions/trace.ts";
import { mayAct } from "../../http/actor.ts";
import { readInput, readQuery } from "../../http/read-input.ts";
import { CLAIM_STATES } from "../../lib/enums.ts";
import { HttpError, isConflict } from "../../lib/http.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { ClaimShown, claimColumns, Known, Unsent } from "../claim-parts.tsx";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty, Faults } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { networkPath } from "./network-lists.tsx";
import { Postbacks } from "./postbacks.tsx";

const PATH = "/console/operator/claims";
const MEANS = [
	{ value: "amount", label: "an amount, on a day" },
	{ value: "attach_conversion", label: "its click, given to an unmatched conversion" },
	{ value: "restore_conversion", label: "a voided conversion, restored" },
	{ value: "release_conversion", label: "a held conversion, released" },
];
/** What the fields of its forms are called. */
const LABELS = {
	answer: { text: "Answer" },
	grant: {
		text: "Words to the publisher",
		kind: "By",
		date: "Day",
		amount: "Amount, USD",
		platform: "Platform",
		txnid: "Transaction id",
		click: "Click",
		up_to: "Worth at most, USD",
	},
};
const FIELDS = {
	amount: ["date", "amount"],
	attach_conversion: ["platform", "txnid", "click"],
	restore_conversion: ["platform", "txnid"],
	release_conversion: ["platform", "txnid", "up_to"],
};
/** Of those that may be left blank. */
const OPTIONAL = ["up_to"];

export const OPERATOR_CLAIMS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Claims",
		async handle({ deps, query }) {
			const { data, next_cursor } = await listClaims(deps, readQuery(claimsQuerySchema, query));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "choice", name: "state", label: "State", choices: CLAIM_STATES.map((value) => ({ value, label: value })) },
							{ kind: "text", name: "publisher", label: "Publisher" },
							{ kind: "date", name: "from", label: "Made from" },
							{ kind: "date", name: "to", label: "Until" },
						]}
					/>
					<Table
						caption="Claims, the latest first"
						columns={[
							...claimColumns<OperatorClaim>(PATH),
							{ head: "Publisher", cell: ({ publisher }) => <PublisherLink id={publisher} /> },
						]}
						rows={data}
						empty={
							<Empty title="No claim was found">
								<p>Publishers open them, in their console or by their Access Key, where a sale is missing or wrong.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/:id`,
		needs: { staff: "viewer" },
		title: "Claim",
		handle: (request) => showClaim(request, {}),
	}),
	...(["answer", "decline"] as const).map((verb) =>
		page({
			method: "POST",
			path: `${PATH}/:id/${verb}`,
			needs: { staff: "finance" },
			title: "Claim",
			handle: (request: PersonRequest) =>
				settle(request, "answer", (deps, seen) => {
					const { text } = readInput(wordsSchema, { text: request.form.get("text") ?? "" });
					return (verb === "answer" ? answerClaim : declineClaim)(deps, request.param("id"), text, { seen });
				}),
		}),
	),
	page({
		method: "POST",
		path: `${PATH}/:id/grant`,
		needs: { staff: "finance" },
		title: "Claim",
		handle: (request) =>
			settle(request, "grant", (deps, seen) => {
				const { form, param } = request;
				const kind = form.get("kind") ?? "";
				const names = Object.hasOwn(FIELDS, kind) ? FIELDS[kind as keyof typeof FIELDS] : [];
				const given = names.map((name) => [name, (form.get(name) ?? "").trim()] as const);
				const by = { kind, ...Object.fromEntries(given.filter(([name, value]) => value !== "" || !OPTIONAL.includes(name))) };
				return grantClaim(deps, param("id"), readInput(grantSchema, { text: form.get("text") ?? "", by }), { seen });
			}),
	}),
];

/** Writes to a claim, if it has the texts that the page had; where that is refused, the page has what was typed. */
async function settle(
	request: PersonRequest,
	of: FormName,
	run: (deps: AdjustmentDeps, seen: number | undefined) => Promise<{ id: string }>,
): Promise<Shown> {
	const { deps, form, actor } = request;
	const seen = form.get("seen");
	try {
		const { id } = await run({ ...deps.adjusting, actor }, seen === null ? undefined : Number(seen));
		return seeOther(`${PATH}/${id}`);
	} catch (error) {
		const isOther = isConflict(error);
		const faults = isOther ? [{ path: "", message: String(error.body.message) }] : formFaults(error);
		return showClaim(request, { status: isOther ? error.status : 422, sent: { of, typed: Object.fromEntries(form), faults } });
	}
}

type FormName = keyof typeof LABELS;
/** What a form was sent with, and why it was refused. */
type Sent = { of: FormName; typed: Readonly<Record<string, string>>; faults: readonly Fault[] };

async function showClaim({ deps, param, person }: PersonRequest, { status = 200, sent }: { status?: number; sent?: Sent }): Promise<Shown> {
	const { data } = await listClaims(deps, readInput(claimsQuerySchema, { id: param("id") }));
	const claim = data[0];
	if (claim === undefined) throw new HttpError(404, { error: "Not found" });
	const isUnderWay = claim.state === "open" || claim.state === "answered";
	const known = await lookUp(deps, claim.publisher, claim.about);
	return view(
		{ status },
		<>
			{sent === undefined ? null : <Faults title="Nothing was written" faults={namedFaults(sent)} labels={LABELS[sent.of]} of={sent.of} />}
			<Facts
				facts={[
					["Publisher", <PublisherLink id={claim.publisher} />],
					["All of its id", <a href={addressOf("/console/operator/find", { id: claim.about })}>clicks, conversions, postbacks</a>],
					["Granted by", claim.adjustment === null ? null : <a href="/console/operator/adjustments">{claim.adjustment}</a>],
				]}
			/>
			<ClaimShown claim={claim} network="us" />
			<h2>What is known of it</h2>
			<Known {...known} />
			<Table
				caption="Other claims of it, whichever of its ids they name"
				columns={[...claimColumns<OperatorClaim>(PATH), { head: "Granted by", cell: ({ adjustment }) => adjustment }]}
				rows={await listOthersOfSale(deps, claim, known)}
				empty={<p>None within 90 days.</p>}
			/>
			<Postbacks caption="What platforms sent of it" rows={(await traceConversion(deps.db, claim.about)).postbacks} />
			{!isUnderWay && sent?.typed.text ? <Unsent text={sent.typed.text} /> : null}
			{isUnderWay && mayAct(person.role, "finance") ? <Forms claim={claim} sent={sent} /> : null}
		</>,
	);
}

/** The verb's faults by the names of the form's fields. */
function namedFaults({ faults }: Sent): Fault[] {
	return faults.map(({ path, message }) => ({ path: path.replace(/^by\.?/, "") || (path === "by" ? "kind" : ""), message }));
}

function PublisherLink({ id }: { id: string }): JSX.Element {
	return <a href={networkPath("publishers", id)}>{id}</a>;
}

function Forms({ claim: { id, thread }, sent }: { claim: OperatorClaim; sent: Sent | undefined }): JSX.Element {
	const path = `${PATH}/${segmentOf(id)}`;
	const seen = <input type="hidden" name="seen" value={String(thread.length)} />;
	const shared = <Of extends FormName>(of: Of, name: keyof (typeof LABELS)[Of] & string) => {
		const { typed = {}, faults = [] } = sent?.of === of ? { typed: sent.typed, faults: namedFaults(sent) } : {};
		return { of, name, label: String(LABELS[of][name]), value: typed[name], faults };
	};
	return (
		<>
			<h2>Answer</h2>
			<form method="post" action={`${path}/answer`} class="stack">
				{seen}
				<Field {...shared("answer", "text")} kind="long" hint="The publisher reads it" maxLength={MAX_CLAIM_TEXT} rows={4} required />
				<div class="buttons">
					<button type="submit">Answer</button>
					<button type="submit" class="danger" formaction={`${path}/decline`}>
						Decline
					</button>
				</div>
			</form>
			<h2>Grant</h2>
			<form method="post" action={`${path}/grant`} class="stack">
				{seen}
				<Field {...shared("grant", "text")} kind="long" hint="The publisher reads it" maxLength={MAX_CLAIM_TEXT} rows={3} required />
				<Field {...shared("grant", "kind")} kind="choice" choices={MEANS} required />
				<Field {...shared("grant", "date")} kind="date" hint="Of an amount" />
				<Field {...shared("grant", "amount")} hint="Such as 12.50" />
				<Field {...shared("grant", "platform")} hint="Of a conversion" />
				<Field {...shared("grant", "txnid")} hint="Of a conversion" />
				<Field {...shared("grant", "up_to")} hint="Of a held conversion: what you saw; it is not released if it is worth more by now" />
				<Field {...shared("grant", "click")} hint="That an unmatched conversion is given: an id of it" />
				<div class="buttons">
					<button type="submit">Grant</button>
				</div>
			</form>
		</>
	);
}
