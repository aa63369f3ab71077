/** <passkey-button>: has the browser make or use a passkey, and goes on where the answer says. */

class PasskeyButton extends HTMLElement {
	connectedCallback(): void {
		const button = this.querySelector("button");
		const said = this.querySelector("[role=status]");
		if (button === null || said === null || !("PublicKeyCredential" in globalThis)) return;
		this.hidden = false;
		button.addEventListener("click", async () => {
			button.disabled = true;
			said.textContent = "Your device asks you now.";
			try {
				location.assign(await this.#run());
			} catch (error) {
				said.textContent = error instanceof Error ? error.message : "It did not work. Try again.";
				button.disabled = false;
			}
		});
	}

	/** @returns where to go on */
	async #run(): Promise<string> {
		const { kind, ask = "", send = "" } = this.dataset;
		// Loaded by whoever presses: most who see the page sign in by a link.
		const [question, { startAuthentication, startRegistration }] = await Promise.all([post(ask), import("./webauthn.ts")]);
		const name = this.querySelector("input")?.value.trim();
		const answer =
			kind === "register"
				? { response: await startRegistration({ optionsJSON: question as never }), ...(name && { name }) }
				: { response: await startAuthentication({ optionsJSON: question as never }) };
		const { location: next } = (await post(send, answer)) as { location?: string };
		return next ?? "/console";
	}
}

/** @throws with words for the person who waits */
async function post(path: string, body?: unknown): Promise<unknown> {
	const response = await fetch(path, {
		method: "POST",
		headers: { "content-type": "application/json" },
		...(body !== undefined && { body: JSON.stringify(body) }),
	});
	const answer = (await response.json()) as { faults?: { message: string }[]; message?: string };
	if (!response.ok) throw new Error(answer.faults?.[0]?.message ?? answer.message ?? "It did not work. Try again.");
	return answer;
}

customElements.define("passkey-button", PasskeyButton);
