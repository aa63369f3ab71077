import { describe, expect } from "vitest";
import { test } from "./support/open-page.ts";
import { served } from "./support/served.ts";
import { makeLink } from "./support/sign-in.ts";

describe("browser: signing in by a one-time link", () => {
	test("needs no JavaScript, works once, and leads back out", async ({ openPage }) => {
		const link = await makeLink(served, { publisher: "bonus-club", name: "Nia" });
		const page = await openPage({ as: null, javaScript: false });
		await page.goto("/console/earnings?group=brand");
		expect(new URL(page.url()).pathname).toBe("/console/sign-in");
		await page.goto(link);
		await page.getByRole("button", { name: "Sign in" }).click();
		expect(new URL(page.url()).pathname).toBe("/console/earnings");
		await page.goto(link);
		expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("This link does not open any more");
		await page.getByRole("button", { name: "Sign out" }).click();
		await page.getByText("You are signed out.").waitFor();
		await page.goto("/console/earnings");
		expect(new URL(page.url()).pathname).toBe("/console/sign-in");
	});

	test("is nothing that another site can press", async ({ openPage }) => {
		const page = await openPage({ as: "publisher" });
		const body = `<form method="post" action="${served.url}/console/sign-out"><button>Go</button></form>`;
		await page.route("http://another.example/", (route) => route.fulfill({ contentType: "text/html", body }));
		await page.goto("http://another.example/");
		const answer = page.waitForResponse((response) => response.url().endsWith("/sign-out"));
		await page.getByRole("button").click();
		expect((await answer).status()).toBe(403);
		await page.goto("/console/earnings");
		expect(new URL(page.url()).pathname).toBe("/console/earnings");
	});
});
