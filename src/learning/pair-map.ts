/** Values by two names: quicker to look up than by both as one text, which would be made for each. */
export class PairMap<Value> {
	readonly #byFirst = new Map<string, Map<string, Value>>();

	get(first: string, second: string): Value | undefined {
		return this.#byFirst.get(first)?.get(second);
	}

	set(first: string, second: string, value: Value): void {
		const bySecond = this.#byFirst.get(first);
		if (bySecond === undefined) this.#byFirst.set(first, new Map([[second, value]]));
		else bySecond.set(second, value);
	}
}
