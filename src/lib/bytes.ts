import { utf8 } from "./utf8.ts";

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
