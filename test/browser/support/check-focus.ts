import type { Page } from "playwright-core";

/**
 * What can be used but not by keyboard alone: elements that are told apart from others by no outline or border once they have the focus,
 * and ones that are put out of their order. A line each.
 */
export function findUnseenFocus(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const USED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]:not([tabindex='-1'])";
		const LOOKS = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderColor", "backgroundColor"] as const;
		const looksOf = (element: Element) => {
			const style = getComputedStyle(element);
			return LOOKS.map((name) => style[name]).join();
		};
		const faults: string[] = [];
		for (const element of document.querySelectorAll<HTMLElement>(USED)) {
			const name = `${element.tagName.toLowerCase()} "${element.innerText.trim() || element.getAttribute("name")}"`;
			if (element.tabIndex > 0) faults.push(`${name} is put out of its order by tabindex`);
			if (!element.checkVisibility({ visibilityProperty: true }) || element.matches(":disabled")) continue;
			const before = looksOf(element);
			element.focus({ preventScroll: true });
			if (document.activeElement !== element) faults.push(`${name} takes no focus`);
			else if (looksOf(element) === before) faults.push(`${name} does not show that it has the focus`);
			element.blur();
		}
		return [...new Set(faults)];
	});
}
