import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click, counted, postback } from "./support/seed.ts";
import { served } from "./support/served.ts";

describe("browser: a postback that came in wrong", () => {
	test("is found with what mends it, looked at, sent through and settled, without JavaScript", async ({ openPage }) => {
		const hash = await click(await bid(served.url, { clickid: "mended-click" }));
		await counted(served.url, "mended-click");
		await postback(served.url, { order: "MENDED-1", cid: hash, payout: "4.00", status: "approved" });

		const page = await openPage({ as: "operator", javaScript: false });
		await page.goto("/console/operator");
		await page.getByRole("link", { name: "Postback problems", exact: true }).click();
		const problem = page.getByRole("row").filter({ hasText: "MENDED-1" });
		await expect.poll(async () => (await page.reload()) && problem.count(), { interval: 500 }).toBe(1);
		await problem.getByRole("link", { name: "northwind" }).click();

		await page.getByText("Read fields from other parameters").click();
		await page.getByLabel("txnid stands in").fill("order");
		await page.getByRole("button", { name: "See what it comes to" }).click();
		await page.getByText("Nothing was sent through yet").waitFor();
		await page.getByRole("button", { name: "Send through" }).click();
		await page.getByText("They were sent through.").waitFor();

		await page.goto("/console/operator/conversions?stage=settled");
		const conversion = page.getByRole("row").filter({ hasText: "MENDED-1" });
		await expect.poll(async () => (await page.reload()) && conversion.count(), { interval: 500 }).toBe(1);
		expect(await conversion.innerText()).toMatch(/approved[\s\S]*4\.00[\s\S]*acme-media/);
	});
});
