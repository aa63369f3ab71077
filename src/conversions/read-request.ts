/** Takes a postback's parameters off the wire: the query, and for POST the form. */
import { readCapped } from "../lib/read-capped.ts";
import { utf8 } from "../lib/utf8.ts";
import { fromUtf8OrWindows1252 } from "../lib/windows-1252.ts";
import { type Field, splitFields } from "./read-fields.ts";

/** Most bytes of a query, and of a body. */
export const MAX_QUERY_BYTES = 16 * 1024;
export const MAX_BODY_BYTES = 16 * 1024;

/** Longest text in the ledger: encoding a form's bytes can make it many times as long as it came. */
const MAX_LEDGER_TEXT = MAX_QUERY_BYTES + MAX_BODY_BYTES;

/** `sent` is query and form as they came, joined by `&`, and null where they are too large, so that nothing of `fields` counts; `text` what the ledger keeps of it. */
export type ReceivedFields = { fields: Field[]; sent: string | null; text: string };

export async function readRequest(request: Request): Promise<ReceivedFields> {
	const query = readQuery(request.url);
	if (query.length > MAX_QUERY_BYTES) return tooLarge(query.slice(0, MAX_QUERY_BYTES), true);
	const fields = splitFields(query);
	if (request.method !== "POST") return { fields, sent: query, text: forLedger(query) };
	const bytes = await readBytes(request);
	if (bytes === null) return tooLarge(query, false);
	const form = await readForm(bytes, request.headers.get("content-type") ?? "");
	const sent = [query, form.text].filter((part) => part !== "").join("&");
	return { fields: [...fields, ...form.fields], sent, text: forLedger(sent) };
}

/** Of what is refused unread the ledger has the ids that the query says, but for a last field that may be cut off. */
function tooLarge(query: string, isCut: boolean): ReceivedFields {
	return { fields: splitFields(query).slice(0, isCut ? -1 : undefined), sent: null, text: forLedger(query) };
}

/** What follows the question mark. A `#` does not end it: it comes from a macro such as `#s2#` that was neither filled in nor escaped. */
function readQuery(url: string): string {
	const start = url.indexOf("?");
	return start === -1 ? "" : url.slice(start + 1);
}

/** A body of another type is taken for a form too: it is the only thing a platform can have meant. */
async function readForm(bytes: Uint8Array, contentType: string): Promise<{ fields: Field[]; text: string }> {
	const body = fromUtf8OrWindows1252(bytes);
	if (!/^\s*multipart\/form-data/i.test(contentType)) {
		const text = body.trim();
		return { fields: splitFields(text), text };
	}
	try {
		const form = await new Response(utf8(body), { headers: { "content-type": contentType } }).formData();
		const entries = [...form.entries()].filter((entry): entry is [string, string] => typeof entry[1] === "string");
		const fields = entries.map(([name, value]) => ({ name, raw: value, value: value.toWellFormed() }));
		return { fields, text: new URLSearchParams(entries).toString() };
	} catch (error) {
		// No multipart body, whatever its header says: what it says is missing then, and the answer names it.
		if (!(error instanceof TypeError)) throw error;
		return { fields: [], text: "" };
	}
}

/** The body, or null where it is larger than MAX_BODY_BYTES. */
async function readBytes(request: Request): Promise<Uint8Array | null> {
	return Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES ? null : readCapped(request.body, MAX_BODY_BYTES);
}

/** Control characters escaped, as they would be in a query: so a message's size stays bounded, and the database takes it as text. */
function forLedger(text: string): string {
	const written = text.toWellFormed().replaceAll(/\p{Cc}/gu, (character) => encodeURIComponent(character));
	return written.slice(0, MAX_LEDGER_TEXT).toWellFormed();
}
