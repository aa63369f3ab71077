import { md5 } from "@noble/hashes/legacy.js";

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * The click hash: the MD5 of an auction's id, so that one auction is one click however often its URL is called; of a fresh UUID
 * for a tracking link. 32 hex characters, lower case. It names a click and protects nothing.
 */
export function clickHashOf(id: string): string {
	const bytes = new Uint8Array(id.length);
	for (let at = 0; at < id.length; at++) bytes[at] = id.charCodeAt(at);
	let text = "";
	for (const byte of md5(bytes)) text += DIGITS[byte];
	return text;
}
