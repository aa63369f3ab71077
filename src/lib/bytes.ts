const encoder = new TextEncoder();
const decoder = new TextDecoder();
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function utf8(text: string): Uint8Array {
	return encoder.encode(text);
}

export function fromUtf8(bytes: ArrayBuffer | ArrayBufferView): string {
	return decoder.decode(bytes);
}

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

export async function sha256(data: string | Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await crypto.subtle.digest("SHA-256", typeof data === "string" ? utf8(data) : data));
}

/** SHA-256 of a secret as lower-case hex: the form in which keys are stored. */
export async function sha256Hex(data: string): Promise<string> {
	return (await sha256(data)).toHex();
}

/** Compares two texts in a time that does not tell where they differ; whether they are of one length may show. */
export function equalTexts(left: string, right: string): boolean {
	if (left.length !== right.length) return false;
	let difference = 0;
	for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
	return difference === 0;
}

/** Compares two secrets in constant time, whatever their lengths. */
export async function equalSecrets(left: string, right: string): Promise<boolean> {
	const [a, b] = await Promise.all([sha256(left), sha256(right)]);
	return crypto.subtle.timingSafeEqual(a, b);
}
