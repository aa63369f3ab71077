/** Signs a webhook as Standard Webhooks has it (https://www.standardwebhooks.com): what is sent, by whom, and when. */
import { SECOND_MS } from "./time.ts";
import { utf8 } from "./utf8.ts";

const PREFIX = "whsec_";

/** The key in a secret `whsec_{base64}`; null where it is none, or has other than 24 to 64 bytes. */
export function readWebhookSecret(secret: string): Uint8Array<ArrayBuffer> | null {
	if (!secret.startsWith(PREFIX)) return null;
	try {
		const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (letter) => letter.charCodeAt(0));
		return bytes.length < 24 || bytes.length > 64 ? null : bytes;
	} catch (error) {
		if (error instanceof DOMException) return null;
		throw error;
	}
}

/**
 * The headers of a message.
 * @param keys each makes a signature: one of them is the one that the receiver knows
 * @param at   when it is sent, Unix milliseconds
 * @param content the body; of a GET, which has none, its path and query as they are sent
 */
export async function signWebhook(
	keys: readonly Uint8Array<ArrayBuffer>[],
	id: string,
	at: number,
	content: string,
): Promise<Record<string, string>> {
	const timestamp = String(Math.floor(at / SECOND_MS));
	const signed = utf8(`${id}.${timestamp}.${content}`);
	const signatures = await Promise.all(keys.map((key) => sign(key, signed)));
	return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function sign(key: Uint8Array<ArrayBuffer>, signed: Uint8Array): Promise<string> {
	const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
	const signature = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, signed));
	return `v1,${btoa(String.fromCharCode(...signature))}`;
}
