import { describe, expect } from "vitest";
import { addAuthenticator } from "./support/authenticator.ts";
import { test } from "./support/open-page.ts";
import { served } from "./support/served.ts";
import { makeLink } from "./support/sign-in.ts";

async function callApi(key: string): Promise<number> {
	return (await fetch(`${served.url}/api/account`, { headers: { AccessKey: key } })).status;
}

describe("browser: from an invitation to a key", () => {
	test("an owner makes a passkey, signs in by it, issues a key that works, and revokes it by keyboard", async ({ openPage }) => {
		const page = await openPage({ as: null });
		await addAuthenticator(page);
		await page.goto(await makeLink(served, { publisher: "dealfinch", name: "Odile" }));
		await page.getByRole("button", { name: "Sign in" }).click();
		await page.goto("/console/passkeys");
		await page.getByLabel("What it is called").fill("Laptop");
		await page.getByRole("button", { name: "Make a passkey" }).click();
		await page.getByRole("row").filter({ hasText: "Laptop" }).waitFor();

		await page.getByRole("button", { name: "Sign out" }).click();
		await page.getByRole("button", { name: "Sign in by a passkey" }).click();
		await page.waitForURL("**/console/earnings");

		await page.getByRole("link", { name: "Settings" }).click();
		await page.getByRole("button", { name: /^Issue .* Access Key$/ }).click();
		const key = await page.locator("main copy-text code").innerText();
		expect(await callApi(key)).toBe(200);

		const id = await page.locator("main p code").innerText();
		await page.getByRole("link", { name: "Back to settings" }).click();
		const row = page.getByRole("row").filter({ hasText: id });
		const revoke = row.locator("summary");
		await revoke.focus();
		await page.keyboard.press("Enter");
		await page.getByRole("dialog").waitFor();
		// Enter once more takes nothing away.
		expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel");
		await page.keyboard.press("Escape");
		expect(await revoke.evaluate((summary) => document.activeElement === summary)).toBe(true);
		await page.keyboard.press("Enter");
		await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).press("Enter");
		await page.waitForURL("**/console/settings?done=revoked");
		expect(await row.count()).toBe(0);
		await expect.poll(() => callApi(key), { interval: 500 }).toBe(401);
	});
});
