/** Parts of the page of a conversion. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { HOUR_MS, isoTime } from "../../lib/time.ts";
import type { Candidates, ShownConversionAnswer } from "../../operator/conversions/conversions-answers.ts";
import type { JudgingVerb } from "../../operator/conversions/judge-by-hand.ts";
import { StaffStanding } from "../standing.tsx";
import { Confirm } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Code, inWords, Money, State, Time } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { ClickLink } from "./click-columns.tsx";
import { conversionAddress } from "./conversion-address.ts";
import { EventFields } from "./event-fields.tsx";
import { networkPath } from "./network-lists.tsx";
import { Postbacks } from "./postbacks.tsx";

export const LABELS = { text: "Why", click: "Click", brand: "Brand", from: "Clicked from", to: "Clicked until", up_to: "What was seen" };

/** A person's word that was refused, as it was typed. */
export type Refused = { verb: JudgingVerb | "attach"; text: string; faults: readonly Fault[] };

/** Where no person's word lets it count. */
const ENDED_BY: Readonly<Record<string, string>> = {
	no_rate: "An exchange rate of its currency and day: import it, and it is settled",
	publisher_suspended: "Its publisher is active again: it is settled then",
};

export function Standing({ shown: { conversion, click } }: { shown: ShownConversionAnswer }): JSX.Element {
	return (
		<Facts
			facts={[
				["State", <StaffStanding stage={conversion.stage} status={conversion.status} />],
				["Why", inWords(conversion.why)],
				["What ends that", ENDED_BY[conversion.why ?? ""]],
				["Once it counts", conversion.stage === "settled" ? null : conversion.status],
				["A person's word", conversion.verdict],
				["The network's word", conversion.network_status],
				["Test", conversion.test ? "yes" : null],
				["Happened at", <Time at={conversion.event_at} />],
				["First reported at", <Time at={conversion.first_received_at} />],
				["Changed at", <Time at={conversion.updated_at} />],
				["Payout", `${conversion.payout} ${conversion.currency}`],
				["Gross", <Money usd={conversion.gross_usd} />],
				["Publisher's", <Money usd={conversion.publisher_revenue} />],
				[
					"Publisher",
					conversion.publisher === null ? null : <a href={networkPath("publishers", conversion.publisher)}>{conversion.publisher}</a>,
				],
				["Publisher was told", conversion.credited ? "credited" : "nothing that stands"],
				["Click id as sent", <Code>{conversion.cid}</Code>],
				["Found by", inWords(conversion.attribution)],
				["Clicked at", click === null ? null : <Time at={click.clicked_at} />],
				["Click hash", click === null ? null : <ClickLink click={click} />],
				["Click", click === null ? null : click.reason === null ? "paid" : `unpaid: ${CLICK_REASON_WORDS[click.reason]}`],
				["Brand", click?.brand],
				["Source", conversion.source_id],
				["Publisher's click id", conversion.publisher_click_id === null ? null : <Code>{conversion.publisher_click_id}</Code>],
			]}
		/>
	);
}

export const WORDS: Readonly<Record<JudgingVerb | "attach", { label: string; question: string }>> = {
	release: { label: "Release", question: "It passes its review or ceiling, and counts." },
	void: { label: "Void", question: "It counts as cancelled, whatever the platform says." },
	restore: { label: "Restore", question: "It counts again as the platform says." },
	attach: { label: "Attach", question: "It gets this click, and is settled by it." },
};

export function Words({ shown: { conversion }, refused }: { shown: ShownConversionAnswer; refused: Refused | undefined }): JSX.Element {
	const verbs: JudgingVerb[] = [
		...(conversion.stage === "quarantined" && (conversion.why === "amount" || conversion.why === "review") ? (["release"] as const) : []),
		conversion.verdict === "voided" ? "restore" : "void",
	];
	return (
		<div class="buttons">
			{verbs.map((verb) => (
				<Confirm
					action={`${conversionAddress(conversion)}/${verb}`}
					label={WORDS[verb].label}
					question={`${WORDS[verb].question} See first what it comes to.`}
					send="See what it comes to"
					open={refused?.verb === verb}
				>
					<Why of={verb} refused={refused?.verb === verb ? refused : undefined} />
				</Confirm>
			))}
		</div>
	);
}

/** @param of what it is about */
function Why({ of, refused }: { of: string; refused: Refused | undefined }): JSX.Element {
	return <Field of={of} name="text" label={LABELS.text} value={refused?.text} faults={refused?.faults} required />;
}

export function Attach(props: {
	conversion: ShownConversionAnswer["conversion"];
	candidates: Candidates | undefined;
	asked: Record<string, string>;
	refused: Refused | undefined;
}): JSX.Element {
	const { conversion, candidates, asked } = props;
	const refused = props.refused?.verb === "attach" ? props.refused : undefined;
	const address = conversionAddress(conversion);
	const at = Date.parse(conversion.event_at);
	const around = { from: isoTime(at - 24 * HOUR_MS), to: isoTime(at + HOUR_MS) };
	return (
		<section>
			<h2>Attach it to a click</h2>
			<Filters
				path={address}
				query={asked}
				submit="Look for clicks"
				filters={[
					{ kind: "text", name: "click", label: LABELS.click, hint: "Its id or hash, or the publisher's click id" },
					{ kind: "text", name: "brand", label: "Or brand", hint: "With both times" },
					{ kind: "text", name: "from", label: LABELS.from, hint: `UTC, such as ${around.from}` },
					{ kind: "text", name: "to", label: LABELS.to, hint: `UTC, such as ${around.to}` },
				]}
			/>
			{candidates === undefined ? null : (
				<Table
					caption={candidates.complete ? "Clicks that may be meant" : "Clicks that may be meant; there are more: ask for a shorter time"}
					columns={[
						{ head: "Clicked at", cell: ({ clicked_at }) => <Time at={clicked_at} /> },
						{ head: "Publisher", cell: ({ publisher }) => publisher },
						{ head: "Its click id", cell: ({ publisher_click_id }) => <Code>{publisher_click_id}</Code> },
						{ head: "Brand", cell: ({ brand }) => brand },
						{ head: "Has conversions", kind: "number", cell: ({ conversions }) => conversions },
						{
							head: "Attach",
							cell: ({ id, unfit }) =>
								unfit !== null ? (
									`cannot be: ${inWords(unfit)}`
								) : (
									<Confirm
										action={`${address}/attach`}
										label="Attach"
										of={id}
										question={WORDS.attach.question}
										send="See what it comes to"
										fields={{ click: id }}
										open={refused !== undefined && candidates.data.length === 1}
									>
										<Why of={id} refused={refused} />
									</Confirm>
								),
						},
					]}
					rows={candidates.data}
					empty={<Empty title="No such click is stored" />}
				/>
			)}
		</section>
	);
}

export function History({ shown: { conversion, postbacks, adjustments } }: { shown: ShownConversionAnswer }): JSX.Element {
	return (
		<>
			<Table
				caption="What happened to it"
				columns={[
					{ head: "At", cell: ({ at }) => <Time at={at} /> },
					{ head: "What", cell: ({ kind, why }) => inWords([kind, why].filter(Boolean).join(": ")) },
					{ head: "Set", cell: ({ set }) => <EventFields set={set} /> },
				]}
				rows={conversion.events}
				empty={<p>Nothing is kept of what happened to it.</p>}
			/>
			<Postbacks caption="What the platform sent" rows={postbacks} />
			<Table
				caption="What the publisher was told"
				columns={[
					{ head: "At", cell: ({ created_at }) => <Time at={created_at} /> },
					{ head: "Publisher", cell: ({ publisher }) => publisher },
					{ head: "Told", cell: ({ status }) => status },
					{ head: "Payout", kind: "money", cell: ({ payout }) => <Money usd={payout} /> },
					{ head: "State", cell: ({ state }) => <State word={state} /> },
					{ head: "Tries", kind: "number", cell: ({ attempts }) => attempts.length },
				]}
				rows={conversion.callbacks}
				empty={<p>No callback was owed for it.</p>}
			/>
			<Table
				caption="What people did to it"
				columns={[
					{ head: "At", cell: ({ at }) => <Time at={at} /> },
					{ head: "Who", cell: ({ actor }) => actor },
					{ head: "What", cell: ({ kind }) => inWords(kind) },
					{ head: "Why", cell: ({ text }) => text },
					{ head: "State", cell: ({ undone_by }) => <State word={undone_by === null ? "done" : "undone"} /> },
				]}
				rows={adjustments}
				empty={<p>Nobody did anything to it.</p>}
			/>
		</>
	);
}
