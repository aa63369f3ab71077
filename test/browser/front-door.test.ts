import { describe, expect } from "vitest";
import { NARROW, prepareAxe, readWidth } from "./support/check-accessibility.ts";
import { checkPage, readLinks } from "./support/check-page.ts";
import { test } from "./support/open-page.ts";

describe("browser: the front door and the guides", () => {
	test("are accessible, light and dark, wide and at 320 px, by keyboard and without JavaScript", async ({ openPage }) => {
		const page = await openPage({ as: null });
		await prepareAxe(page);
		const faults: string[] = [];
		// The guides are made of the same: one of them, and their list, have to do for what takes long.
		for (const path of ["/", "/docs/publishers/callbacks", "/docs/publishers"]) {
			const answer = await page.goto(path);
			faults.push(...(await checkPage(page, answer)));
		}
		const guides = new Set((await readLinks(page)).filter((path) => path.startsWith("/docs/publishers/")));
		expect(guides.size).toBeGreaterThan(5);
		await page.setViewportSize({ width: NARROW, height: 900 });
		for (const guide of guides) {
			await page.goto(guide);
			const width = await readWidth(page);
			if (width > NARROW) faults.push(`${guide} is ${width} px wide`);
		}
		expect(faults).toEqual([]);
	});
});
