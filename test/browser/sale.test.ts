import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click, postback } from "./support/seed.ts";
import { readReceived, runCron, served } from "./support/served.ts";

/** Callbacks of a transaction that have arrived. */
async function countCallbacks(txnid: string): Promise<number> {
	// A sale that has outrun its click waits for it until the minutely work.
	await runCron();
	return (await readReceived()).filter((path) => path.includes(`txnid=${txnid}&`)).length;
}

describe("browser: from a bid to what it has earned", () => {
	test("a sale is found in the earnings and among the conversions, and told again, without JavaScript", async ({ openPage }) => {
		const hash = await click(await bid(served.url, { clickid: "flow-click", subid: "flow-source" }));
		await postback(served.url, { txnid: "FLOW-1", cid: hash, payout: "10.00", status: "approved" });
		await expect.poll(() => countCallbacks("FLOW-1"), { interval: 500 }).toBe(1);

		const page = await openPage({ as: "publisher", javaScript: false });
		await page.goto("/console");
		await page.getByRole("link", { name: "By source" }).click();
		const row = page.getByRole("row").filter({ hasText: "flow-source" });
		expect(await row.innerText()).toContain("8.00");

		await page.getByRole("link", { name: "Conversions", exact: true }).click();
		// What a log is asked for stands where it is seen without scrolling.
		const earned = await page.getByRole("columnheader", { name: "Earned" }).boundingBox();
		expect((earned?.x ?? Infinity) + (earned?.width ?? 0)).toBeLessThan(1_280);
		await page.getByLabel("Any id").fill("flow-click");
		await page.getByLabel("Any id").press("Enter");
		await page.getByRole("link", { name: "FLOW-1" }).click();
		expect(await page.locator("main").innerText()).toMatch(/approved[\s\S]*8\.00/);

		await page.getByRole("link", { name: "what you were told of it" }).click();
		await page
			.getByRole("row")
			.filter({ hasText: "FLOW-1" })
			.getByRole("button", { name: /^Send again/ })
			.click();
		await page.getByText("Sent again: 1.").waitFor();
		await expect.poll(() => countCallbacks("FLOW-1"), { interval: 500 }).toBe(2);
	});
});
