/** Takes what is a user's out of texts and messages: pure. Amounts, times, and the ids of transactions and of our own clicks stay. */
import { CLICK_TEXTS, type ClickText } from "../../clicks/message.ts";
import type { ConversionEvent, EventDetails } from "../../conversions/conversion.ts";
import { asClickHash } from "../../conversions/match-click.ts";
import { OTHER_NAMES, plainName } from "../../conversions/other-names.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import type { ErasedClick, OwnIds } from "./own-ids.ts";

/** The clicks that are erased, and what came of them. */
export type Erased = {
	uid: string | null;
	/** The archive may have more of the user's clicks than the database: they are added as they are found. */
	ids: Set<string>;
	hashes: Set<string>;
	own: OwnIds;
	/** callbacks.id of their conversions. */
	callbacks: ReadonlySet<string>;
};

/** Parameters of a postback that are about money. */
const OF_MONEY: ReadonlySet<string> = new Set(["txnid", "edate", "payout", "sales", "currency", "status"]);
/** What they may have come as, where a postback was refused for it. */
const OF_MONEY_ELSEWHERE: ReadonlySet<string> = new Set(["txnid", "edate", "payout"].flatMap((name) => OTHER_NAMES[name] ?? []));

/**
 * The query of a postback, with the click's hash in the place of any other id of it.
 * @param isErased of a postback that was not accepted, which may be replayed by other names of its parameters: whether a value names one of
 * the clicks that are erased; null of one that was
 */
export function redactQuery(query: string, hash: string, isErased: ((value: string) => boolean) | null): string {
	const isKept = (name: string, value: string) =>
		OF_MONEY.has(name) || (isErased !== null && OF_MONEY_ELSEWHERE.has(plainName(name)) && !isErased(value));
	const kept = [...new URLSearchParams(query)].filter(([name, value]) => isKept(name, value));
	return new URLSearchParams([...kept, ["cid", hash]]).toString();
}

/** Whether a value is an id of one of these clicks, or has one in it. */
export function namesErased(value: string, { uid, ids, hashes, own }: Pick<Erased, "uid" | "ids" | "hashes" | "own">): boolean {
	const text = value.trim();
	const parts = [...text.toLowerCase().matchAll(/(?=([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))/g)];
	return text === uid || own.replace(null, text) !== null || parts.some(([, part = ""]) => hashes.has(part) || ids.has(part));
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

/** A message, or several: as JSON, with nothing left of these clicks, and how many had something. Null where none had. */
export function redactMessages(body: unknown, erased: Erased): { text: string; count: number } | null {
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

function redactPostback({ intake, postback }: Json, erased: Erased): number {
	const cid = isObject(intake) ? findCid(intake, erased) : null;
	if (!isObject(intake) || cid === null) return 0;
	intake.cid = cid;
	if (typeof intake.query === "string")
		intake.query = redactQuery(intake.query, cid, isRefused(intake) ? (value) => namesErased(value, erased) : null);
	if (isObject(postback)) {
		for (const field of OF_POSTBACKS) postback[field] = null;
		postback.cid = cid;
	}
	return 1;
}

function isRefused({ outcome }: Json): boolean {
	return typeof outcome === "string" && outcome !== "accepted";
}

/** What a postback is to have as its click id; null where it is not of these clicks. */
function findCid({ platform, txnid, cid }: Json, { hashes, own }: Erased): string | null {
	if (typeof cid !== "string") return null;
	const hash = asClickHash(cid);
	if (hash !== null && hashes.has(hash)) return hash;
	const [of, sale] = [platform, txnid].map((text) => (typeof text === "string" ? text : null));
	return own.isOfOthers(of ?? null, sale ?? null) ? null : own.replace(of ?? null, cid);
}

/** Whether a postback that names this click id may be of these clicks. */
export function mayBeOf(cid: unknown, { hashes, own }: Erased): boolean {
	return typeof cid === "string" && (hashes.has(cid.toLowerCase()) || own.replace(null, cid) !== null);
}

/** A row of the archive without what is a user's, and the click that it is of, where it is one's; null where it is not of these clicks. */
export function redactArchived(
	line: string,
	erased: Erased,
	columns: readonly string[],
): { line: string; click: ErasedClick | null } | null {
	const row = parseJson(line);
	if (!isObject(row)) return null;
	const click = isRowOf(row, erased) ? toClick(row) : null;
	const cid = findCid(row, erased);
	const isAnswer = erased.callbacks.has(String(row.callback_id));
	if (click === null && cid === null && !isAnswer) return null;
	for (const column of columns) if (row[column] !== undefined) row[column] = null;
	if (isAnswer) row.answer = "";
	if (cid !== null) row.cid = cid;
	if (typeof row.query === "string")
		row.query = redactQuery(row.query, cid ?? "", isRefused(row) ? (value) => namesErased(value, erased) : null);
	return { line: JSON.stringify(row), click };
}

function isRowOf(row: Json, { uid, ids, hashes }: Erased): boolean {
	return (uid !== null && row.uid === uid) || ids.has(String(row.id)) || hashes.has(String(row.click_hash));
}

function toClick({ id, click_hash, publisher_id, publisher_click_id, clicked_at }: Json): ErasedClick {
	return {
		id: String(id),
		clickHash: String(click_hash),
		publisherId: typeof publisher_id === "string" ? publisher_id : null,
		publisherClickId: typeof publisher_click_id === "string" ? publisher_click_id : null,
		clickedAt: Number(clicked_at),
	};
}
