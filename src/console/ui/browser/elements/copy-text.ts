/** <copy-text><code>…</code></copy-text>: a button that copies the text; a text that can be selected as a whole without it. */

/** How long a button says that it has copied, in milliseconds. */
const SAID_MS = 2_000;

class CopyText extends HTMLElement {
	connectedCallback(): void {
		const text = this.querySelector("code");
		if (text === null || this.querySelector("button") !== null) return;
		const button = document.createElement("button");
		button.type = "button";
		button.className = "quiet";
		button.textContent = "Copy";
		const label = this.dataset.label;
		if (label !== undefined) button.setAttribute("aria-label", `Copy ${label}`);
		const said = document.createElement("span");
		said.setAttribute("role", "status");
		said.className = "unseen";
		button.addEventListener("click", async () => {
			const isCopied = await copy(text);
			button.textContent = isCopied ? "Copied" : "Selected";
			said.textContent = isCopied ? "Copied" : "Selected: copy it by the keyboard";
			setTimeout(() => {
				button.textContent = "Copy";
				said.textContent = "";
			}, SAID_MS);
		});
		this.append(button, said);
	}
}

/** Where the browser does not let it copy, the text is selected, and a person can. */
async function copy(text: Element): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text.textContent ?? "");
		return true;
	} catch {
		getSelection()?.selectAllChildren(text);
		return false;
	}
}

customElements.define("copy-text", CopyText);
