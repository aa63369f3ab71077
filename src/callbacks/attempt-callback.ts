/** One call of a publisher's address. It writes nothing: the caller records the result. */
import { within } from "../lib/async.ts";
import { findCallbackUrlFault } from "../lib/callback-url.ts";
import { hideSecretsIn } from "../lib/mask-url.ts";
import { SECOND_MS } from "../lib/time.ts";
import { CALLBACK_USER_AGENT } from "../lib/user-agent.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import { buildCallbackUrl, type CallbackFacts } from "./build-callback-url.ts";
import { readRetryAfter } from "./schedule.ts";
import { signCallback } from "./sign-callback.ts";

/** An answer within this time counts. */
const CALLBACK_TIMEOUT_MS = 10 * SECOND_MS;

/** The body only serves the log: it may take no longer than this once the status is there. */
const BODY_TIMEOUT_MS = SECOND_MS;

/** What Cloudflare takes of an address; most servers take less. */
const MAX_ADDRESS_LENGTH = 16_384;

/** First bytes of an answer that are kept. */
const KEPT_ANSWER_BYTES = 512;

export type AttemptDeps = {
	fetch: (url: string, init: RequestInit) => Promise<Response>;
	now: () => number;
	allowInsecure: boolean;
	/** {@link CALLBACK_TIMEOUT_MS}, unless a test is in a hurry. */
	timeoutMs?: number;
};

export type Attempt = {
	startedAt: number;
	latencyMs: number;
	/** Null where there was no answer. */
	httpStatus: number | null;
	/** First bytes of the answer, without the address's secrets; or what went wrong. */
	answer: string;
	retryAfterMs: number | null;
	/** True for a 2xx, which is the publisher's word that it has stored the callback. */
	confirmed: boolean;
	/** False where the publisher cannot have stored the callback: it was not called, or refused. */
	mayHaveArrived: boolean;
};

export type Call = {
	/** The publisher's address. */
	url: string;
	/** Its id is the same in every attempt at the same callback: what receivers recognise a repeated one by. */
	facts: CallbackFacts;
	/** `whsec_…`: what the call is signed with; none where it is not. */
	secrets: readonly string[];
	test?: boolean;
};

/** Calls a publisher: GET, no credentials, no redirects followed. Never throws for what the receiver does. */
export async function attemptCallback(deps: AttemptDeps, { url, facts, secrets, test }: Call): Promise<Attempt> {
	const { fetch: call, now, allowInsecure, timeoutMs = CALLBACK_TIMEOUT_MS } = deps;
	const startedAt = now();
	const failed = (answer: string, mayHaveArrived = true): Attempt => ({
		startedAt,
		latencyMs: now() - startedAt,
		httpStatus: null,
		answer,
		retryAfterMs: null,
		confirmed: false,
		mayHaveArrived,
	});
	const fault = findCallbackUrlFault(url, { allowInsecure });
	if (fault !== null) return failed(`not called: the address ${fault}`, false);
	const address = buildCallbackUrl(url, facts);
	if (address.length > MAX_ADDRESS_LENGTH) {
		return failed(
			`not called: with its macros filled in, the address is longer than ${MAX_ADDRESS_LENGTH.toLocaleString("en")} characters`,
			false,
		);
	}
	const signature = await signCallback({ id: facts.id, at: startedAt, url: address }, secrets);
	let response: Response;
	try {
		response = await call(address, {
			method: "GET",
			redirect: "manual",
			headers: {
				accept: "*/*",
				"user-agent": test === true ? `${CALLBACK_USER_AGENT} (test)` : CALLBACK_USER_AGENT,
				"idempotency-key": facts.id,
				...signature,
			},
			signal: AbortSignal.timeout(timeoutMs),
		});
	} catch (error) {
		return failed(hideSecretsIn(describeFailure(error, timeoutMs), url));
	}
	const latencyMs = now() - startedAt;
	const { text, isCut } = await readStart(response.body);
	return {
		startedAt,
		latencyMs,
		httpStatus: response.status,
		answer: hideSecretsIn(text, url, isCut),
		retryAfterMs: readRetryAfter(response.headers.get("retry-after"), now()),
		confirmed: response.ok,
		mayHaveArrived: response.ok || isGatewaysWord(response.status),
	};
}

/** Answers of what stands before a receiver, such as a proxy that waited in vain: the receiver may have stored the callback. */
function isGatewaysWord(status: number): boolean {
	return [408, 499, 502, 504].includes(status) || (status >= 520 && status <= 527);
}

function describeFailure(error: unknown, timeoutMs: number): string {
	if (!(error instanceof Error)) return "no answer";
	if (error.name === "TimeoutError") return `no answer within ${timeoutMs / SECOND_MS} s`;
	// What the runtime says where it cannot reach a host, and does not say why.
	if (error.message.startsWith("internal error")) return "no answer: the address could not be reached";
	return `no answer: ${error.message}`.slice(0, 200);
}

/** The first bytes of a body as text; whatever the rest of it does, it is dropped. */
async function readStart(body: ReadableStream<Uint8Array> | null): Promise<{ text: string; isCut: boolean }> {
	if (body === null) return { text: "", isCut: false };
	const reader = body.getReader();
	const bytes = new Uint8Array(KEPT_ANSWER_BYTES);
	let length = 0;
	const fill = async (): Promise<void> => {
		while (length < KEPT_ANSWER_BYTES) {
			const { value } = await reader.read();
			if (value === undefined) return;
			const kept = value.subarray(0, KEPT_ANSWER_BYTES - length);
			bytes.set(kept, length);
			length += kept.length;
		}
	};
	try {
		await within(fill(), BODY_TIMEOUT_MS, undefined);
	} catch {
		// The connection broke within the body. The status had arrived, and only that decides.
	}
	reader.cancel().catch(() => {
		// Broken already.
	});
	return { text: printable(fromUtf8(bytes.subarray(0, length))), isCut: length === KEPT_ANSWER_BYTES };
}

function printable(text: string): string {
	return text.replaceAll(/\p{Cc}+/gu, " ").trim();
}
