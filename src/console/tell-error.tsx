/** What a person, or a program, is told where a page failed or refused what was asked. */
import type { Context } from "hono";
import { answerAway, isAwayError } from "../lib/away.ts";
import { HttpError, jsonResponse } from "../lib/http.ts";
import { logError } from "../lib/log.ts";
import { authorize, mustConfirm } from "./authorize.ts";
import { awayView, errorView, failureView, refusedView } from "./error-page.tsx";
import { findPage } from "./find-page.ts";
import { keepForm } from "./kept-form.tsx";
import type { Page, PersonRequest, Shown } from "./page.ts";
import { pageAbove, sentFrom } from "./sign-in-first.tsx";

/** What is answered, and the page that it is shown as, with the path of that. */
export type Answer = { page: Page; path: string; shown: Shown };

/** Statuses of a form that was refused, with what was typed. */
export const REFUSED: ReadonlySet<number> = new Set([409, 412, 422]);

/** How far a request came. */
type Failed = {
	requestId: string;
	/** Whether it is a program's, for data. */
	isData: boolean;
	/** What its page was asked to do, once it was. */
	asked: PersonRequest | null;
	/** As far as it was read. */
	body: Uint8Array<ArrayBuffer> | null;
};

/** What is told of an error: by the page that a refused form was sent from, where that can be shown; else by itself. */
export async function tellError(
	pages: readonly Page[],
	page: Page,
	c: Context,
	error: unknown,
	{ isData, asked, body, requestId }: Failed,
): Promise<Answer> {
	const { path } = c.req;
	// What was asked of its page may have been done all the same: it is not offered again.
	if (isAwayError(error))
		return {
			page,
			path,
			shown: isData ? answerAway(c.req.raw) : awayView(asked === null ? await keepForm(page, c, body, true) : null, asked !== null),
		};
	if (!(error instanceof HttpError))
		return { page, path, shown: isData ? jsonResponse({ error: "Internal error" }, 500) : failureView(requestId) };
	if (isData) return { page, path, shown: jsonResponse(error.body, error.status) };
	const whereSent = asked === null ? null : await refusedWhereSent(pages, asked, error);
	if (whereSent !== null) return whereSent;
	const isPost = c.req.method === "POST";
	const query = c.req.query();
	const shown = errorView(error, {
		isFiltered: !isPost && (page.list !== undefined || Object.keys(query).length > 0),
		title: page.title,
		path,
		query,
		list: page.list,
		back: isPost ? sentFrom(pages, c) : null,
		kept: error.status === 429 || error.status === 503 ? await keepForm(page, c, body, true) : null,
	});
	return { page, path, shown };
}

/** What a page's address says of something that was done before. */
const SAID_OF_DEEDS: ReadonlySet<string> = new Set(["accepted", "added", "changed", "done", "late", "removed", "replayed", "revoked"]);

/** The page that a form was sent from, as it is now, below what stands against the form; null where that cannot be shown. */
async function refusedWhereSent(pages: readonly Page[], request: PersonRequest, error: HttpError): Promise<Answer | null> {
	if (!REFUSED.has(error.status)) return null;
	// Where a browser does not say, it is the page above.
	const from = request.c.req.header("referer") === undefined ? pageAbove(pages, request.c.req.path) : sentFrom(pages, request.c);
	const { pathname: path, searchParams } = new URL(from, request.deps.consoleUrl);
	const found = findPage(pages, path);
	if (found === null || found.page.isData || found.page.needs === "nobody") return null;
	const { page, param } = found;
	const { session, now } = request;
	try {
		const publisher = authorize(page, session, false);
		if (mustConfirm(page, session, now)) return null;
		const query = Object.fromEntries([...searchParams].filter(([name]) => !SAID_OF_DEEDS.has(name)));
		const signedIn = { ...request, query, param, form: new URLSearchParams(), body: new Uint8Array() };
		const shown = await page.handle(publisher === null ? signedIn : { ...signedIn, publisher });
		return shown instanceof Response ? null : { page, path, shown: refusedView(error, shown) };
	} catch (failure) {
		if (!(failure instanceof HttpError)) logError("console.page_not_shown", failure, { path });
		return null;
	}
}
