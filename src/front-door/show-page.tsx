/** Pages for anyone: the console's layout without a person, and headers that let nothing load but what is ours. */
import type { JSX } from "hono/jsx/jsx-runtime";

const PAGE_HEADERS = {
	"content-type": "text/html; charset=utf-8",
	"content-security-policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"referrer-policy": "same-origin",
	"x-frame-options": "DENY",
} as const;

export type Shown = { title: string; content: JSX.Element; status?: number; headers?: Record<string, string> };

/** A page as an answer. */
export async function showPage({ title, content, status = 200, headers = {} }: Shown): Promise<Response> {
	const page = (
		<html lang="en">
			<head>
				<meta charset="utf-8" />
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<title>{title}</title>
			</head>
			<body>
				<main>{content}</main>
			</body>
		</html>
	);
	return new Response(`<!doctype html>${await page.toString()}`, { status, headers: { ...PAGE_HEADERS, ...headers } });
}
