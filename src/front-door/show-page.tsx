/** Pages for anyone: the console's layout without a person, and headers that let nothing load but what is ours. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { writePage } from "../console/ui/layout.tsx";

const PAGE_HEADERS = {
	"content-type": "text/html; charset=utf-8",
	"content-security-policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"referrer-policy": "same-origin",
	"x-frame-options": "DENY",
} as const;

/** A page as an answer. */
export async function showPage(page: JSX.Element, headers: Record<string, string>, status = 200): Promise<Response> {
	return new Response(await writePage(page), { status, headers: { ...PAGE_HEADERS, ...headers } });
}
