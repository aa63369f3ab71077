/** Claims as both consoles show them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Claim, Claimed } from "../claims/claim-answers.ts";
import { segmentOf } from "../lib/path-segment.ts";
import { Standing } from "./standing.tsx";
import { Field } from "./ui/field.tsx";
import { type Column, Facts, Table } from "./ui/table.tsx";
import { Code, Money, State, Time } from "./ui/values.tsx";
import { CLICK_REASON_WORDS, HOLD_WORDS } from "./words.ts";

export const CLAIM_KIND_WORDS: Readonly<Record<Claim["kind"], string>> = { missing: "a sale is missing", wrong: "a sale is wrong" };

/** @param path of the list that a claim's own page is under */
export function claimColumns<Row extends Claim>(path: string): readonly Column<Row>[] {
	return [
		{ head: "Made at", cell: ({ created_at }) => <Time at={created_at} /> },
		{
			head: "About",
			namesRow: true,
			cell: ({ id, about }) => (
				<a href={`${path}/${segmentOf(id)}`}>
					<code>{about}</code>
				</a>
			),
		},
		{ head: "Says", cell: ({ kind }) => CLAIM_KIND_WORDS[kind] },
		{ head: "Brand", cell: ({ brand }) => brand },
		{ head: "Expected", kind: "money", cell: ({ amount }) => <Money usd={amount} /> },
		{ head: "State", cell: (claim) => <ClaimState claim={claim} /> },
		{ head: "Changed at", cell: ({ changed_at }) => <Time at={changed_at} /> },
	];
}

function ClaimState({ claim: { state, undone_at } }: { claim: Claim }): JSX.Element {
	if (undone_at === null) return <State word={state} />;
	return (
		<>
			<State word={state} />, taken back <Time at={undone_at} />
		</>
	);
}

/** A claim, and what was written to and fro. */
export function ClaimShown({ claim, network }: { claim: Claim; network: string }): JSX.Element {
	const { about, kind, brand, at, amount, thread } = claim;
	return (
		<>
			<Facts
				facts={[
					["State", <ClaimState claim={claim} />],
					["Says", CLAIM_KIND_WORDS[kind]],
					["About", <code>{about}</code>],
					["Brand", brand],
					["Sold at", at === null ? null : <Time at={at} />],
					["Expected", amount === null ? null : <Money usd={amount} />],
				]}
			/>
			<Table
				caption="What was written"
				columns={[
					{ head: "At", cell: (entry) => <Time at={entry.at} /> },
					{ head: "By", cell: ({ by }) => (by === "network" ? network : "the publisher") },
					{ head: "State since then", cell: (entry) => <State word={entry.state} /> },
					{ head: "Text", kind: "prose", cell: ({ text }) => text },
				]}
				rows={thread}
				empty={<p>Nothing.</p>}
			/>
		</>
	);
}

/** What someone wrote to a claim that had ended by then: there is no form for it any more, and it is theirs to keep. */
export function Unsent({ text }: { text: string }): JSX.Element {
	return <Field kind="long" name="unsent" label="What you wrote, which was not sent" value={text} rows={4} readonly />;
}

/** What is known of an id: its sales and its clicks. */
export function Known({ conversions, clicks }: Pick<Claimed, "conversions" | "clicks">): JSX.Element {
	return (
		<>
			<Table
				caption="Sales of this id"
				columns={[
					{ head: "Transaction id", cell: ({ transaction_id }) => <Code>{transaction_id}</Code> },
					{ head: "Happened at", cell: ({ at }) => <Time at={at} /> },
					{ head: "Brand", cell: ({ brand }) => brand },
					{ head: "State", cell: ({ status, held }) => <Standing status={status} held={held} /> },
					{ head: "Why", cell: ({ held }) => (held === null ? null : HOLD_WORDS[held]) },
					{ head: "Earned", kind: "money", cell: ({ revenue }) => <Money usd={revenue} /> },
				]}
				rows={conversions}
				empty={<p>No sale of this id was reported.</p>}
			/>
			<Table
				caption="Clicks of this id"
				columns={[
					{ head: "Clicked at", cell: ({ at }) => <Time at={at} /> },
					{ head: "Click", cell: ({ transaction_id }) => <Code>{transaction_id}</Code> },
					{ head: "Your click id", cell: ({ click_id }) => <Code>{click_id}</Code> },
					{ head: "Brand", cell: ({ brand }) => brand },
					{ head: "Not paid since", cell: ({ reason }) => (reason === null ? null : CLICK_REASON_WORDS[reason]) },
				]}
				rows={clicks}
				empty={<p>No click of this id is known.</p>}
			/>
		</>
	);
}
