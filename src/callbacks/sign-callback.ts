/**
 * Signatures of callbacks, by Standard Webhooks: HMAC-SHA-256 with the decoded secret over `{id}.{timestamp}.{request target}`. A GET has no
 * body; what it says is its request target, path and query as they are sent.
 */

import { SECOND_MS } from "../lib/time.ts";
import { utf8 } from "../lib/utf8.ts";

/** Before the base64 of a secret's bytes. */
const SECRET_PREFIX = "whsec_";

export type Signed = {
	/** The callback's. */
	id: string;
	/** When it is sent, Unix milliseconds. */
	at: number;
	/** The address that is called. */
	url: string;
};

/**
 * The headers of a signed call; none where there is no secret.
 * @param secrets `whsec_…`, each makes a signature: one of them is the one that the receiver knows
 */
export async function signCallback({ id, at, url }: Signed, secrets: readonly string[]): Promise<Record<string, string>> {
	if (secrets.length === 0) return {};
	const timestamp = String(Math.floor(at / SECOND_MS));
	const { pathname, search } = new URL(url);
	const content = utf8(`${id}.${timestamp}.${pathname}${search}`);
	const signatures = await Promise.all(secrets.map((secret) => sign(secret, content)));
	return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function sign(secret: string, content: Uint8Array): Promise<string> {
	const bytes = Uint8Array.fromBase64(secret.slice(SECRET_PREFIX.length));
	const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
	return `v1,${new Uint8Array(await crypto.subtle.sign("HMAC", key, content)).toBase64()}`;
}
