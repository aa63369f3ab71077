import type { Page } from "playwright-core";
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

	test("what a form comes to, what is wrong in it, and that it was done are read first: each takes the focus", async ({ openPage }) => {
		const page = await openPage({ as: "operator" });
		const form = page.locator("form.stack", { has: page.locator("input[name=amount]") });
		const focusedOf = (one: Page) => one.evaluate(() => (document.activeElement as HTMLElement).innerText.split("\n")[0]);
		const focused = () => focusedOf(page);
		await page.goto("/console/operator/adjustments");
		await page.getByText("Add or take an amount", { exact: true }).click();
		for (const [label, value] of Object.entries({ Publisher: "dealfinch", Day: "2026-11-31", Amount: "1.50", Why: "goodwill" }))
			await form.getByLabel(label, { exact: true }).fill(value);
		const look = form.getByRole("button", { name: "See what it comes to" });
		await look.click();
		await expect.poll(focused).toContain("Nothing was adjusted");
		await form.getByLabel("Day", { exact: true }).fill("2026-11-20");
		await look.click();
		await expect.poll(focused).toBe("What it comes to");
		await page.getByRole("button", { name: "Do it" }).click();
		await expect.poll(focused).toContain("Done");

		const publisher = await openPage({ as: "publisher" });
		await publisher.goto("/console/claims");
		await publisher.getByLabel("Click, transaction or order id").fill("nobody's");
		await publisher.getByLabel("What happened").fill("It is missing.");
		await publisher.getByRole("button", { name: "Look it up, and claim" }).click();
		await expect.poll(() => focusedOf(publisher)).toContain("No click or sale of this id");

		await page.goto("/console/operator/campaigns/5003");
		await page.getByText("Change its fields…").click();
		await page.getByRole("button", { name: "Show what changes" }).click();
		await expect.poll(focused).toBe("What changes");
	});

	test("the menu that lies over a narrow page closes once the focus leaves it, and hides nothing that has it", async ({ openPage }) => {
		const page = await openPage({ as: "publisher", width: 320 });
		await page.goto("/console/settings");
		const menu = page.locator("#menu");
		const button = page.getByRole("button", { name: "Menu" });
		await button.focus();
		await page.keyboard.press("Enter");
		await page.keyboard.press("Tab");
		expect(await menu.evaluate((element) => element.contains(document.activeElement))).toBe(true);
		await menu.locator("a").last().focus();
		expect(await menu.isVisible()).toBe(true);
		await page.keyboard.press("Tab");
		await expect.poll(() => menu.isVisible()).toBe(false);
		expect(await page.evaluate(() => [document.activeElement?.tagName, document.activeElement?.closest("#menu")])).toEqual([
			expect.not.stringMatching("BODY"),
			null,
		]);
		await button.click();
		expect(await menu.isVisible()).toBe(true);
		await page.keyboard.press("Escape");
		expect(await menu.isVisible()).toBe(false);
	});
});
