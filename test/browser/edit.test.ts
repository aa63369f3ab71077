import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { served } from "./support/served.ts";

const SHOW = "Show what changes";

/** What a click on shoes.example is paid to a publisher in a country, as a bid says it; null without a bid. */
async function readBid(publisherId: string, country: string): Promise<string | null> {
	const query = new URLSearchParams({ pubi: publisherId, bd: "shoes.example", cc: country });
	const answer = (await (await fetch(`${served.url}/serving-engine?${query}`)).json()) as { bid_amount?: string };
	return answer.bid_amount ?? null;
}

/** @param label of the button that shows first what changes */
async function save(page: Page, label: string): Promise<void> {
	await page.getByRole("button", { name: label }).click();
	await page.getByRole("button", { name: "Change it" }).click();
	await page.waitForURL("**?changed=1");
}

describe("browser: what staff changes", () => {
	test("changes the next bid; who has read it before is told, and overwrites nothing", async ({ openPage }) => {
		const [first, second] = [await openPage({ as: "operator" }), await openPage({ as: "operator", javaScript: false })];
		for (const page of [first, second]) {
			await page.goto("/console/operator/campaigns/5002");
			await page.getByText("Change its fields…").click();
			await page.locator("input[name=epc]").fill(page === first ? "0.6200" : "0.1000");
		}
		const before = await readBid("1001", "CA");
		expect(before).not.toBeNull();
		await save(first, SHOW);
		await second.getByRole("button", { name: SHOW }).click();
		expect(await second.getByRole("heading", { level: 1 }).innerText()).toBe("Changed meanwhile");
		await expect.poll(() => readBid("1001", "CA"), { interval: 500 }).toBe((2 * Number(before)).toFixed(4));
	});

	test("suspends a publisher, who gets no bids any more", async ({ openPage }) => {
		expect(await readBid("1002", "US")).not.toBeNull();
		const page = await openPage({ as: "operator", javaScript: false });
		await page.goto("/console/operator/publishers/bonus-club");
		await save(page, "Suspend…");
		await expect.poll(() => readBid("1002", "US"), { interval: 500 }).toBeNull();
	});
});
