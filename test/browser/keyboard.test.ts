import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import type { Role } from "./support/sign-in.ts";

/** Pages with what others have, too: a menu, filters, a table, forms. */
const PAGES: readonly [Role, string][] = [
	["publisher", "/console/earnings"],
	["operator", "/console/operator"],
];
const MAX_PARTS = 5;
const SKIP = "Skip to the content";

/** Numbers all that takes part in the order of the keyboard, from 0. @returns how many there are */
function number(page: Page): Promise<number> {
	return page.evaluate(() => {
		const used = document.querySelectorAll<HTMLElement>(
			"a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']",
		);
		const reached = [...used].filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.matches(":disabled"));
		for (const [at, element] of reached.entries()) element.dataset.at = String(at);
		return reached.length;
	});
}

const readFocused = (page: Page) => page.evaluate(() => Number((document.activeElement as HTMLElement).dataset.at));

describe("browser: by keyboard alone", () => {
	test.for(PAGES)("the %s reaches everything on %s in its order, and skips to the content", async ([role, path], { openPage }) => {
		const page = await openPage({ as: role });
		await page.goto(path);
		const count = await number(page);
		expect(count).toBeGreaterThan(3);
		const order: number[] = [];
		// A date has parts, and the focus goes through each.
		for (let presses = 0; order.length < count && presses < MAX_PARTS * count; presses++) {
			await page.keyboard.press("Tab");
			const focused = await readFocused(page);
			if (focused !== order.at(-1)) order.push(focused);
		}
		expect(order).toEqual(Array.from({ length: count }, (_, at) => at));

		await page.goto(path);
		await page.keyboard.press("Tab");
		expect(await page.evaluate(() => (document.activeElement as HTMLElement).innerText)).toBe(SKIP);
		await page.keyboard.press("Enter");
		expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
	});
});
