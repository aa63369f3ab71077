/** For Workers that do the least that a bid can cost: what is encrypted in place of a click token, in as few steps as it takes. */
import { content, KEY_LENGTH, NONCE_LENGTH, seal } from "../../src/click-token/chacha20-poly1305.ts";

const KEY = new Uint8Array(KEY_LENGTH);
const NONCE = new Uint8Array(NONCE_LENGTH);

/** @param asker the address that asks for the bid */
export function sealAsToken(domain: string, asker: string | null): string {
	const text = JSON.stringify([
		0,
		"acme_rtb",
		1,
		domain,
		5001,
		336_000,
		0,
		"8f1c6e0e-51d7-4b3a-9a56-000000000012",
		1_795_300_000_000,
		0,
		1,
		null,
		asker,
	]);
	for (let at = 0; at < text.length; at++) content[at] = text.charCodeAt(at);
	return seal(KEY, NONCE, text.length).toBase64({ alphabet: "base64url", omitPadding: true });
}
