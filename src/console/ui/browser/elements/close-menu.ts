/** The menu that lies over a narrow page closes once the focus has left it: it would hide what has the focus. */
export function closeMenuLeft(root: Document): void {
	const menu = root.getElementById("menu");
	menu?.addEventListener("focusout", ({ relatedTarget: next }) => {
		if (!(next instanceof Element) || menu.contains(next) || next.getAttribute("popovertarget") === menu.id) return;
		if (menu.matches(":popover-open")) menu.hidePopover();
	});
}
