/** D1 with something before every call that reaches the database: a count of statements; in tests a delay, or a refusal. */

/** Told the statements of a call, before it is made; what it throws is what the caller gets. */
export type BeforeStatements = (statements: readonly string[]) => void | Promise<void>;

/** A real D1 database behind `before`. A batch is one call, as it is one round trip. */
export function wrapD1(d1: D1Database, before: BeforeStatements): D1Database {
	const inner = new WeakMap<D1PreparedStatement, { statement: D1PreparedStatement; text: string }>();
	const wrap = (statement: D1PreparedStatement, text: string): D1PreparedStatement => {
		const wrapped = new Proxy(statement, {
			get(target, name) {
				if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values), text);
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				return async (...given: unknown[]) => {
					await before([text]);
					return value.apply(target, given);
				};
			},
		});
		inner.set(wrapped, { statement, text });
		return wrapped;
	};
	return new Proxy(d1, {
		get(target, name) {
			if (name === "prepare") return (text: string) => wrap(target.prepare(text), text);
			if (name === "batch") {
				return async (statements: D1PreparedStatement[], ...options: []) => {
					const known = statements.map((statement) => inner.get(statement) ?? { statement, text: "?" });
					await before(known.map(({ text }) => text));
					return target.batch(
						known.map(({ statement }) => statement),
						...options,
					);
				};
			}
			const value: unknown = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}
