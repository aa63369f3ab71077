const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** URL-safe base64 without padding. */
export function toBase64Url(bytes: Uint8Array): string {
	return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Bytes of URL-safe base64 without padding, or null where the text is not exactly what {@link toBase64Url} writes. */
export function fromBase64Url(text: string): Uint8Array | null {
	if (!/^[A-Za-z0-9_-]*$/.test(text) || hasSpareBits(text)) return null;
	try {
		return Uint8Array.fromBase64(text, { alphabet: "base64url" });
	} catch (error) {
		if (error instanceof SyntaxError) return null;
		throw error;
	}
}

/** The last character may have bits that no byte holds: only one spelling of the same bytes counts. */
function hasSpareBits(text: string): boolean {
	const last = BASE64URL.indexOf(text.charAt(text.length - 1));
	const rest = text.length % 4;
	return (rest === 2 && (last & 15) !== 0) || (rest === 3 && (last & 3) !== 0);
}
