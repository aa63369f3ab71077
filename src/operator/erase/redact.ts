/** Takes what is a user's out of texts and messages: pure. Amounts, times, and the ids of transactions and of our own clicks stay. */
import { CLICK_TEXTS, type ClickText } from "../../clicks/message.ts";
import { isOfMoney, redactAccepted, redactRefused } from "../../conversions/after-erasure.ts";
import type { ConversionEvent, EventDetails } from "../../conversions/conversion.ts";
import { asClickHash } from "../../conversions/match-click.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { decodeText } from "../../lib/query.ts";
import type { ErasedClick, OwnIds } from "./own-ids.ts";

/** The clicks that are erased, and what came of them. */
export type Erased = {
	/** In every form that it may have come in; none where it is one click that is erased. */
	uids: ReadonlySet<string>;
	/** The archive and messages may have more of the user's clicks than the database: they are added as they are found. */
	ids: Set<string>;
	hashes: Set<string>;
	own: OwnIds;
	/** callbacks.id of their conversions. */
	callbacks: ReadonlySet<string>;
};

/** Ids of clicks that are erased, in what came otherwise than it should. */
export type ErasedIds = Pick<Erased, "ids" | "hashes" | "own"> & { uids?: ReadonlySet<string> };

/** A postback that was not accepted: what it has of the clicks that are erased may stand under any name. */
export type Refused = { platform: string | null; txnid: string | null; receivedAt: number; query: string };

/**
 * The query of a postback, with the click's hash in the place of any other id of it.
 * @param hash what the postback has as its click id
 * @param refused of a postback that was not accepted, which may be replayed by other names of its parameters: whose ids are erased; null of
 * one that was
 */
export function redactQuery(
	query: string,
	hash: string,
	refused: (Pick<Refused, "platform" | "receivedAt"> & { erased: ErasedIds }) | null,
): string {
	if (refused === null) return redactAccepted(query, hash);
	const { erased } = refused;
	return redactRefused(query, hash, {
		has: (value) => namesErased(value, erased),
		instead: (value) => replaceId(value, refused, erased),
	});
}

/** What stands in the place of an id of one of these clicks; null for anything else. */
function replaceId(
	value: string,
	{ platform, receivedAt }: Pick<Refused, "platform" | "receivedAt">,
	{ hashes, own }: ErasedIds,
): string | null {
	const text = value.trim();
	const hash = asClickHash(text);
	return hash !== null && hashes.has(hash) ? hash : own.replace(platform, text, receivedAt);
}

/** Whether a value is an id of one of these clicks, or has one in it. */
function namesErased(value: string, { uids, ids, hashes, own }: ErasedIds): boolean {
	const text = value.trim();
	if (uids?.has(text) === true || own.has(text)) return true;
	const parts = text.toLowerCase().matchAll(/(?=([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))/g);
	return [...parts].some(([, part = ""]) => hashes.has(part) || ids.has(part));
}

/**
 * Whether a postback that was not accepted names one of these clicks anywhere: its hash or id, or, in a parameter that is not about money,
 * the publisher's own id. Escaped twice, too.
 */
export function namesInQuery({ platform, txnid, receivedAt, query }: Refused, erased: ErasedIds): boolean {
	const { own } = erased;
	const noOwn: ErasedIds = { ...erased, uids: new Set(), own: { ...own, has: () => false } };
	const isOfOthers = own.isOfOthers(platform, txnid);
	return [...new URLSearchParams(query)].some(([name, value]) => {
		return [value, decodeText(value)].some(
			(text) => namesErased(text, noOwn) || (!isOfMoney(name) && !isOfOthers && own.replace(platform, text.trim(), receivedAt) !== null),
		);
	});
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

const OF_CLICKS = ["ipPrefix", "userAgentHash", "connection", "network", "keyword", "askedFrom"] as const;
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

/**
 * A message, or several: as JSON, with nothing left of these clicks, and how many had something. Null where none had. Clicks that are on
 * their way are added to those that are erased: sales may have come before them.
 */
export function redactMessages(body: unknown, erased: Erased): { text: string; count: number } | null {
	const count = redactIn(body, erased);
	return count === 0 ? null : { text: JSON.stringify(body), count };
}

function redactIn(value: unknown, erased: Erased): number {
	if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + redactIn(item, erased), 0);
	if (!isObject(value)) return 0;
	// What KV keeps as dead letters, and postbacks that share a message.
	const within = redactIn(value.body, erased) + redactIn(value.items, erased);
	if (isClickOf(value, erased)) {
		erased.ids.add(String(value.id));
		erased.hashes.add(String(value.hash));
		return within + redactClick(value);
	}
	return within + redactPostback(value, erased);
}

function isClickOf({ id, hash, texts }: Json, { uids, ids, hashes }: Erased): boolean {
	if (typeof hash !== "string" || typeof id !== "string") return false;
	return ids.has(id) || hashes.has(hash) || (isObject(texts) && typeof texts.uid === "string" && uids.has(texts.uid));
}

/** 0 where nothing of the user was in it, and it says so. */
function redactClick(click: Json): 0 | 1 {
	const before = JSON.stringify(click);
	for (const field of OF_CLICKS) delete click[field];
	if (isObject(click.texts)) for (const name of TEXTS) delete click.texts[name];
	click.erased = true;
	return JSON.stringify(click) === before ? 0 : 1;
}

function redactPostback({ intake, postback }: Json, erased: Erased): number {
	if (!isObject(intake)) return 0;
	const cid = findCid(intake, erased);
	const query = redactQueryOf(intake, cid, erased);
	if (cid === null && query === null) return 0;
	const before = JSON.stringify([intake, postback]);
	if (query !== null) intake.query = query;
	if (cid === null) return 1;
	intake.cid = cid;
	if (isObject(postback)) {
		for (const field of OF_POSTBACKS) postback[field] = null;
		postback.cid = cid;
	}
	return JSON.stringify([intake, postback]) === before ? 0 : 1;
}

/** The query of a postback without what is of these clicks; null where nothing is, or it has none. @param cid as {@link findCid} has it */
function redactQueryOf(row: Json, cid: string | null, erased: Erased): string | null {
	const { platform, txnid, cid: given, query, outcome } = row;
	if (typeof query !== "string") return null;
	const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);
	const of = { platform: textOrNull(platform), txnid: textOrNull(txnid), receivedAt: receivedAtOf(row), query };
	const isRefused = typeof outcome === "string" && outcome !== "accepted";
	if (cid === null && (!isRefused || !namesInQuery(of, erased))) return null;
	const redacted = redactQuery(query, cid ?? textOrNull(given) ?? "", isRefused ? { ...of, erased } : null);
	return redacted === query ? null : redacted;
}

/** What a postback is to have as its click id; null where it is not of these clicks. */
function findCid(row: Json, { hashes, own }: Erased): string | null {
	const { platform, txnid, cid } = row;
	if (typeof cid !== "string") return null;
	const hash = asClickHash(cid);
	if (hash !== null && hashes.has(hash)) return hash;
	const [of, sale] = [platform, txnid].map((text) => (typeof text === "string" ? text : null));
	return own.isOfOthers(of ?? null, sale ?? null) ? null : own.replace(of ?? null, cid, receivedAtOf(row));
}

/** As messages or rows of the archive have it; where neither does, after all clicks. */
function receivedAtOf({ receivedAt, received_at }: Json): number {
	const at = receivedAt ?? received_at;
	return typeof at === "number" ? at : Number.POSITIVE_INFINITY;
}

/** Whether a postback that names this click id may be of these clicks. */
export function mayBeOf(cid: unknown, { hashes, own }: Erased): boolean {
	return typeof cid === "string" && (hashes.has(cid.toLowerCase()) || own.has(cid));
}

/** A row of the archive without what is a user's, and the click that it is of, where it is one's; null where it is not of these clicks. */
export function redactArchived(
	line: string,
	erased: Erased,
	columns: readonly string[],
): { line: string; click: ErasedClick | null; had: boolean } | null {
	const row = parseJson(line);
	if (!isObject(row)) return null;
	const before = JSON.stringify(row);
	const click = isRowOf(row, erased) ? toClick(row) : null;
	const cid = findCid(row, erased);
	const isAnswer = erased.callbacks.has(String(row.callback_id));
	const query = redactQueryOf(row, cid, erased);
	if (click === null && cid === null && !isAnswer && query === null) return null;
	for (const column of columns) if (row[column] !== undefined) row[column] = null;
	if (isAnswer) row.answer = "";
	if (cid !== null) row.cid = cid;
	if (query !== null) row.query = query;
	const redacted = JSON.stringify(row);
	return { line: redacted, click, had: redacted !== before };
}

function isRowOf(row: Json, { uids, ids, hashes }: Erased): boolean {
	return (typeof row.uid === "string" && uids.has(row.uid)) || ids.has(String(row.id)) || hashes.has(String(row.click_hash));
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
