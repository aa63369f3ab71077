/**
 * The session's cookie. `__Host-` and `Secure` hold at `http://localhost`, too: Chromium, Firefox and curl take it for secure; Safari
 * needs https.
 */
import { parse } from "hono/utils/cookie";

/** Cookies by this name are set by this host alone, over a secure connection. */
export const SESSION_COOKIE = "__Host-session";

const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";

/** @param token of the session @param seconds how long the browser keeps it */
export function writeCookie(token: string, seconds: number): string {
	return `${SESSION_COOKIE}=${token}; Max-Age=${seconds}; ${ATTRIBUTES}`;
}

/** On the answer after which nobody is signed in: no cookie, and none of the pages that the browser has kept for its button back. */
export const FORGET_HEADERS = {
	"set-cookie": `${SESSION_COOKIE}=; Max-Age=0; ${ATTRIBUTES}`,
	"clear-site-data": '"cache"',
} as const;

/** The token that a request carries; undefined where it has none. */
export function readCookie(request: Request): string | undefined {
	return parse(request.headers.get("cookie") ?? "", SESSION_COOKIE)[SESSION_COOKIE];
}
