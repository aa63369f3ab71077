/** Takes what is a user's out of texts and messages: pure. Amounts, times, and the ids of transactions and of our own clicks stay. */
import { CLICK_TEXTS, type ClickText } from "../../clicks/message.ts";
import type { ConversionEvent, EventDetails } from "../../conversions/conversion.ts";
import { isObject, parseJson } from "../../lib/json.ts";

/** The clicks that are erased. */
export type Erased = { uid: string | null; ids: ReadonlySet<string>; hashes: ReadonlySet<string> };

/** Parameters of a postback that are about money. */
const OF_MONEY: ReadonlySet<string> = new Set(["txnid", "edate", "payout", "sales", "currency", "status"]);

/** The query of a postback, with the click's hash in the place of any other id of it. */
export function redactQuery(query: string, hash: string): string {
	const kept = [...new URLSearchParams(query)].filter(([name]) => OF_MONEY.has(name));
	return new URLSearchParams([...kept, ["cid", hash]]).toString();
}

/** What an event of a conversion has set. */
export function redactEvent({ details }: Pick<ConversionEvent, "details">, hash: string): string {
	const event = JSON.parse(details) as EventDetails;
	const { set } = event;
	for (const field of ["publisherClickId", "s2", "s3", "surl"] as const) if (set[field] !== undefined) set[field] = null;
	if (set.cid !== undefined) set.cid = hash;
	return JSON.stringify(event);
}

/** The texts of a claim: whoever wrote them may have named the user. */
export function redactThread(thread: string): string {
	return JSON.stringify((JSON.parse(thread) as { text: string }[]).map((entry) => ({ ...entry, text: "" })));
}

type Json = Record<string, unknown>;

const OF_CLICKS = ["ipPrefix", "userAgentHash", "connection", "keyword", "askedFrom"] as const;
/** A publisher's sources, which its sums are kept by. Every other text may be a user's. */
const SOURCES: readonly ClickText[] = ["subi", "psorc", "pcat", "atag"];
const TEXTS = CLICK_TEXTS.filter((name) => !SOURCES.includes(name));

/** Columns of a click's row that may be a user's. The statement that erases them in the database names them itself. */
export const CLICK_COLUMNS_OF_USERS: readonly string[] = [
	...TEXTS.map((name) => (name === "clickid" ? "publisher_click_id" : name)),
	"ip_prefix",
	"user_agent_hash",
	"keyword",
	"asked_from",
];
const OF_POSTBACKS = ["s2", "s3", "surl"] as const;

/** A message, or several, as JSON: with nothing left of these clicks, and how many had something. Null where none had. */
export function redactMessages(text: string, erased: Erased): { text: string; count: number } | null {
	const body = parseJson(text);
	const count = redactIn(body, erased);
	return count === 0 ? null : { text: JSON.stringify(body), count };
}

function redactIn(value: unknown, erased: Erased): number {
	if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + redactIn(item, erased), 0);
	if (!isObject(value)) return 0;
	// What KV keeps as dead letters, and postbacks that share a message.
	const within = redactIn(value.body, erased) + redactIn(value.items, erased);
	if (isClickOf(value, erased)) return within + redactClick(value);
	return within + redactPostback(value, erased);
}

function isClickOf({ id, hash, texts }: Json, { uid, ids, hashes }: Erased): boolean {
	if (typeof hash !== "string" || typeof id !== "string") return false;
	return ids.has(id) || hashes.has(hash) || (uid !== null && isObject(texts) && texts.uid === uid);
}

function redactClick(click: Json): 1 {
	for (const field of OF_CLICKS) delete click[field];
	if (isObject(click.texts)) for (const name of TEXTS) delete click.texts[name];
	return 1;
}

function redactPostback({ intake, postback }: Json, { hashes }: Erased): number {
	if (!isObject(intake) || typeof intake.cid !== "string" || !hashes.has(intake.cid.toLowerCase())) return 0;
	if (typeof intake.query === "string") intake.query = redactQuery(intake.query, intake.cid);
	if (isObject(postback)) for (const field of OF_POSTBACKS) postback[field] = null;
	return 1;
}

/** A row of the archive; null where it is not of these clicks. */
export function redactArchived(line: string, { uid, ids, hashes }: Erased, columns: readonly string[]): string | null {
	const row = parseJson(line);
	if (!isObject(row)) return null;
	const isOf = (uid !== null && row.uid === uid) || ids.has(String(row.id)) || hashes.has(String(row.click_hash));
	const hash = String(row.cid).toLowerCase();
	if (!isOf && !hashes.has(hash)) return null;
	for (const column of columns) if (row[column] !== undefined) row[column] = null;
	if (typeof row.query === "string") row.query = redactQuery(row.query, hash);
	return JSON.stringify(row);
}
