/** The console's pages, all that its table has. */
import type { Page, Response } from "playwright-core";
import { describe, expect } from "vitest";
import { prepareAxe } from "./check-accessibility.ts";
import { checkPage, readLinks } from "./check-page.ts";
import { test } from "./open-page.ts";
import { served } from "./served.ts";
import type { Role } from "./sign-in.ts";

/** 422 is how a page says that it has to be asked for something. */
const FINE: readonly unknown[] = [200, 422];
/** What is there only with a variable that the service of these tests does not have. */
const NOT_SET_UP: readonly string[] = ["/console/sign-in/access"];

/** For all pages of a role, on a machine that is busy. */
const ALL_MS = 300_000;

/** Whose test opens a page: those of anyone are opened with the publishers'. */
function isOf(role: Role | null, needs: (typeof served.pages)[number]["needs"]): boolean {
	if (typeof needs === "string") return role === (needs === "nobody" ? null : "publisher");
	return role === ("staff" in needs ? "operator" : "publisher");
}

/** Whether an address is one of a path with parameters in it. */
function fits(path: string, address: string): boolean {
	return new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(address);
}

/**
 * Opens pages without parameters, then those with: at addresses to which the others have led.
 * @param look told of each that shows itself, and does not lead to another
 */
async function openAll(page: Page, paths: readonly string[], look: (answer: Response | null) => Promise<void>): Promise<void> {
	const links = new Set<string>(served.links);
	const open = async (address: string) => {
		const answer = await page.goto(address);
		expect(NOT_SET_UP.includes(address) ? [404] : FINE, address).toContain(answer?.status());
		if (new URL(page.url()).pathname !== address) return;
		await look(answer);
		for (const link of await readLinks(page)) links.add(link);
	};
	const fixed = paths.filter((path) => !path.includes(":"));
	for (const path of fixed) await open(path);
	const addressOf = (path: string) => [...links].find((link) => fits(path, link) && !fixed.includes(link));
	let left = paths.filter((path) => path.includes(":"));
	while (left.length > 0) {
		// A page with parameters may lead to others.
		const next = left.find((path) => addressOf(path) !== undefined);
		const address = next === undefined ? undefined : addressOf(next);
		if (address === undefined)
			throw new Error(`No page leads to one of ${left.join(", ")}: put into test/browser/support/seed.ts what does`);
		await open(address);
		left = left.filter((path) => path !== next);
	}
	const leadsNowhere = [...links].filter((link) => link.startsWith("/console") && !served.pages.some(({ path }) => fits(path, link)));
	expect(leadsNowhere, "links to no page").toEqual([]);
}

export function describePages(role: Role | null): void {
	const paths = served.pages.filter(({ needs, isData }) => !isData && isOf(role, needs)).map(({ path }) => path);

	describe(`browser: every page of ${role === null ? "nobody" : `${role}s`}`, () => {
		test("is accessible, light and dark, wide and at 320 px, by keyboard and without JavaScript", { timeout: ALL_MS }, async ({
			openPage,
		}) => {
			const page = await openPage({ as: role });
			await prepareAxe(page);
			const faults: string[] = [];
			await openAll(page, paths, async (answer) => {
				faults.push(...(await checkPage(page, answer)));
			});
			expect(faults).toEqual([]);
		});
	});
}
