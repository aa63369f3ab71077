/** What is still readable on a phone. */
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";

const WIDTH = 390;

describe("browser: the operator's home on a phone", () => {
	test("has each problem in lines that can be read, all of it to be seen without scrolling sideways", async ({ openPage }) => {
		const page = await openPage({ as: "operator", width: WIDTH });
		await page.goto("/console/operator");
		const table = page.getByRole("table", { name: "What needs a person" });
		const problems = await table.getByRole("rowheader").all();
		expect(problems.length).toBeGreaterThan(0);
		for (const problem of problems) {
			const box = await problem.boundingBox();
			expect(box?.width).toBeGreaterThanOrEqual(240);
			expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(WIDTH);
		}
	});
});
