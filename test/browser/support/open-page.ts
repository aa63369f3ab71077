/** Pages for tests, each in a context of its own: whatever goes wrong in one fails the test, also where nobody looked at it. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { test as base, expect } from "vitest";
import { served } from "./served.ts";
import type { Role } from "./sign-in.ts";

/** On a machine that is busy with other tests. */
const ACTION_TIMEOUT_MS = 30_000;
const HEIGHT = 900;
const COOKIE = { domain: "localhost", path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;

type PageOptions = {
	/** Who is signed in; null for nobody. */
	as: Role | null;
	javaScript?: boolean;
	colorScheme?: "light" | "dark";
	/** Of the window, in CSS pixels. */
	width?: number;
};

export type OpenPage = (options: PageOptions) => Promise<Page>;

let connecting: Promise<Browser> | null = null;

/** The browser of this run; one connection for all files of a thread. */
export function connectBrowser(): Promise<Browser> {
	connecting ??= chromium.connect(served.browser);
	return connecting;
}

/**
 * Notes what the browser complains of: errors of scripts, what the content security policy refused, and files that are not there. That
 * the page itself answered 404 or 410 is for the test to judge.
 */
export function noteTroubles(context: BrowserContext, troubles: string[]): void {
	const navigated = new Set<string>();
	context.on("request", (request) => request.isNavigationRequest() && navigated.add(request.url()));
	context.on("console", (message) => {
		if (message.type() !== "error") return;
		const { url } = message.location();
		if (message.text().startsWith("Failed to load resource") && navigated.has(url)) return;
		troubles.push(`console: ${message.text()} (${url})`);
	});
	context.on("weberror", (error) => troubles.push(`uncaught: ${error.error().stack ?? error.error().message}`));
}

/** `openPage` opens pages, and closes them when the test has ended. */
export const test = base.extend<{ openPage: OpenPage }>({
	// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it that nothing else is needed.
	openPage: async ({}, use) => {
		const troubles: string[] = [];
		const contexts: BrowserContext[] = [];
		await use(async ({ as, javaScript = true, colorScheme = "light", width = 1_280 }) => {
			const browser = await connectBrowser();
			const context = await browser.newContext({
				baseURL: served.url,
				javaScriptEnabled: javaScript,
				colorScheme,
				reducedMotion: "reduce",
				viewport: { width, height: HEIGHT },
			});
			contexts.push(context);
			context.setDefaultTimeout(ACTION_TIMEOUT_MS);
			noteTroubles(context, troubles);
			if (as !== null) await context.addCookies(served.cookies[as].map((cookie) => ({ ...cookie, ...COOKIE })));
			return context.newPage();
		});
		await Promise.all(contexts.map((context) => context.close()));
		expect(troubles).toEqual([]);
	},
});
