import { describe, expect } from "vitest";
import { walkByKeyboard } from "./support/check-keyboard.ts";
import { test } from "./support/open-page.ts";

const SKIP = "Skip to the content";

describe("browser: by keyboard alone", () => {
	test("everything is reached in its order, the content is skipped to, and a page that catches the focus, or changes its order, is found out", async ({
		openPage,
	}) => {
		const page = await openPage({ as: "publisher" });
		await page.goto("/console/earnings");
		expect(await walkByKeyboard(page, "body")).toEqual([]);
		await page.reload();
		await page.keyboard.press("Tab");
		expect(await page.evaluate(() => (document.activeElement as HTMLElement).innerText)).toBe(SKIP);
		await page.keyboard.press("Enter");
		expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");

		await page.goto("/console/settings");
		await page.evaluate(() => {
			for (const link of document.querySelectorAll<HTMLElement>("nav a"))
				link.addEventListener("keydown", (event) => event.key === "Tab" && event.preventDefault());
		});
		expect(await walkByKeyboard(page, "body")).toEqual([expect.stringContaining("by Tab, nothing comes where")]);
		await page.goto("/console/links");
		await page.evaluate(() => document.querySelector("main")?.querySelector<HTMLElement>("textarea, input")?.setAttribute("tabindex", "1"));
		expect(await walkByKeyboard(page, "body")).toHaveLength(1);
	});
});
