/** What is where, for those who have their browser choose the colours, as by Windows' contrast themes. */
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";

describe("browser: in forced colours", () => {
	test("the tab and the page of the menu that are open look otherwise than the others", async ({ openPage }) => {
		const page = await openPage({ as: "publisher" });
		for (const colorScheme of ["light", "dark"] as const) {
			await page.emulateMedia({ forcedColors: "active", colorScheme });
			await page.goto("/console/earnings");
			const looks = await page.evaluate(() => {
				const ground = getComputedStyle(document.documentElement).backgroundColor;
				const hasLine = (link: Element) => {
					const { borderBottomColor, borderBottomWidth, textDecorationLine } = getComputedStyle(link);
					return textDecorationLine === "underline" || (borderBottomWidth !== "0px" && borderBottomColor !== ground);
				};
				const lined = (links: string) => [...document.querySelectorAll(links)].filter(hasLine).map((link) => link.textContent);
				return [lined(".tabs a"), lined(".menu a")];
			});
			expect(looks).toEqual([["By day"], ["Earnings"]]);
		}
	});
});
