/** Signatures of callbacks: a GET has no body, so what is signed is its request target, path and query as they are sent. */
import { readWebhookSecret, signWebhook } from "../lib/sign-webhook.ts";

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
 * @param secrets `whsec_…`, each makes a signature
 */
export async function signCallback({ id, at, url }: Signed, secrets: readonly string[]): Promise<Record<string, string>> {
	if (secrets.length === 0) return {};
	const { pathname, search } = new URL(url);
	return signWebhook(secrets.map(keyOf), id, at, `${pathname}${search}`);
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
	const key = readWebhookSecret(secret);
	if (key === null) throw new Error("a callback secret that was issued here cannot be read");
	return key;
}
