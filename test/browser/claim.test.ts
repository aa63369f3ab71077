import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click } from "./support/seed.ts";
import { served } from "./support/served.ts";

describe("browser: a sale that a publisher misses", () => {
	test("is claimed, and answered, without JavaScript", async ({ openPage }) => {
		await click(await bid(served.url, { clickid: "claimed-click" }));
		const publisher = await openPage({ as: "publisher", javaScript: false });
		const claim = async () => {
			await publisher.goto("/console/claims");
			await publisher.getByLabel("Click, transaction or order id").fill("claimed-click");
			await publisher.locator("textarea[name=text]").fill("Order 78 was confirmed.");
			await publisher.getByRole("button", { name: "Look it up, and claim" }).click();
			return publisher.getByText("Your claim is open").count();
		};
		// The click is told of by a queue.
		await expect.poll(claim, { interval: 500 }).toBe(1);

		const operator = await openPage({ as: "operator", javaScript: false });
		await operator.goto("/console/operator/claims?state=open");
		await operator.getByRole("link", { name: "claimed-click" }).click();
		await operator.getByLabel("Answer", { exact: true }).fill("Which shop?");
		await operator.getByRole("button", { name: "Answer", exact: true }).click();

		await publisher.goto("/console/claims");
		const row = publisher.getByRole("row").filter({ hasText: "claimed-click" });
		expect(await row.innerText()).toContain("answered");
		await row.getByRole("link").click();
		expect(await publisher.locator("main").innerText()).toContain("Which shop?");
	});
});
