/** A form that is being sent is not sent again by a second click. */
export function sendOnce(root: Document): void {
	const sent = new Set<HTMLFormElement>();
	root.addEventListener("submit", (event) => {
		const form = event.target;
		if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
		if (sent.has(form)) {
			event.preventDefault();
			return;
		}
		sent.add(form);
		event.submitter?.setAttribute("aria-busy", "true");
	});
	// A page that comes back by the browser's way back is as it was left.
	addEventListener("pageshow", () => {
		sent.clear();
		for (const busy of root.querySelectorAll("[aria-busy]")) busy.removeAttribute("aria-busy");
	});
}
