/** Postbacks of clicks whose users were erased settle as ever; what they tell of the user is not kept again. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { ERASED } from "../db/schema/clicks.ts";
import type { Conversion, ConversionEvent, EventDetails } from "./conversion.ts";
import type { Intake } from "./message.ts";
import { OTHER_NAMES, plainName } from "./other-names.ts";
import type { Outcome } from "./write-settlements.ts";

/** Parameters of a postback that are about money. */
export const OF_MONEY: ReadonlySet<string> = new Set(["txnid", "edate", "payout", "sales", "currency", "status"]);

const OF_USERS = ["publisherClickId", "s2", "s3", "surl"] as const;

/** What they may have come as, where a postback was refused for it. */
export const OF_MONEY_ELSEWHERE: ReadonlySet<string> = new Set(["txnid", "edate", "payout"].flatMap((name) => OTHER_NAMES[name] ?? []));

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
	const redact = intake.outcome === "accepted" ? redactAccepted : redactRefused;
	return { ...intake, cid: hash, query: redact(intake.query, hash) };
}

/** One that was refused may be replayed by other names of what is about money. */
function redactRefused(query: string, hash: string): string {
	const params = [...new URLSearchParams(query)].filter(([name]) => OF_MONEY.has(name) || OF_MONEY_ELSEWHERE.has(plainName(name)));
	return new URLSearchParams([...params, ["cid", hash]]).toString();
}

/** Of these hashes those of clicks whose users were erased. */
export async function readErasedHashes(db: Database, hashes: readonly string[]): Promise<ReadonlySet<string>> {
	if (hashes.length === 0) return new Set();
	const named = sql`click_hash IN (SELECT atom FROM json_each(${JSON.stringify(hashes)})) AND written_by = ${ERASED}`;
	// Each by its own index.
	const rows = await db.all<{
		hash: string;
	}>(sql`SELECT click_hash AS hash FROM clicks WHERE ${named} AND (reason IS NULL OR reason = 'voided')
		UNION SELECT click_hash FROM clicks WHERE ${named} AND reason <> 'voided'`);
	return new Set(rows.map(({ hash }) => hash));
}
