/** Counts what an invocation does against what Cloudflare lets it do, so that its jobs leave each other enough. */

/** Statements on D1, each of a batch counted, and operations on KV, where reading many keys at once is one. */
export type Operated = { statements: number; keys: number };

const MOST: Operated = { statements: 1_000, keys: 1_000 };

/** One an invocation. */
export class Operations {
	readonly #left: Operated;

	constructor(most: Operated = MOST) {
		this.#left = { ...most };
	}

	get left(): Readonly<Operated> {
		return this.#left;
	}

	has({ statements = 0, keys = 0 }: Partial<Operated>): boolean {
		return this.#left.statements >= statements && this.#left.keys >= keys;
	}

	countStatements(count: number): void {
		this.#left.statements -= count;
	}

	/** The same namespace, every call of which is counted. */
	countKeys<Store extends object>(kv: Store): Store {
		return new Proxy(kv, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				return (...given: unknown[]) => {
					this.#left.keys--;
					return value.apply(target, given);
				};
			},
		});
	}
}
