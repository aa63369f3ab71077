/** Pages for anyone: the console's layout without a person, and headers that let nothing load but what is ours. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { writePage } from "../console/ui/layout.tsx";
import { SAFE_HEADERS } from "../console/ui/safe-headers.ts";

/** A page as an answer. */
export async function showPage(page: JSX.Element, headers: Record<string, string>, status = 200): Promise<Response> {
	return new Response(await writePage(page), {
		status,
		headers: { "content-type": "text/html; charset=utf-8", ...SAFE_HEADERS, ...headers },
	});
}
