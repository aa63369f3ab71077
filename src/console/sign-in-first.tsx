/** What is told to whoever is to sign in, or to confirm that it is they, before what they asked for; and how they come back to it. */
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { jsonResponse } from "../lib/http.ts";
import { CONFIRM_PATH } from "./confirm-first.tsx";
import { problemView } from "./error-page.tsx";
import { findPage } from "./find-page.ts";
import { type KeptForm, SendAgain } from "./kept-form.tsx";
import { type Page, type Shown, seeOther } from "./page.ts";
import { FORGET_HEADERS } from "./session/cookie.ts";
import { readNext } from "./session/origin.ts";
import { addressOf } from "./ui/address.ts";

/** Without a session: pages lead to the sign-in page and back; what changes something says that it did not. */
export function signInFirst(
	pages: readonly Page[],
	{ method }: Page,
	isData: boolean,
	c: Context,
	{ hadSession, kept }: { hadSession: boolean; kept: KeptForm | null },
): Shown {
	const headers = hadSession ? FORGET_HEADERS : {};
	if (isData) return jsonResponse({ error: "Unauthorized" }, 401, headers);
	if (method === "GET") {
		const url = new URL(c.req.url);
		const next = readNext(url.pathname + url.search);
		const query = new URLSearchParams({ ...(hadSession && { ended: "1" }), ...(next !== null && { next }) });
		return seeOther(`/console/sign-in?${query}`, headers);
	}
	const href = addressOf("/console/sign-in", { next: sentFrom(pages, c) });
	return problemView(
		401,
		hadSession ? "Your session has ended" : "You are not signed in",
		kept === null ? (
			<p>
				Nothing was saved. <a href={href}>Sign in</a> to come back to where you were, and do it again.
			</p>
		) : (
			<>
				<KeptFirst kept={kept} href={href} none="Nothing was saved." first="Sign in" />
				<p>
					Or <a href={href}>sign in</a> to come back to where you were, without it.
				</p>
			</>
		),
	);
}

/** Someone may do this who has just shown that it is they. */
export function confirmFirst(pages: readonly Page[], { method }: Page, isData: boolean, c: Context, kept: KeptForm | null): Shown {
	if (isData) return jsonResponse({ error: "Forbidden", message: "Confirm first that it is you." }, 403);
	const url = new URL(c.req.url);
	if (method === "GET") return seeOther(addressOf(CONFIRM_PATH, { next: url.pathname + url.search }));
	const href = addressOf(CONFIRM_PATH, { next: sentFrom(pages, c) });
	return problemView(
		403,
		"Confirm that it is you",
		kept === null ? (
			<p>
				Nothing was changed. <a href={href}>Confirm that it is you</a>, and do it again.
			</p>
		) : (
			<KeptFirst kept={kept} href={href} none="Nothing was changed." first="Confirm that it is you" />
		),
	);
}

/** What is to be done in another tab, so that what was sent can be sent again from this one. */
function KeptFirst({ kept, href, none, first }: { kept: KeptForm; href: string; none: string; first: string }): JSX.Element {
	return (
		<>
			<p>{none} What you sent is kept as long as this page stays open:</p>
			<p>
				<a target="_blank" rel="noopener" href={href}>
					{first} in another tab
				</a>
				, come back to this one, and send it again.
			</p>
			<SendAgain {...kept} />
		</>
	);
}

/** The page whose form was sent; where one was refused before, its address is that of the form, which stands somewhere below its page. */
export function sentFrom(pages: readonly Page[], c: Context): string {
	const from = URL.parse(c.req.header("referer") ?? "");
	if (from === null) return "/console";
	if (findPage(pages, from.pathname) !== null) return readNext(from.pathname + from.search) ?? "/console";
	return readNext(pageAbove(pages, from.pathname)) ?? "/console";
}

/** The nearest page above an address; empty where there is none. */
export function pageAbove(pages: readonly Page[], address: string): string {
	const above = address.replace(/\/[^/]*$/, "");
	return above === "" || findPage(pages, above) !== null ? above : pageAbove(pages, above);
}
