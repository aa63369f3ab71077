/** Posts an alert to the operator's webhook, signed as Standard Webhooks has it. */
import { signWebhook } from "../lib/sign-webhook.ts";
import { SECOND_MS } from "../lib/time.ts";
import { utf8 } from "../lib/utf8.ts";

export type Webhook = {
	url: string;
	/** Signs what is sent. */
	key: Uint8Array<ArrayBuffer>;
	now: () => number;
	fetch: (url: string, init: RequestInit) => Promise<Response>;
};

/** An alert is waited for so long. */
const TIMEOUT_MS = 5 * SECOND_MS;

/** Null where the webhook took it, else why not. */
export async function sendAlert({ url, key, now, fetch }: Webhook, id: string, body: string): Promise<string | null> {
	try {
		const { address, authorization } = splitUrl(url);
		const headers = { "content-type": "application/json", ...authorization, ...(await signWebhook([key], id, now(), body)) };
		const response = await fetch(address, { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
		await response.body?.cancel();
		return response.ok ? null : `the webhook answered HTTP ${response.status}`;
	} catch (error) {
		return error instanceof Error ? `${error.name}: ${error.message}` : "the webhook could not be called";
	}
}

/** Of an address with a name or a password the runtime would send neither. */
function splitUrl(url: string): { address: string; authorization?: { authorization: string } } {
	const parsed = new URL(url);
	const { username, password } = parsed;
	if (username === "" && password === "") return { address: url };
	parsed.username = "";
	parsed.password = "";
	const credentials = utf8([username, password].map(decode).join(":")).toBase64();
	return { address: parsed.href, authorization: { authorization: `Basic ${credentials}` } };
}

/** As it stands where its percent signs are no escapes. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
