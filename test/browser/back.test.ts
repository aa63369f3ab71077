/** What the browser's button back does after a form whose answer was a page. */
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { served } from "./support/served.ts";
import { makeLink } from "./support/sign-in.ts";

async function seeWhatChanges(page: Page): Promise<void> {
	await page.goto("/console/operator/campaigns/5004");
	await page.getByText("Change its fields…").click();
	await page.locator("input[name=epc]").fill("0.4300");
	await page.getByRole("button", { name: "Show what changes" }).click();
	await page.getByRole("button", { name: "Change it" }).waitFor();
}

describe("browser: the button back", () => {
	test("shows what a change would come to once more, with what was typed, and sends nothing again", async ({ openPage }) => {
		const page = await openPage({ as: "operator" });
		await seeWhatChanges(page);
		await page.getByRole("link", { name: "Audit" }).click();
		await page.waitForURL("**/audit");
		const protocol = await page.context().newCDPSession(page);
		await protocol.send("Network.enable");
		const fromCache: unknown[] = [];
		protocol.on("Network.responseReceived", ({ type, response }) => type === "Document" && fromCache.push(response.fromDiskCache));
		await page.goBack();
		await page.getByRole("button", { name: "Change it" }).waitFor();
		expect(await page.locator("input[name=epc]").inputValue()).toBe("0.4300");
		expect(fromCache).toEqual([true]);
	});

	test("shows a form that was refused once more, with its fault", async ({ openPage }) => {
		const page = await openPage({ as: "publisher" });
		await page.goto("/console/no-bids");
		await page.getByLabel("Request", { exact: true }).fill("no request");
		await page.getByRole("button", { name: "Try it" }).click();
		await page.getByText("The request was not tried").waitFor();
		await page.getByRole("link", { name: "Brands" }).click();
		await page.goBack();
		await page.getByText("The request was not tried").waitFor();
		expect(await page.getByLabel("Request", { exact: true }).inputValue()).toBe("no request");
	});

	test("shows nothing of it once one has signed out", async ({ openPage }) => {
		// In a session of its own: other tests are in theirs meanwhile.
		const page = await openPage({ as: null });
		await page.goto(await makeLink(served, { staff: "Who goes back", role: "manager" }));
		await page.locator("main").getByRole("button").click();
		await page.waitForURL("**/console/operator");
		await seeWhatChanges(page);
		await page.getByRole("button", { name: "Sign out" }).click();
		await page.waitForURL("**/console/sign-in?**");
		await page.goBack().catch(() => undefined);
		expect(await page.getByRole("button", { name: "Change it" }).count()).toBe(0);
	});
});
