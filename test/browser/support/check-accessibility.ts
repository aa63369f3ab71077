/** axe on a page: https://github.com/dequelabs/axe-core. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2 AA is all of these. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** What of it is about colours, which are all that a page's dark scheme changes. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
/** The width that pages have to do with, in CSS pixels. */
export const NARROW = 320;

declare global {
	interface Window {
		axe?: typeof axe;
	}
}

/** How wide a page is, in CSS pixels: wider than its window, it scrolls sideways. */
export function readWidth(page: Page): Promise<number> {
	return page.evaluate(() => document.documentElement.scrollWidth);
}

/** Puts axe into every document that the page loads from now on: it costs less than handing it over for each. */
export async function prepareAxe(page: Page): Promise<void> {
	await page.addInitScript({ content: AXE });
}

/** Rows of a table are alike: it is those past this number that would take most of the time. */
const MAX_ROWS = 12;

/** What axe finds against WCAG 2.2 AA, or some rules of it, in the page as it is, a line a rule; empty where all is well. */
function runAxe(page: Page, rules: readonly string[] | null): Promise<string[]> {
	return page.evaluate(
		async ([tags, rules, rows]) => {
			if (window.axe === undefined) throw new Error("prepareAxe was not called before the page was opened");
			const context = { exclude: [[`tbody > tr:nth-child(n + ${rows + 1})`]] };
			const { violations } = await window.axe.run(context, {
				runOnly: rules === null ? tags : { type: "rule", values: [...rules] },
				resultTypes: ["violations"],
				preload: false,
			});
			return violations.map(({ id, nodes }) => {
				const [first] = nodes;
				return `${id}, ${nodes.length} times, first at ${first?.target.join(" ")}: ${first?.failureSummary?.replaceAll(/\s+/g, " ")}`;
			});
		},
		[TAGS, rules, MAX_ROWS] as const,
	);
}

/** Texts that run out of the box that they stand in, over what is beside it; and ids that have no room. */
function findOverflowing(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const boxes = [
			...document.querySelectorAll<HTMLElement>("main dd, main dt, main p, main li, main td, main th, main label, main h1, main h2"),
		];
		const over = boxes.filter(
			(box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX === "visible" && box.innerText !== "",
		);
		// An id of a few letters a line is not read.
		const squeezed = [...document.querySelectorAll<HTMLElement>("main :is(td, th) code")].filter((code) => {
			const { width, height } = code.getBoundingClientRect();
			return height > 3 * width && code.innerText.length > 6;
		});
		return [
			...over.map((box) => `${box.tagName.toLowerCase()} "${box.innerText}" runs out of its box`),
			...squeezed.map((code) => `code "${code.innerText}" has no room`),
		];
	});
}

/**
 * The page in light and in dark, at its width and at {@link NARROW}: what axe finds, what runs out of its box, and whether it then scrolls
 * sideways.
 */
export async function checkAccessibility(page: Page): Promise<string[]> {
	const viewport = page.viewportSize() ?? { width: 1_280, height: 900 };
	const faults: string[] = [];
	for (const width of [viewport.width, NARROW]) {
		await page.setViewportSize({ width, height: viewport.height });
		for (const [colorScheme, rules] of [
			["light", null],
			["dark", OF_COLOURS],
		] as const) {
			await page.emulateMedia({ colorScheme });
			faults.push(...(await runAxe(page, rules)).map((fault) => `${colorScheme}, ${width} px: ${fault}`));
		}
		faults.push(...(await findOverflowing(page)).map((fault) => `${width} px: ${fault}`));
	}
	const width = await readWidth(page);
	if (width > NARROW) faults.push(`the page is ${width} px wide in a window of ${NARROW}`);
	await page.emulateMedia({ colorScheme: "light" });
	await page.setViewportSize(viewport);
	return faults;
}
