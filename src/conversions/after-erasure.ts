/** Postbacks of clicks whose users were erased settle as ever; what they tell of the user is not kept again. */
import type { Conversion, ConversionEvent, EventDetails } from "./conversion.ts";
import type { Intake } from "./message.ts";
import type { Outcome } from "./write-settlements.ts";

/** Parameters of a postback that are about money. */
export const OF_MONEY: ReadonlySet<string> = new Set(["txnid", "edate", "payout", "sales", "currency", "status"]);

const OF_USERS = ["publisherClickId", "s2", "s3", "surl"] as const;

/** The query of a postback that was accepted, with the click's hash in the place of any other id of it. */
export function redactAccepted(query: string, hash: string): string {
	const params = [...new URLSearchParams(query)];
	return new URLSearchParams([...params.filter(([name]) => OF_MONEY.has(name)), ["cid", hash]]).toString();
}

/** What an event of a conversion has set. */
export function redactEvent({ details }: Pick<ConversionEvent, "details">, hash: string): string {
	const event = JSON.parse(details) as EventDetails;
	const { set } = event;
	for (const field of OF_USERS) if (set[field] !== undefined) set[field] = null;
	if (set.cid !== undefined) set.cid = hash;
	return JSON.stringify(event);
}

/** As its events, which are its history, have it since. */
export function redactOutcome(outcome: Outcome, hash: string): Outcome {
	const { settlement } = outcome;
	const events = settlement.events.map((event) => ({ ...event, details: redactEvent(event, hash) }));
	const set: Partial<Conversion> = {};
	for (const { details } of events) Object.assign(set, (JSON.parse(details) as EventDetails).set);
	const redacted = Object.fromEntries([...OF_USERS, "cid" as const].flatMap((field) => (field in set ? [[field, set[field]]] : [])));
	return { ...outcome, settlement: { ...settlement, events, conversion: { ...settlement.conversion, ...redacted } } };
}

export function redactIntake(intake: Intake, hash: string): Intake {
	return { ...intake, cid: hash, query: redactAccepted(intake.query, hash) };
}
