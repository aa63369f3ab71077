/** Output of what runs beside something else: held back, so that the two do not mix, until it is shown; from then on it passes. */
export class HeldOutput {
	readonly #show: (text: string) => void;
	#held: string[] | null = [];

	constructor(show: (text: string) => void) {
		this.#show = show;
	}

	write(text: string): void {
		if (this.#held === null) this.#show(text);
		else this.#held.push(text);
	}

	/** Shows what was held, and whatever comes after it at once. */
	release(): void {
		const held = this.#held ?? [];
		this.#held = null;
		for (const text of held) this.#show(text);
	}
}
