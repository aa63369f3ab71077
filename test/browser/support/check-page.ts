/** What holds for every page, whatever it is about. */
import type { Page, Response } from "playwright-core";
import { checkAccessibility } from "./check-accessibility.ts";
import { findUnseenFocus } from "./check-focus.ts";
import { walkByKeyboard } from "./check-keyboard.ts";

/**
 * What is wrong with a page that was opened after `prepareAxe`, a line each: accessibility, the keyboard, and what it shows by JavaScript
 * alone.
 * @param answer that has brought it
 */
export async function checkPage(page: Page, answer: Response | null): Promise<string[]> {
	// Of what stands around every page, keyboard.test.ts walks once.
	const faults = [...(await walkByKeyboard(page, "main")), ...(await checkAccessibility(page)), ...(await findUnseenFocus(page))];
	if ((await page.locator("h1").count()) !== 1) faults.push("there is not one h1");
	const written = squeeze((await answer?.text())?.replaceAll(/<[^>]*>/g, "") ?? "");
	const added = (await readTexts(page)).filter((text) => !written.includes(squeeze(text)));
	if (added.length > 0) faults.push(`without JavaScript it does not show ${JSON.stringify(added)}`);
	const { pathname } = new URL(page.url());
	return faults.map((fault) => `${pathname}: ${fault}`);
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** A text as it can be found, however it is broken into lines and whatever its style makes of its letters. */
function squeeze(text: string): string {
	return text
		.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
		.replaceAll(/\s+/g, "")
		.toLowerCase();
}

/** The texts that a page shows, but for those of buttons: the ones that need JavaScript are made by it. */
function readTexts(page: Page): Promise<string[]> {
	return page.locator("main").evaluate((main: HTMLElement) => {
		const buttons = new Set([...main.querySelectorAll("button")].map((button) => button.innerText));
		return main.innerText.split(/[\n\t]+/).filter((text) => !buttons.has(text));
	});
}

/** Where the links of a page lead on this host, without query. */
export function readLinks(page: Page): Promise<string[]> {
	return page.evaluate(() =>
		[...document.querySelectorAll<HTMLAnchorElement>("a[href]")]
			.filter(({ origin }) => origin === location.origin)
			.map(({ pathname }) => pathname),
	);
}
