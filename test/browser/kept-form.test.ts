import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";

describe("browser: a form that was half written when the session ended", () => {
	test("is kept, and sent again once someone is signed in, without JavaScript", async ({ openPage }) => {
		const page = await openPage({ as: "publisher", javaScript: false });
		await page.goto("/console/claims");
		await page.getByLabel("Click, transaction or order id").fill("kept-click");
		await page.locator("textarea[name=text]").fill('Order 79:\n"bought" & paid.');
		const context = page.context();
		const cookies = await context.cookies();
		await context.clearCookies();
		const send = page.getByRole("button", { name: "Look it up, and claim" });
		await send.click();
		expect(await page.locator("main").innerText()).toContain("Nothing was saved.");
		const again = page.getByRole("button", { name: "Send it again" });
		await again.click();
		const [tab] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Sign in in another tab" }).click()]);
		expect(new URL(tab.url()).pathname).toBe("/console/sign-in");
		await context.addCookies(cookies);
		await again.click();
		expect(await page.locator("main").innerText()).toContain("No click or sale of this id is known.");
		expect(await page.locator("textarea[name=text]").inputValue()).toBe('Order 79:\n"bought" & paid.');
	});
});
