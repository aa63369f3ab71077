/** What is still readable on a phone. */
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click, postback } from "./support/seed.ts";
import { runCron, served } from "./support/served.ts";

const WIDTH = 390;

describe("browser: the operator's home on a phone", () => {
	test("has each problem in lines that can be read, all of it to be seen without scrolling sideways", async ({ openPage }) => {
		// More than is paid without a person's word.
		const hash = await click(await bid(served.url, { clickid: "narrow-click", subid: "narrow-source" }));
		await postback(served.url, { txnid: "NARROW-1", cid: hash, payout: "20000", status: "approved" });
		const page = await openPage({ as: "operator", width: WIDTH });
		const problems = page.getByRole("table", { name: "What needs a person" }).getByRole("rowheader");
		const held = problems.filter({ hasText: "pay more than their platform" });
		const isHeld = async () => {
			await runCron();
			await page.goto("/console/operator");
			return held.count();
		};
		await expect.poll(isHeld, { interval: 500 }).toBe(1);
		for (const problem of await problems.all()) {
			const box = await problem.boundingBox();
			expect(box?.width).toBeGreaterThanOrEqual(240);
			expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(WIDTH);
		}
	});
});
