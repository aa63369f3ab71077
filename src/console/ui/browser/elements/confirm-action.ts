/**
 * <confirm-action> around a <details> with a form in it: what cannot be taken back is asked for in a dialog. Without this, the form
 * unfolds on the page.
 */
class ConfirmAction extends HTMLElement {
	connectedCallback(): void {
		const details = this.querySelector("details");
		const summary = this.querySelector("summary");
		const form = this.querySelector("form");
		if (details === null || summary === null || form === null || this.querySelector("dialog") !== null) return;
		const dialog = document.createElement("dialog");
		const question = form.querySelector("p");
		if (question !== null) {
			question.id ||= `question-${crypto.randomUUID()}`;
			dialog.setAttribute("aria-labelledby", question.id);
		}
		const cancel = document.createElement("button");
		cancel.type = "button";
		cancel.className = "quiet";
		cancel.textContent = "Cancel";
		cancel.addEventListener("click", () => dialog.close());
		form.querySelector(".buttons")?.append(cancel);
		// Enter twice is not to do what cannot be taken back; where there is something to fill in, that comes first.
		const asksOnly = this.classList.contains("danger") && form.querySelector("input:not([type=hidden]), select, textarea") === null;
		const open = () => {
			dialog.showModal();
			if (asksOnly) cancel.focus();
		};
		dialog.addEventListener("close", () => summary.focus());
		dialog.append(form);
		this.append(dialog);
		summary.setAttribute("aria-haspopup", "dialog");
		summary.addEventListener("click", (event) => {
			event.preventDefault();
			open();
		});
		// A form that came back with faults stands open.
		if (details.open) {
			details.open = false;
			open();
		}
	}
}

customElements.define("confirm-action", ConfirmAction);
