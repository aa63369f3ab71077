/** What holds for every page, whatever it is about. */
import type { Page } from "playwright-core";
import { checkAccessibility, prepareAxe } from "./check-accessibility.ts";
import { findUnseenFocus } from "./check-focus.ts";
import type { OpenPage } from "./open-page.ts";
import type { Role } from "./sign-in.ts";

export type Windows = {
	page: Page;
	/** The same person's, without JavaScript. */
	plain: Page;
};

/** Two windows that go from page to page, for {@link checkPage}. */
export async function openWindows(openPage: OpenPage, as: Role | null): Promise<Windows> {
	const page = await openPage({ as });
	await prepareAxe(page);
	return { page, plain: await openPage({ as, javaScript: false }) };
}

/** What is wrong with the page that is open, a line each: accessibility, the keyboard, and what it shows without JavaScript. */
export async function checkPage({ page, plain }: Windows): Promise<string[]> {
	const faults = [...(await checkAccessibility(page)), ...(await findUnseenFocus(page))];
	if ((await page.locator("h1").count()) !== 1) faults.push("there is not one h1");
	await plain.goto(page.url());
	const shown = new Set((await readLines(plain)).map(maskDigits));
	const missing = (await readLines(page)).filter((line) => !shown.has(maskDigits(line)));
	if (missing.length > 0) faults.push(`without JavaScript it does not show ${JSON.stringify(missing)}`);
	const { pathname } = new URL(page.url());
	return faults.map((fault) => `${pathname}: ${fault}`);
}

/** The time goes on between two looks at a page, and counts grow. */
function maskDigits(line: string): string {
	return line.replaceAll(/\d+/g, "#");
}

/** What a page shows, a line each, but for buttons: those that need JavaScript are made by it. */
function readLines(page: Page): Promise<string[]> {
	return page.locator("main").evaluate((main: HTMLElement) => {
		const buttons = new Set([...main.querySelectorAll("button")].map((button) => button.innerText));
		return main.innerText.split("\n").filter((line) => !buttons.has(line));
	});
}

/** Where the links of a page lead on this host, without query. */
export function readLinks(page: Page): Promise<string[]> {
	return page
		.getByRole("link")
		.evaluateAll((links) =>
			(links as HTMLAnchorElement[]).filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname),
		);
}
