import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";

describe("browser: the API reference", () => {
	test("shows the operations of publishers and of operators, and nothing of it is refused", async ({ openPage }) => {
		const page = await openPage();
		await page.goto("/docs");
		await page.getByText("/api/postback/").first().waitFor();
		await page.getByLabel("Select a definition").selectOption({ label: "Operator" });
		await page.getByText("/operator/network", { exact: true }).first().waitFor();
		expect(await page.title()).toBe("Clickbourse API");
	});
});
