/** What is still readable on a phone. */
import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { bid, click, postback } from "./support/seed.ts";
import { runCron, served } from "./support/served.ts";
import { makeLink } from "./support/sign-in.ts";

const WIDTH = 390;

describe("browser: the operator's home on a phone", () => {
	test("has each problem in lines that can be read, all of it to be seen without scrolling sideways", async ({ openPage }) => {
		// More than is paid without a person's word.
		const hash = await click(await bid(served.url, { clickid: "narrow-click", subid: "narrow-source" }));
		await postback(served.url, { txnid: "NARROW-1", cid: hash, payout: "20000", status: "approved" });
		const page = await openPage({ as: "operator", width: WIDTH });
		const problems = page.getByRole("table", { name: "What needs a person" }).getByRole("rowheader");
		const held = problems.filter({ hasText: "pays more than its platform" });
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

describe("browser: names of one long word", () => {
	const ID = `long-${"m".repeat(250)}`;
	const NAME = "W".repeat(64);

	test("push no page wider than its window, on a phone and beside the menu", async ({ openPage }) => {
		const network = await fetch(`${served.url}/operator/network`, {
			method: "POST",
			headers: { OperatorKey: served.operatorKey, "content-type": "application/json" },
			body: JSON.stringify({ publishers: [{ id: ID, name: NAME, revenue_share: 0.5, pricing_model: "CPC" }] }),
		});
		expect(network.status).toBe(200);
		const addressOfPublisher = `/console/operator/publishers/${ID}`;
		const owner = await openPage({ as: null, width: WIDTH });
		const staff = await openPage({ as: null, width: WIDTH });
		for (const [page, person] of [
			[owner, { publisher: ID, name: NAME }],
			[staff, { staff: NAME, role: "admin" }],
		] as const) {
			await page.goto(await makeLink(served, person));
			await page.getByRole("button", { name: "Sign in" }).click();
			await page.waitForURL(/console(?!\/sign-in)/);
		}
		const widthOf = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
		for (const width of [WIDTH, 1_280]) {
			await owner.setViewportSize({ width, height: 800 });
			for (const path of ["/console/earnings", "/console/settings", "/console/passkeys"]) {
				await owner.goto(path);
				expect(await owner.evaluate(widthOf), `${path} at ${width}`).toBe(0);
			}
			await staff.setViewportSize({ width, height: 800 });
			for (const path of [addressOfPublisher, "/console/operator/people", "/console/operator/audit"]) {
				await staff.goto(path);
				expect(await staff.evaluate(widthOf), `${path} at ${width}`).toBe(0);
			}
		}
		await staff.goto(addressOfPublisher);
		await staff.getByRole("button", { name: "Look at its console" }).click();
		await staff.waitForURL(/earnings/);
		expect(await staff.evaluate(widthOf)).toBe(0);
	});
});
