/** Every page of the console, behind the guard. On any other host than its own there is none. */
import { Hono } from "hono";
import { HttpError } from "../lib/http.ts";
import { ACCESS_PAGES } from "./access-sign-in.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { answerPage, CONSOLE_HEADERS } from "./guard.tsx";
import { HOME_PAGES } from "./home.tsx";
import { OPERATOR_PAGES } from "./operator/pages.ts";
import { type Page, page } from "./page.ts";
import { PASSKEYS_PAGES } from "./passkeys.tsx";
import { PUBLISHER_PAGES } from "./publisher/pages.ts";
import { SIGN_IN_PAGES } from "./sign-in.tsx";

export const PAGES: readonly Page[] = [
	...HOME_PAGES,
	...ACCESS_PAGES,
	...PASSKEYS_PAGES,
	...SIGN_IN_PAGES,
	...PUBLISHER_PAGES,
	...OPERATOR_PAGES,
];

/** What is nowhere, whatever is asked for. */
const NOWHERE = page({
	method: "GET",
	path: "/console",
	needs: "nobody",
	title: "Not found",
	handle: () => {
		throw new HttpError(404, { error: "Not found" });
	},
});

export function consoleRoutes(deps: ConsoleDeps): Hono {
	const { host } = new URL(deps.consoleUrl);
	const app = new Hono();
	const onOwnHost = async (c: Parameters<Parameters<typeof app.use>[1]>[0], next: () => Promise<void>) => {
		const url = new URL(c.req.url);
		if (url.host === host) return next();
		// The address may be that of a one-time link.
		for (const [name, value] of Object.entries(CONSOLE_HEADERS)) c.header(name, value);
		if (c.req.method !== "GET" && c.req.method !== "HEAD") return c.notFound();
		return c.redirect(deps.consoleUrl + url.pathname + url.search, 307);
	};
	app.use("/console", onOwnHost);
	app.use("/console/*", onOwnHost);
	for (const each of PAGES) app.on(each.method, each.path, (c) => answerPage(deps, PAGES, each, c));
	app.all("/console", (c) => answerPage(deps, PAGES, NOWHERE, c));
	app.all("/console/*", (c) => answerPage(deps, PAGES, NOWHERE, c));
	return app;
}
