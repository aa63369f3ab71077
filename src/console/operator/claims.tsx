/** Publishers' claims: each with what is known of it, answered, granted or declined. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { OperatorClaim } from "../../claims/claim-answers.ts";
import { claimsQuerySchema, grantSchema, MAX_CLAIM_TEXT, wordsSchema } from "../../claims/claim-requests.ts";
import { lookUp } from "../../claims/own-claims.ts";
import { answerClaim, declineClaim, grantClaim, listClaims, listOthersOfSale } from "../../claims/settle-claims.ts";
import { traceConversion } from "../../conversions/trace.ts";
import { mayAct } from "../../http/actor.ts";
import { givenOf } from "../../http/period.ts";
import { readInput } from "../../http/read-input.ts";
import { CLAIM_STATES } from "../../lib/enums.ts";
import { HttpError } from "../../lib/http.ts";
import { ClaimShown, claimColumns, Known } from "../claim-parts.tsx";
import { type PersonRequest, page, seeOther } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { Field } from "../ui/field.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Postbacks } from "./postbacks.tsx";

const PATH = "/console/operator/claims";
const MEANS = [
	{ value: "amount", label: "an amount, on a day" },
	{ value: "attach_conversion", label: "its click, given to an unmatched conversion" },
	{ value: "restore_conversion", label: "a voided conversion, restored" },
	{ value: "release_conversion", label: "a held conversion, released" },
];
const FIELDS = {
	amount: ["date", "amount"],
	attach_conversion: ["platform", "txnid", "click"],
	restore_conversion: ["platform", "txnid"],
	release_conversion: ["platform", "txnid"],
};

export const OPERATOR_CLAIMS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Claims",
		async handle({ deps, query }) {
			const { data, next_cursor } = await listClaims(deps, readInput(claimsQuerySchema, givenOf(query)));
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
						empty={<Empty title="No claim was found" />}
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
		async handle({ deps, param, person }) {
			const { data } = await listClaims(deps, readInput(claimsQuerySchema, { id: param("id") }));
			const claim = data[0];
			if (claim === undefined) throw new HttpError(404, { error: "Not found" });
			const isUnderWay = claim.state === "open" || claim.state === "answered";
			const known = await lookUp(deps, claim.publisher, claim.about);
			return (
				<>
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
					{isUnderWay && mayAct(person.role, "finance") ? <Forms id={claim.id} /> : null}
				</>
			);
		},
	}),
	...(["answer", "decline"] as const).map((verb) =>
		page({
			method: "POST",
			path: `${PATH}/:id/${verb}`,
			needs: { staff: "finance" },
			title: "Claim",
			async handle({ deps, form, actor, param }: PersonRequest) {
				const { text } = readInput(wordsSchema, { text: form.get("text") ?? "" });
				const settle = verb === "answer" ? answerClaim : declineClaim;
				const { id } = await settle({ ...deps.adjusting, actor }, param("id"), text);
				return seeOther(`${PATH}/${id}`);
			},
		}),
	),
	page({
		method: "POST",
		path: `${PATH}/:id/grant`,
		needs: { staff: "finance" },
		title: "Claim",
		async handle({ deps, form, actor, param }) {
			const kind = form.get("kind") ?? "";
			const names = Object.hasOwn(FIELDS, kind) ? FIELDS[kind as keyof typeof FIELDS] : [];
			const by = { kind, ...Object.fromEntries(names.map((name) => [name, (form.get(name) ?? "").trim()])) };
			const request = readInput(grantSchema, { text: form.get("text") ?? "", by });
			const { id } = await grantClaim({ ...deps.adjusting, actor }, param("id"), request);
			return seeOther(`${PATH}/${id}`);
		},
	}),
];

function PublisherLink({ id }: { id: string }): JSX.Element {
	return <a href={`/console/operator/publishers/${encodeURIComponent(id)}`}>{id}</a>;
}

function Forms({ id }: { id: string }): JSX.Element {
	const path = `${PATH}/${encodeURIComponent(id)}`;
	return (
		<>
			<h2>Answer</h2>
			<form method="post" action={`${path}/answer`} class="stack">
				<Field kind="long" name="text" label="Answer" hint="The publisher reads it" maxLength={MAX_CLAIM_TEXT} rows={4} required />
				<div class="buttons">
					<button type="submit">Answer</button>
					<button type="submit" class="danger" formaction={`${path}/decline`}>
						Decline
					</button>
				</div>
			</form>
			<h2>Grant</h2>
			<form method="post" action={`${path}/grant`} class="stack">
				<div class="field">
					<label for="grant-text">Words to the publisher</label>
					<textarea id="grant-text" name="text" rows={3} maxlength={MAX_CLAIM_TEXT} required />
				</div>
				<Field kind="choice" name="kind" label="By" choices={MEANS} required />
				<Field kind="date" name="date" label="Day" hint="Of an amount" />
				<Field name="amount" label="Amount, USD" hint="Such as 12.50" />
				<Field name="platform" label="Platform" hint="Of a conversion" />
				<Field name="txnid" label="Transaction id" hint="Of a conversion" />
				<Field name="click" label="Click" hint="That an unmatched conversion is given: an id of it" />
				<div class="buttons">
					<button type="submit">Grant</button>
				</div>
			</form>
		</>
	);
}
