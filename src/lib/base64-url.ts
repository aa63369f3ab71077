const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** URL-safe base64 without padding. */
export function toBase64Url(bytes: Uint8Array): string {
	return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

const URL_SAFE = { alphabet: "base64url" } as const;

/** Bytes of URL-safe base64 without padding, or null where the text is not exactly what {@link toBase64Url} writes. */
export function fromBase64Url(text: string): Uint8Array | null {
	return isExact(text) ? Uint8Array.fromBase64(text, URL_SAFE) : null;
}

/**
 * As {@link fromBase64Url}, into an array that has room for it: to make one costs as much as to decode.
 * @returns how many bytes it took
 */
export function readBase64Url(text: string, into: Uint8Array): number | null {
	return isExact(text) ? into.setFromBase64(text, URL_SAFE).written : null;
}

function isExact(text: string): boolean {
	return text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text) && !hasSpareBits(text);
}

/** The last character may have bits that no byte holds: only one spelling of the same bytes counts. */
function hasSpareBits(text: string): boolean {
	const last = BASE64URL.indexOf(text.charAt(text.length - 1));
	const rest = text.length % 4;
	return (rest === 2 && (last & 15) !== 0) || (rest === 3 && (last & 3) !== 0);
}
