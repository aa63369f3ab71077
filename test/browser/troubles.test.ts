import { describe, expect } from "vitest";
import { connectBrowser, noteTroubles, test } from "./support/open-page.ts";
import { served } from "./support/served.ts";

describe("browser: the API reference", () => {
	test("loads with no complaint of the browser's; an error of a script, a missing file and what the policy refuses are complaints", async () => {
		const context = await (await connectBrowser()).newContext({ baseURL: served.url });
		const troubles: string[] = [];
		noteTroubles(context, troubles);
		const page = await context.newPage();
		await page.goto("/no-such-page");
		await page.goto("/docs");
		await page.getByText("/api/postback/").first().waitFor();
		expect(troubles).toEqual([]);
		const uncaught = context.waitForEvent("weberror");
		const missing = context.waitForEvent("requestfinished", (request) => request.url().endsWith("/no-such-picture"));
		await page.evaluate(() => {
			document.body.append(Object.assign(document.createElement("script"), { textContent: "1" }));
			document.body.append(Object.assign(document.createElement("img"), { src: "/no-such-picture" }));
			setTimeout(() => {
				throw new Error("of a script");
			});
		});
		await Promise.all([uncaught, missing]);
		await expect
			.poll(() => troubles.toSorted())
			.toEqual([
				expect.stringContaining("Executing inline script violates"),
				expect.stringMatching("404 .*/no-such-picture"),
				expect.stringContaining("Error: of a script"),
			]);
		await context.close();
	});
});
