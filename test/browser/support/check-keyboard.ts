import type { Page } from "playwright-core";

/** A date has parts, and the focus goes through each. */
const MAX_PARTS = 5;

declare global {
	interface Window {
		/** Numbers of what has had the focus, in the order of it. */
		focusOrder?: number[];
	}
}

/** Numbers what takes part in the order of the keyboard, from 0, and notes which of it gets the focus. @returns how many there are */
function number(page: Page, within: string): Promise<number> {
	return page.evaluate((within) => {
		const root = document.querySelector<HTMLElement>(within) ?? document.body;
		// Nothing of a page has the focus first, or its content has, as where it was skipped to.
		root.focus();
		const used = root.querySelectorAll<HTMLElement>("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']");
		const reached = [...used].filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.matches(":disabled"));
		for (const [at, element] of reached.entries()) element.dataset.at = String(at);
		const order: number[] = [];
		window.focusOrder = order;
		document.addEventListener("focusin", ({ target }) => {
			const at = target instanceof HTMLElement ? Number(target.dataset.at) : Number.NaN;
			if (!Number.isNaN(at) && at !== order.at(-1)) order.push(at);
		});
		return reached.length;
	}, within);
}

/** Goes through a page that was just opened, or a part of it, by Tab alone. @returns a line where it does not reach everything, each in its order */
export async function walkByKeyboard(page: Page, within: "body" | "main"): Promise<string[]> {
	const count = await number(page, within);
	let order: readonly number[] = [];
	// No more presses than are left: beyond the last of all, the focus leaves the page.
	for (let presses = 0; order.length < count && presses < MAX_PARTS * count; presses += count - order.length) {
		await Promise.all(Array.from({ length: count - order.length }, () => page.keyboard.down("Tab")));
		order = await page.evaluate(() => window.focusOrder ?? []);
	}
	await page.keyboard.up("Tab");
	const missed = Array.from({ length: count }, (_, at) => at).find((at) => order[at] !== at);
	if (missed === undefined) return [];
	const [wanted, got] = await page.evaluate(
		(places) => places.map((at) => document.querySelector(`[data-at="${at}"]`)?.outerHTML.slice(0, 120) ?? "nothing"),
		[missed, order[missed] ?? -1],
	);
	return [`by Tab, ${got} comes where ${wanted} should, as number ${missed} of ${count}`];
}
