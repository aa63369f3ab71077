import type { ClickToken } from "../click-token/token.ts";
import type { KnownReason } from "../lib/enums.ts";
import { isBot } from "./user-agent.ts";

/** How browsers and previewers say that nobody has clicked yet. */
const EARLY_HEADERS = ["sec-purpose", "purpose", "x-purpose", "x-moz"] as const;
const EARLY = /\b(?:prefetch|prerender|preview)\b/i;

/** Why a redirect is neither billed nor counted, or null where it may be. The first reason that holds. */
export function whyUncounted(
	method: string,
	headers: Headers,
	userAgent: string | null,
	token: Pick<ClickToken, "kind" | "test" | "mintedAt">,
	clickTtlMs: number,
	now: number,
): KnownReason | null {
	if (method === "HEAD") return "head";
	if (isEarly(headers)) return "prefetch";
	if (isBot(userAgent)) return "bot";
	if (token.test) return "test";
	// Tracking links do not age: they are made once and used for months.
	if (token.kind !== "link" && now - token.mintedAt > clickTtlMs) return "expired";
	return null;
}

function isEarly(headers: Headers): boolean {
	for (const name of EARLY_HEADERS) {
		const value = headers.get(name);
		if (value !== null && EARLY.test(value)) return true;
	}
	return false;
}
