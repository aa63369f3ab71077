import { describe, expect } from "vitest";
import { NARROW, readWidth } from "./support/check-accessibility.ts";
import { checkPage, openWindows, readLinks } from "./support/check-page.ts";
import { test } from "./support/open-page.ts";

describe("browser: the front door and the guides", () => {
	test("are accessible, light and dark, wide and at 320 px, by keyboard and without JavaScript", async ({ openPage }) => {
		const windows = await openWindows(openPage, null);
		const { page } = windows;
		await page.goto("/");
		const faults = await checkPage(windows);
		await page.getByRole("link", { name: "Guides" }).first().click();
		await page.waitForURL("**/docs/publishers");
		faults.push(...(await checkPage(windows)));
		const guides = new Set((await readLinks(page)).filter((path) => path.startsWith("/docs/publishers/")));
		expect(guides.size).toBeGreaterThan(5);
		// What they are made of is alike: one of them has to do for what takes long.
		await page.goto("/docs/publishers/callbacks");
		faults.push(...(await checkPage(windows)));
		await page.setViewportSize({ width: NARROW, height: 900 });
		for (const guide of guides) {
			await page.goto(guide);
			const width = await readWidth(page);
			if (width > NARROW) faults.push(`${guide} is ${width} px wide`);
		}
		expect(faults).toEqual([]);
	});
});
