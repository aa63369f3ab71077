import { MAX_PARAMETER_LENGTH } from "../click-token/click-url.ts";
import { normaliseClickId } from "../lib/click-id.ts";
import { canonicalCountry } from "../lib/country.ts";
import { isPlaceholder } from "../lib/placeholder.ts";
import { decodeText, type Query } from "../lib/query.ts";
import { utf8 } from "../lib/utf8.ts";
import { CLICK_TEXTS, type ClickMessage, type ClickText } from "./message.ts";

/**
 * A parameter of a click URL, or null where it is absent, blank, an unfilled placeholder, or longer than any that we put there:
 * cut, it would be another value.
 */
export function readParameter(query: Query, name: string): string | null {
	const raw = query.raw(name);
	if (raw === null || raw === "" || isPlaceholder(raw)) return null;
	const text = decodeText(raw);
	return text.length > MAX_PARAMETER_LENGTH || text.trim() === "" ? null : text;
}

/** Longest value that is recorded, click ids apart. Whoever has a link can call it with any others, and what is recorded is kept. */
const MAX_TEXT_LENGTH = 255;
/** Most bytes of them together in a click's row, as UTF-8, and of the keyword that the bid's token brings. */
const MAX_TEXTS_BYTES = 2_048;

/**
 * The publisher's own values; undefined where there are none. One that is too long counts as absent, and so does one that those before it
 * in the list leave no room for.
 * @param keyword what the click's row has beside them; null for none
 */
export function readTexts(query: Query, names: readonly ClickText[] = CLICK_TEXTS, keyword: string | null = null): ClickMessage["texts"] {
	let texts: ClickMessage["texts"];
	let bytesLeft = MAX_TEXTS_BYTES - (keyword === null ? 0 : bytesOf(keyword));
	for (const name of names) {
		const text = readParameter(query, name);
		if (text === null) continue;
		const kept = name === "clickid" ? normaliseClickId(text) : readText(text);
		if (kept === null) continue;
		// The row has what becomes its source_id twice.
		const copies = name === "subi" || (name === "psorc" && texts?.subi === undefined) ? 2 : 1;
		const bytes = copies * bytesOf(kept);
		if (bytes > bytesLeft) continue;
		bytesLeft -= bytes;
		texts ??= {};
		texts[name] = kept;
	}
	return texts;
}

/** Country of the link as two capitals; null where `cc` is not one. */
export function readCountry(query: Query): string | null {
	const text = readParameter(query, "cc")?.trim().toUpperCase() ?? "";
	return /^[A-Z]{2}$/.test(text) ? canonicalCountry(text) : null;
}

/** Bytes of a text as UTF-8; nearly every text is ASCII, and need not be encoded for it. */
function bytesOf(text: string): number {
	return BEYOND_ASCII.test(text) ? utf8(text).byteLength : text.length;
}

const BEYOND_ASCII = /[^ -~]/;

/** Databases and reports end text at a NUL or break lines at the others. Null where that leaves nothing. */
function readText(text: string): string | null {
	if (text.length > MAX_TEXT_LENGTH) return null;
	if (!CONTROLS.test(text)) return text;
	const clean = text.replaceAll(EVERY_CONTROL, "");
	return clean.trim() === "" ? null : clean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must go
const CONTROLS = /[\u0000-\u001f\u007f]/;
/** What recorded texts are without, click ids apart. */
export const EVERY_CONTROL = new RegExp(CONTROLS, "g");
