/** What stands before and around every page: the host, whose request it is, whether they may, and the headers of the answer. */
import type { Context } from "hono";
import { isAwayError } from "../lib/away.ts";
import { HttpError } from "../lib/http.ts";
import { logError } from "../lib/log.ts";
import { logAway } from "../lib/log-limit.ts";
import { ofSegment } from "../lib/path-segment.ts";
import { readCapped, SLOW_BODY_MS } from "../lib/read-capped.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import { authorize, forbidden, mustConfirm } from "./authorize.ts";
import type { ConsoleDeps } from "./deps.ts";
import { keepForm } from "./kept-form.tsx";
import { aroundPage } from "./menu.tsx";
import { type Page, type PersonRequest, type Shown, View, view } from "./page.ts";
import { readCookie } from "./session/cookie.ts";
import { freeForm, useForm } from "./session/once.ts";
import { isOwnRequest } from "./session/origin.ts";
import { actorOfPerson, findSession, noteSeen, type SeenPublisher, type Session } from "./session/sessions.ts";
import { confirmFirst, signInFirst } from "./sign-in-first.tsx";
import { type Answer, REFUSED, tellError } from "./tell-error.tsx";
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
/** On those by https: browsers then ask by nothing else for a year. */
const HTTPS_HEADERS = { ...CONSOLE_HEADERS, "strict-transport-security": "max-age=31536000" } as const;

const MIB = 1024 * 1024;
const MAX_FORM_BYTES = 64 * 1024;

/** A request on its way: what is told of an error depends on how far it came. */
type Visit = {
	readonly deps: ConsoleDeps;
	/** All of them: what the menu is made of. */
	readonly pages: readonly Page[];
	readonly page: Page;
	readonly c: Context;
	readonly requestId: string;
	/** When it began, Unix ms. */
	readonly now: number;
	readonly isChange: boolean;
	/** Whether it is a program's, for data: a file that a person asks for by a link is not. */
	readonly isData: boolean;
	session: Session | null;
	/** What the answer says of the bounds on requests. */
	limits: HeadersInit;
	body: Uint8Array<ArrayBuffer> | null;
	/** What the page was asked to do, once it was. */
	asked: PersonRequest | null;
	/** Lets a form that was refused be sent again. */
	free: () => Promise<void>;
};

/** Answers a request for a page, whatever happens. @param pages all of them: what the menu is made of */
export async function answerPage(deps: ConsoleDeps, pages: readonly Page[], page: Page, c: Context): Promise<Response> {
	const now = deps.now();
	const visit: Visit = {
		deps,
		pages,
		page,
		c,
		requestId: requestIdOf(c.req.raw, now),
		now,
		isChange: c.req.method !== "GET" && c.req.method !== "HEAD",
		isData: page.isData === true && c.req.header("sec-fetch-dest") !== "document",
		session: null,
		limits: {},
		body: null,
		asked: null,
		free: async () => {},
	};
	let told: Answer;
	try {
		told = { page, path: c.req.path, shown: await receive(visit) };
	} catch (error) {
		const { requestId } = visit;
		if (isAwayError(error)) logAway(error, c.req.path, requestId, now);
		else if (!(error instanceof HttpError)) logError("request.failed", error, { request: requestId });
		else if (error.status < 500) await visit.free();
		told = await tellError(pages, page, c, error, visit);
	}
	const mayKeep = visit.session !== null && page.method === "POST" && !page.isSecret;
	const answered = await writeAnswer(pages, told, visit.session, mayKeep);
	const headers = new Headers(deps.consoleUrl.startsWith("https:") ? HTTPS_HEADERS : CONSOLE_HEADERS);
	for (const [name, value] of new Headers(visit.limits)) headers.set(name, value);
	for (const [name, value] of headers) if (!answered.headers.has(name)) answered.headers.set(name, value);
	return answered;
}

/** Asks the page, where its own pages sent the request, and whoever is signed in may. Others are shown where to sign in, or to confirm. */
async function receive(visit: Visit): Promise<Shown> {
	const { deps, page, c, now, isChange } = visit;
	if (isChange && !isOwnRequest(c.req.raw.headers, deps.consoleUrl))
		throw forbidden("Nothing was changed: the request did not come from a page of the console. Open that page, and do it there.");
	const token = readCookie(c.req.raw);
	visit.session = await findSession(deps.db, token, now);
	if (visit.session === null && page.needs !== "nobody") return signIn(visit, token !== undefined);
	if (visit.session !== null && page.needs !== "nobody") await takeTurn(visit, visit.session);
	if (isChange && !page.evenHeld && (await deps.isHeld())) throw new HttpError(503, { error: "Service unavailable" });
	if (visit.session !== null) noteInBackground(deps, c, visit.session, now);
	let publisher = authorize(page, visit.session, isChange);
	if (mustConfirm(page, visit.session, now)) return confirm(visit);
	visit.body = await readBytes(page, c);
	const at = deps.now();
	// However long a body is held back: what has ended meanwhile, or may do less, does nothing by it.
	if (visit.session !== null && page.needs !== "nobody" && at - now >= SLOW_BODY_MS) {
		visit.session = await findSession(deps.db, token, at);
		if (visit.session === null) return signIn(visit, true);
		publisher = authorize(page, visit.session, isChange);
		if (mustConfirm(page, visit.session, at)) return confirm(visit);
	}
	return askPage(visit, visit.body, publisher, at);
}

async function signIn({ pages, page, isData, c, body }: Visit, hadSession: boolean): Promise<Shown> {
	return signInFirst(pages, page, isData, c, { hadSession, kept: await keepForm(page, c, body, false) });
}

async function confirm({ pages, page, isData, c, body }: Visit): Promise<Shown> {
	return confirmFirst(pages, page, isData, c, await keepForm(page, c, body, true));
}

/** @throws HttpError 429 where this session has asked too often */
async function takeTurn(visit: Visit, session: Session): Promise<void> {
	const { headers, refused } = await visit.deps.publisherApi.limit.take(session.hash, "session");
	visit.limits = refused === null ? headers : refused.headers;
	if (refused !== null) throw new HttpError(429, { error: "Too many requests" });
}

async function askPage(visit: Visit, body: Uint8Array<ArrayBuffer>, publisher: SeenPublisher | null, now: number): Promise<Shown> {
	const { deps, page, c, session, requestId } = visit;
	const form = formOf(c, body);
	if (page.once && session !== null) {
		const { hash } = session;
		const id = form.get(FORM_FIELD) ?? "";
		await useForm(deps.db, hash, id, now);
		visit.free = () => freeForm(deps.db, hash, id);
	}
	const request = { c, deps, now, query: c.req.query(), form, body, param: (name: string) => ofSegment(c.req.param(name) ?? "") };
	if (session === null) return page.handle({ ...request, session });
	const signedIn = { ...request, session, person: session.person, actor: actorOfPerson(session.person, requestId) };
	if (c.req.method === "POST") visit.asked = signedIn;
	return page.handle(publisher === null ? signedIn : { ...signedIn, publisher });
}

/** What is sent as a form; of every other body nothing. */
function formOf(c: Context, body: Uint8Array<ArrayBuffer>): URLSearchParams {
	const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header("content-type") ?? "");
	// Browsers send each end of a line as two characters, and count one.
	return new URLSearchParams(isForm ? fromUtf8(body).replaceAll(/%0d%0a/gi, "%0A") : "");
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
