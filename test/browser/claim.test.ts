import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click } from "./support/seed.ts";
import { served } from "./support/served.ts";

describe("browser: a sale that a publisher misses", () => {
	test("is claimed, answered, granted and earned, without JavaScript", async ({ openPage }) => {
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

		await operator.getByLabel("Words to the publisher").fill("The shop has confirmed it.");
		await operator.getByLabel("By").selectOption("amount");
		await operator.getByLabel("Day").fill(new Date().toISOString().slice(0, 10));
		await operator.getByLabel("Amount, USD").fill("3.21");
		await operator.getByRole("button", { name: "Grant", exact: true }).click();
		await operator.getByText("The shop has confirmed it.").waitFor();

		await publisher.reload();
		expect(await publisher.locator("main").innerText()).toMatch(/granted[\s\S]*The shop has confirmed it\./);
		await publisher.goto("/console/earnings?group=brand");
		expect(await publisher.getByRole("row").filter({ hasText: "Amounts of the operator's" }).innerText()).toContain("3.21");
	});
});
