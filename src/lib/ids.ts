import { toBase64Url } from "./bytes.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}
