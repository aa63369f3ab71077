/** Callbacks as both consoles show them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PublisherCallbacks } from "../publisher-api/callbacks-answer.ts";
import { Do } from "./ui/actions.tsx";
import { type Column, Facts } from "./ui/table.tsx";
import { Code, Money, None, State, Time } from "./ui/values.tsx";
import { CALLBACK_HOLD_WORDS } from "./words.ts";

type Shown = Pick<
	PublisherCallbacks["data"][number],
	| "txnid"
	| "status"
	| "cid"
	| "payout"
	| "state"
	| "held_for"
	| "attempt_count"
	| "created_at"
	| "next_attempt_at"
	| "delivered_at"
	| "attempts"
>;

/** @param addressOfTransaction where its conversion is shown */
export function callbackColumns<Row extends Shown>(addressOfTransaction: (callback: Row) => string): readonly Column<Row>[] {
	return [
		{ head: "Created at", cell: ({ created_at }) => <Time at={created_at} /> },
		{
			head: "Transaction id",
			namesRow: true,
			cell: (callback) => (
				<a href={addressOfTransaction(callback)}>
					<code>{callback.txnid}</code>
				</a>
			),
		},
		{ head: "Says", cell: ({ status }) => <State word={status} /> },
		{ head: "Amount", kind: "money", cell: ({ payout }) => <Money usd={payout} /> },
		{ head: "State", cell: ({ state }) => <State word={state} /> },
		{
			head: "Waits for",
			cell: ({ held_for }) => (held_for === null ? null : CALLBACK_HOLD_WORDS[held_for]),
			isGiven: ({ held_for }) => held_for !== null,
		},
		{
			head: "Next try at",
			cell: ({ next_attempt_at }) => <Time at={next_attempt_at} />,
			isGiven: ({ next_attempt_at }) => next_attempt_at !== null,
		},
		{ head: "Tries and answers", cell: (callback) => <Attempts callback={callback} /> },
		{ head: "Click id", cell: ({ cid }) => <Code>{cid}</Code> },
		{ head: "Delivered at", cell: ({ delivered_at }) => <Time at={delivered_at} />, isGiven: ({ delivered_at }) => delivered_at !== null },
	];
}

function Attempts({ callback: { attempts, attempt_count } }: { callback: Shown }): JSX.Element {
	if (attempt_count === 0) return <None />;
	return (
		<details>
			<summary>
				{attempt_count === 1 ? "1 try" : `${attempt_count} tries`}
				{attempts[0] === undefined ? "" : `, the last ${attempts[0].http_status ?? "without an answer"}`}
			</summary>
			<ul class="plain">
				{attempts.map(({ at, http_status, latency_ms, answer }) => (
					<li>
						<Time at={at} />: {http_status ?? "no answer"} after {latency_ms} ms <Code>{answer}</Code>
					</li>
				))}
			</ul>
		</details>
	);
}

/** What the receiver of a test has answered. */
type Tested = { called: string; http_status: number | null; confirmed: boolean; latency_ms: number; answer: string };

/** What a test of an address came to. @param props.path of the page that led here */
export function TestReport({ report, path }: { report: Tested; path: string }): JSX.Element {
	const { called, http_status, confirmed, latency_ms, answer } = report;
	return (
		<div class="panel">
			<Facts
				facts={[
					["Result", <State word={confirmed ? "ok" : "failed"} />],
					["Called", <span class="address">{called}</span>],
					["Status", http_status === null ? "no answer" : String(http_status)],
					["Took", `${latency_ms} ms`],
					["Answer", <Code>{answer}</Code>],
				]}
			/>
			<p>
				<a href={path}>Back to callbacks</a>
			</p>
		</div>
	);
}

/** Sends one callback again. @param path where lists post to */
export function againColumn<Row extends { id: string; txnid: string }>(path: string): Column<Row> {
	return { head: "Again", cell: ({ id, txnid }) => <Do action={`${path}/replay`} label="Send again" fields={{ id }} of={txnid} /> };
}

/** A count of an address's query, written by the page that led here; null where it is none. */
export function countOf(text: string | undefined): string | null {
	return text !== undefined && /^\d{1,9}$/.test(text) ? text : null;
}
