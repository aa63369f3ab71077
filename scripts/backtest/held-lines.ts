/** What lines far ahead of time say: written once their hour has come. */
export class HeldLines {
	/** By the hour. */
	readonly #held = new Map<number, (() => void)[]>();
	#isReleasing = false;

	/** Whether what was held is being written. */
	get isReleasing(): boolean {
		return this.#isReleasing;
	}

	hold(hour: number, write: () => void): void {
		const held = this.#held.get(hour);
		if (held === undefined) this.#held.set(hour, [write]);
		else held.push(write);
	}

	release(hour: number): void {
		const held = this.#held.get(hour);
		if (held === undefined) return;
		this.#held.delete(hour);
		this.#isReleasing = true;
		for (const write of held) write();
		this.#isReleasing = false;
	}

	releaseBefore(hour: number): void {
		for (const held of [...this.#held.keys()].toSorted((a, b) => a - b)) if (held < hour) this.release(held);
	}
}
