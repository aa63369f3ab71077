/** For Workers that do the least that a bid can cost: what is encrypted in place of a click token, in as few steps as it takes. */
import { ChaCha20Poly1305 } from "@stablelib/chacha20poly1305";

const TAG_LENGTH = 16;
const KEY = new ChaCha20Poly1305(new Uint8Array(32));
const NONCE = new Uint8Array(12);
const content = new Uint8Array(512);
const sealed = new Uint8Array(512 + TAG_LENGTH);

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
	const into = sealed.subarray(0, text.length + TAG_LENGTH);
	KEY.seal(NONCE, content.subarray(0, text.length), undefined, into);
	return into.toBase64({ alphabet: "base64url", omitPadding: true });
}
