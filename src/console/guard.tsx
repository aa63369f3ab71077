/** What stands before and around every page: the host, whose request it is, whether they may, and the headers of the answer. */
import type { Context } from "hono";
import { mayAct } from "../http/actor.ts";
import { answerAway, isAwayError } from "../lib/away.ts";
import { HttpError, jsonResponse } from "../lib/http.ts";
import { logError } from "../lib/log.ts";
import { logAway } from "../lib/log-limit.ts";
import { ofSegment } from "../lib/path-segment.ts";
import { readCapped, SLOW_BODY_MS } from "../lib/read-capped.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import type { ConsoleDeps } from "./deps.ts";
import { awayView, errorView, failureView, refusedView } from "./error-page.tsx";
import { findPage } from "./find-page.ts";
import { keepForm } from "./kept-form.tsx";
import { aroundPage } from "./menu.tsx";
import { type Needs, type Page, type PersonRequest, type Shown, View, view } from "./page.ts";
import { readCookie } from "./session/cookie.ts";
import { freeForm, useForm } from "./session/once.ts";
import { isOwnRequest } from "./session/origin.ts";
import {
	actorOfPerson,
	findSession,
	isFresh,
	isStaff,
	mayActForPublisher,
	noteSeen,
	type SeenPublisher,
	type Session,
} from "./session/sessions.ts";
import { confirmFirst, pageAbove, sentFrom, signInFirst } from "./sign-in-first.tsx";
import { FORM_FIELD } from "./ui/actions.tsx";
import { Layout, writePage } from "./ui/layout.tsx";
import { SAFE_HEADERS } from "./ui/safe-headers.ts";

/** On every answer of the console. */
export const CONSOLE_HEADERS = { "cache-control": "no-store", ...SAFE_HEADERS } as const;
/**
 * On answers to forms that may come again by the browser's button back. Without it the browser would have to send the form once more, and
 * asks whether it is to. Signing out has it forgotten.
 */
const MAY_RETURN = "private, no-cache";
/** Of a form that was refused, with what was typed. */
const REFUSED: ReadonlySet<number> = new Set([409, 412, 422]);
/** On those by https: browsers then ask by nothing else for a year. */
const HTTPS_HEADERS = { ...CONSOLE_HEADERS, "strict-transport-security": "max-age=31536000" } as const;

const MIB = 1024 * 1024;
const MAX_FORM_BYTES = 64 * 1024;

/** Answers a request for a page, whatever happens. @param pages all of them: what the menu is made of */
export async function answerPage(deps: ConsoleDeps, pages: readonly Page[], page: Page, c: Context): Promise<Response> {
	const now = deps.now();
	const requestId = requestIdOf(c.req.raw, now);
	let session: Session | null = null;
	let limits: HeadersInit = {};
	let free = async (): Promise<void> => {};
	let body: Uint8Array<ArrayBuffer> | null = null;
	/** What the page was asked to do, once it was. */
	let asked: PersonRequest | null = null;
	// A file that a person asks for by a link: they are told by pages.
	const isData = page.isData === true && c.req.header("sec-fetch-dest") !== "document";
	const answer = async (): Promise<Shown> => {
		const isChange = c.req.method !== "GET" && c.req.method !== "HEAD";
		if (isChange && !isOwnRequest(c.req.raw.headers, deps.consoleUrl))
			throw forbidden("Nothing was changed: the request did not come from a page of the console. Open that page, and do it there.");
		const token = readCookie(c.req.raw);
		session = await findSession(deps.db, token, now);
		if (session === null && page.needs !== "nobody")
			return signInFirst(pages, page, isData, c, { hadSession: token !== undefined, kept: await keepForm(page, c, null, false) });
		if (session !== null && page.needs !== "nobody") {
			const { headers, refused } = await deps.publisherApi.limit.take(session.hash, "session");
			limits = refused === null ? headers : refused.headers;
			if (refused !== null) throw new HttpError(429, { error: "Too many requests" });
		}
		if (isChange && !page.evenHeld && (await deps.isHeld())) throw new HttpError(503, { error: "Service unavailable" });
		if (session !== null) noteInBackground(deps, c, session, now);
		let publisher = authorize(page, session, isChange);
		if (asksFresh(page.needs) && (session === null || !isFresh(session, now)))
			return confirmFirst(pages, page, isData, c, await keepForm(page, c, null, true));
		body = await readBytes(page, c);
		const at = deps.now();
		// However long a body is held back: what has ended meanwhile, or may do less, does nothing by it.
		if (session !== null && page.needs !== "nobody" && at - now >= SLOW_BODY_MS) {
			session = await findSession(deps.db, token, at);
			if (session === null) return signInFirst(pages, page, isData, c, { hadSession: true, kept: await keepForm(page, c, body, false) });
			publisher = authorize(page, session, isChange);
			if (asksFresh(page.needs) && !isFresh(session, at)) return confirmFirst(pages, page, isData, c, await keepForm(page, c, body, true));
		}
		const form = formOf(c, body);
		if (page.once && session !== null) {
			const { hash } = session;
			const id = form.get(FORM_FIELD) ?? "";
			await useForm(deps.db, hash, id, at);
			free = () => freeForm(deps.db, hash, id);
		}
		const request = { c, deps, now: at, query: c.req.query(), form, body, param: (name: string) => ofSegment(c.req.param(name) ?? "") };
		if (session === null) return page.handle({ ...request, session });
		const signedIn = { ...request, session, person: session.person, actor: actorOfPerson(session.person, requestId) };
		if (c.req.method === "POST") asked = signedIn;
		return page.handle(publisher === null ? signedIn : { ...signedIn, publisher });
	};
	let told: Answer;
	try {
		told = { page, path: c.req.path, shown: await answer() };
	} catch (error) {
		if (isAwayError(error)) logAway(error, c.req.path, requestId, now);
		else if (!(error instanceof HttpError)) logError("request.failed", error, { request: requestId });
		else if (error.status < 500) await free();
		told = await tellError(pages, page, c, error, { isData, asked, body, requestId });
	}
	const mayKeep = session !== null && page.method === "POST" && !page.isSecret;
	const answered = await writeAnswer(pages, told, session, mayKeep);
	const headers = new Headers(deps.consoleUrl.startsWith("https:") ? HTTPS_HEADERS : CONSOLE_HEADERS);
	for (const [name, value] of new Headers(limits)) headers.set(name, value);
	for (const [name, value] of headers) if (!answered.headers.has(name)) answered.headers.set(name, value);
	return answered;
}

/** What is sent as a form; of every other body nothing. */
function formOf(c: Context, body: Uint8Array<ArrayBuffer>): URLSearchParams {
	const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header("content-type") ?? "");
	// Browsers send each end of a line as two characters, and count one.
	return new URLSearchParams(isForm ? fromUtf8(body).replaceAll(/%0d%0a/gi, "%0A") : "");
}

/** How far a request came: whether it is for data, what its page was asked to do, and its body, as far as it was read. */
type Failed = { isData: boolean; asked: PersonRequest | null; body: Uint8Array<ArrayBuffer> | null; requestId: string };

/** What is told of an error: by the page that a refused form was sent from, where that can be shown; else by itself. */
async function tellError(
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

/** The publisher whose page it is; null where it is none's. @throws HttpError 403 where they may not */
function authorize({ needs }: Page, session: Session | null, isChange: boolean): SeenPublisher | null {
	if (typeof needs === "string") return null;
	if (session === null) throw forbidden();
	if ("anyone" in needs) return null;
	const { person, viewing } = session;
	if ("staff" in needs) {
		if (!isStaff(person.role) || !mayAct(person.role, needs.staff)) throw forbidden();
		return null;
	}
	const publisher = person.publisher ?? viewing;
	if (publisher === null) throw forbidden("This is a page of publishers. Choose whose console you want to see.");
	if (isStaff(person.role)) {
		if (isChange || needs.publisher !== "analyst")
			throw forbidden("You only look at this publisher's console: what is theirs, they change themselves.");
	} else if (!mayActForPublisher(person.role, needs.publisher)) throw forbidden();
	if (publisher.status === "suspended" && (isChange || needs.active) && !needs.evenSuspended) {
		const whose = isStaff(person.role) ? "This publisher's account" : "Your account";
		throw forbidden(
			isChange
				? `${whose} is suspended. You see what there is; ask your account manager about the rest.`
				: `${whose} is suspended: until it is active again, this page has nothing to show. What was earned and clicked is still there.`,
		);
	}
	return publisher;
}

function forbidden(message?: string): HttpError {
	return new HttpError(403, { error: "Forbidden", ...(message !== undefined && { message }) });
}

function asksFresh(needs: Needs): boolean {
	return typeof needs !== "string" && needs.fresh === true;
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
		if (asksFresh(page.needs) && !isFresh(session, now)) return null;
		const query = Object.fromEntries([...searchParams].filter(([name]) => !SAID_OF_DEEDS.has(name)));
		const signedIn = { ...request, query, param, form: new URLSearchParams(), body: new Uint8Array() };
		const shown = await page.handle(publisher === null ? signedIn : { ...signedIn, publisher });
		return shown instanceof Response ? null : { page, path, shown: refusedView(error, shown) };
	} catch (failure) {
		if (!(failure instanceof HttpError)) logError("console.page_not_shown", failure, { path });
		return null;
	}
}

async function readBytes({ maxBytes = MAX_FORM_BYTES }: Page, c: Context): Promise<Uint8Array<ArrayBuffer>> {
	const bytes = await readCapped(c.req.raw.body, maxBytes);
	if (bytes === null) {
		const most = maxBytes < MIB ? `${maxBytes / 1024} KiB` : `${maxBytes / MIB} MiB`;
		const message = `Nothing was changed. This page takes at most ${most}: send less at once, or use the endpoint or the command for it.`;
		throw new HttpError(413, { error: "Payload too large", message });
	}
	return bytes;
}

function noteInBackground({ db }: ConsoleDeps, c: Context, session: Session, now: number): void {
	c.executionCtx.waitUntil(noteSeen(db, session, now).catch((error: unknown) => logError("console.seen_not_noted", error)));
}

/** What is answered, and the page that it is shown as, with the path of that. */
type Answer = { page: Page; path: string; shown: Shown };

/** @param mayKeep whether browsers may keep it, where it is one of those that come again */
async function writeAnswer(
	pages: readonly Page[],
	{ page, path, shown }: Answer,
	session: Session | null,
	mayKeep: boolean,
): Promise<Response> {
	// Of what an answer sets itself, nothing is taken away: an asset is kept by browsers.
	if (shown instanceof Response) return new Response(shown.body, shown);
	const { content, options } = shown instanceof View ? shown : view({}, shown);
	const { status = 200, mayReturn = false, ...head } = options;
	const isKept = mayKeep && (mayReturn || REFUSED.has(status));
	const html = await writePage(
		<Layout
			title={page.title}
			{...head}
			{...aroundPage(pages, page, session)}
			path={path}
			isRefused={page.method === "POST" && status >= 400 && status < 500}
		>
			{content}
		</Layout>,
	);
	return new Response(html, {
		status,
		headers: { "content-type": "text/html; charset=utf-8", ...(isKept && { "cache-control": MAY_RETURN }) },
	});
}
