/** A publisher's claims: a sale that is missing or wrong, looked up first. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Claimed } from "../../claims/claim-answers.ts";
import { claimRequestSchema, MAX_CLAIM_TEXT, ownClaimsQuerySchema, wordsSchema } from "../../claims/claim-requests.ts";
import { listOwnClaims, lookUp, openClaim, replyToClaim, withdrawClaim } from "../../claims/own-claims.ts";
import { givenOf, readInput, readQuery } from "../../http/read-input.ts";
import { CLAIM_KINDS, CLAIM_STATES } from "../../lib/enums.ts";
import { isConflict } from "../../lib/http.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { CLAIM_KIND_WORDS, ClaimShown, claimColumns, Known, Unsent } from "../claim-parts.tsx";
import { formFaults } from "../form-faults.ts";
import { type PublisherRequest, page, type Shown, seeOther, view } from "../page.ts";
import { Confirm } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { found, mayChange } from "./own-publisher.ts";

const PATH = "/console/claims";
const LABELS = {
	kind: "What is wrong",
	id: "Click, transaction or order id",
	brand: "Brand",
	at: "Sold on",
	amount: "Expected, USD",
	text: "What happened",
};
const REPLY_LABELS = { text: "More to it" };
const NAMES = Object.keys(LABELS) as (keyof typeof LABELS)[];
type Typed = Partial<Record<keyof typeof LABELS, string>>;

const OUTCOME_WORDS: Readonly<Record<Claimed["outcome"], { tone: "good" | "plain" | "waiting"; title: string; text: string }>> = {
	opened: { tone: "good", title: "Your claim is open.", text: "You see the answer here." },
	under_way: { tone: "plain", title: "There is a claim of this already.", text: "Write to it what is new." },
	known: {
		tone: "plain",
		title: "This sale is known.",
		text: "How it stands is below. If that is wrong, or another sale of its click is missing, say that the sale is wrong.",
	},
	no_sale: { tone: "waiting", title: "No sale of this id was reported.", text: "If it should have been, say that a sale is missing." },
	no_click: {
		tone: "waiting",
		title: "No click or sale of this id is known.",
		text: "No claim was opened. Look for another id of it: yours of the click, or the one in the link that was opened.",
	},
};

export const CLAIMS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Claims",
		async handle({ deps, publisher, person, query: { id, ...query } }) {
			const { data, next_cursor } = await listOwnClaims(deps, publisher.id, readQuery(ownClaimsQuerySchema, query));
			return (
				<>
					{mayChange({ person, publisher }) ? <ClaimForm typed={id === undefined ? {} : { id }} /> : null}
					<h2>Your claims</h2>
					<Filters
						path={PATH}
						query={query}
						filters={[{ kind: "choice", name: "state", label: "State", choices: CLAIM_STATES.map((value) => ({ value, label: value })) }]}
					/>
					<Table
						caption="Claims, the latest first"
						columns={claimColumns(PATH)}
						rows={data}
						empty={
							<Empty title="No claim was found">
								{mayChange({ person, publisher }) ? <p>Say above which sale is missing or wrong.</p> : null}
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: PATH,
		needs: { publisher: "owner" },
		title: "Claims",
		async handle({ deps, publisher, form, actor }) {
			const typed = Object.fromEntries(NAMES.map((name) => [name, (form.get(name) ?? "").trim()])) as Typed;
			try {
				const claimed = await openClaim(deps, publisher.id, actor, readInput(claimRequestSchema, givenOf(typed as Record<string, string>)));
				const { tone, title, text } = OUTCOME_WORDS[claimed.outcome];
				return view(
					{ mayReturn: true },
					<>
						<Notice tone={tone} title={title} isState={false}>
							{text} {claimed.claim === null ? null : <a href={`${PATH}/${claimed.claim.id}`}>To the claim</a>}
						</Notice>
						<Known {...claimed} />
						{claimed.claim === null ? <ClaimForm typed={typed} /> : null}
					</>,
				);
			} catch (error) {
				return view({ status: 422 }, <ClaimForm typed={typed} faults={formFaults(error)} />);
			}
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/:id`,
		needs: { publisher: "analyst" },
		title: "Claim",
		handle: (request) => showClaim(request, {}),
	}),
	page({
		method: "POST",
		path: `${PATH}/:id/reply`,
		needs: { publisher: "owner" },
		title: "Claim",
		async handle(request) {
			const { deps, publisher, form, actor, param } = request;
			const text = form.get("text") ?? "";
			try {
				const { id } = await replyToClaim(deps, publisher.id, actor, param("id"), readInput(wordsSchema, { text }).text);
				return seeOther(`${PATH}/${id}`);
			} catch (error) {
				const isOther = isConflict(error);
				const faults = isOther ? [{ path: "", message: String(error.body.message) }] : formFaults(error);
				return showClaim(request, { text, faults, status: isOther ? error.status : 422 });
			}
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/:id/withdraw`,
		needs: { publisher: "owner" },
		title: "Claim",
		async handle({ deps, publisher, actor, param }) {
			const { id } = await withdrawClaim(deps, publisher.id, actor, param("id"));
			return seeOther(`${PATH}/${id}`);
		},
	}),
];

/** @param typed what was to be added, and why it was refused */
async function showClaim(
	{ deps, publisher, person, param }: PublisherRequest,
	{ text, faults = [], status = 200 }: { text?: string; faults?: readonly Fault[]; status?: number },
): Promise<Shown> {
	const { data } = await listOwnClaims(deps, publisher.id, readInput(ownClaimsQuerySchema, { id: param("id") }));
	const claim = found(data[0] ?? null);
	const path = `${PATH}/${segmentOf(claim.id)}`;
	const mayWrite = mayChange({ person, publisher }) && (claim.state === "open" || claim.state === "answered");
	return view(
		{ status },
		<>
			<Faults title="Nothing was added" faults={faults} labels={REPLY_LABELS} />
			<ClaimShown claim={claim} network="the network" />
			{!mayWrite && text !== undefined ? <Unsent text={text} /> : null}
			{mayWrite ? (
				<>
					<form method="post" action={`${path}/reply`} class="stack">
						<Field kind="long" name="text" label={REPLY_LABELS.text} value={text} maxLength={MAX_CLAIM_TEXT} faults={faults} required />
						<div class="buttons">
							<button type="submit">Send</button>
						</div>
					</form>
					<Confirm action={`${path}/withdraw`} label="Withdraw" question="The claim ends, and is answered no more." danger />
				</>
			) : null}
			<h2>What is known of it now</h2>
			<Known {...(await lookUp(deps, publisher.id, claim.about))} />
		</>,
	);
}

function ClaimForm({ typed, faults = [] }: { typed: Typed; faults?: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={PATH} class="stack">
			<Faults title="No claim was opened" faults={faults} labels={LABELS} />
			<Field
				kind="choice"
				name="kind"
				label={LABELS.kind}
				choices={CLAIM_KINDS.map((value) => ({ value, label: CLAIM_KIND_WORDS[value] }))}
				value={typed.kind}
				faults={faults}
				required
			/>
			<Field name="id" label={LABELS.id} value={typed.id} hint="It is looked up first" maxLength={1024} faults={faults} required />
			<Field name="brand" label={LABELS.brand} value={typed.brand} hint="Its domain" faults={faults} />
			<Field kind="date" name="at" label={LABELS.at} value={typed.at} faults={faults} />
			<Field name="amount" label={LABELS.amount} value={typed.amount} hint="Such as 12.50" faults={faults} />
			<Field kind="long" name="text" label={LABELS.text} value={typed.text} maxLength={MAX_CLAIM_TEXT} rows={4} faults={faults} required />
			<div class="buttons">
				<button type="submit">Look it up, and claim</button>
			</div>
		</form>
	);
}
