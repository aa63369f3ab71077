import { describe, expect } from "vitest";
import { connectBrowser, noteTroubles, test } from "./support/open-page.ts";
import { served } from "./support/served.ts";

describe("browser: what fails every test", () => {
	test("is an error of a script, a missing file, and what the content security policy refuses", async () => {
		const context = await (await connectBrowser()).newContext({ baseURL: served.url });
		const troubles: string[] = [];
		noteTroubles(context, troubles);
		const page = await context.newPage();
		await page.goto("/no-such-page");
		await page.goto("/docs");
		await page.evaluate(() => {
			document.body.append(Object.assign(document.createElement("script"), { textContent: "1" }));
			document.body.append(Object.assign(document.createElement("img"), { src: "/no-such-picture" }));
			setTimeout(() => {
				throw new Error("of a script");
			});
		});
		await expect
			.poll(() => troubles)
			.toEqual(
				expect.arrayContaining([
					expect.stringContaining("Executing inline script violates"),
					expect.stringMatching("404 .*/no-such-picture"),
					expect.stringContaining("Error: of a script"),
				]),
			);
		expect(troubles.filter((trouble) => trouble.includes("no-such-page"))).toEqual([]);
		await context.close();
	});
});
