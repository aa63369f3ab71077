/** What a page is on paper: nobody can scroll there. */
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";

/** Of an A4 page between its margins, in CSS pixels. */
const WIDTH = 718;

/** What is wider than its place, and cut off there. */
function readCut(page: Page): Promise<string[]> {
	return page.locator("main").evaluate((main) =>
		[...main.querySelectorAll<HTMLElement>("*")]
			.filter((element) => element.checkVisibility() && element.clientWidth > 1)
			.filter((element) => {
				const { right } = element.getBoundingClientRect();
				return (
					right > innerWidth + 1 || (getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1)
				);
			})
			.map(({ localName, className, innerText }) => `${localName}.${className} ${innerText.slice(0, 60)}`),
	);
}

describe("browser: on paper", () => {
	test("every column of a table is there, whatever its texts, and all of a link", async ({ openPage }) => {
		const staff = await openPage({ as: "operator", width: WIDTH });
		await staff.emulateMedia({ media: "print" });
		for (const path of ["conversions", "audit", "clicks", "campaigns", "traffic?group=day,publisher", "callbacks"]) {
			await staff.goto(`/console/operator/${path}`);
			expect(await readCut(staff), path).toEqual([]);
		}
		const publisher = await openPage({ as: "publisher", width: WIDTH });
		await publisher.emulateMedia({ media: "print" });
		for (const path of ["earnings", "clicks", "conversions", "callbacks", "brands/shoes.example", "settings"]) {
			await publisher.goto(`/console/${path}`);
			expect(await readCut(publisher), path).toEqual([]);
		}
	});
});
