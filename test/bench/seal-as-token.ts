/** For Workers that do the least that a bid can cost: what is encrypted in place of a click token, in as few steps as it takes. */
const ALGORITHM = { name: "AES-GCM", iv: new Uint8Array(12) };
const content = new Uint8Array(512);

let key: CryptoKey | undefined;

/** @param asker the address that asks for the bid */
export async function sealAsToken(domain: string, asker: string | null): Promise<string> {
	key ??= (await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"])) as CryptoKey;
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
	const sealed = await crypto.subtle.encrypt(ALGORITHM, key, content.subarray(0, text.length));
	const encoded = new Uint8Array(sealed).toBase64({ alphabet: "base64url", omitPadding: true });
	sealed.transfer(0);
	return encoded;
}
