/** D1 with something around every call that reaches the database: a count of statements, a limit of time; in tests a delay, or a refusal. */
import { inTime } from "../lib/away.ts";
import { SECOND_MS } from "../lib/time.ts";

/** Told the statements of a call, before it is made; what it throws is what the caller gets. */
export type BeforeStatements = (statements: readonly string[]) => void | Promise<void>;

/** D1 itself gives a statement 30 s; what says nothing for longer is away. */
const D1_TIMEOUT_MS = 32 * SECOND_MS;

/** A real D1 database behind `before`. A batch is one call, as it is one round trip. */
export function wrapD1(d1: D1Database, before: BeforeStatements): D1Database {
	return aroundD1(d1, async (statements, call) => {
		await before(statements);
		return call();
	});
}

/** The same database, no call of which is waited for for ever. What is not waited for any longer may still be done. */
export function boundD1(d1: D1Database, name: string): D1Database {
	return aroundD1(d1, (_, call) => inTime(call(), D1_TIMEOUT_MS, name));
}

/** Makes a call; told its statements. */
type Around = (statements: readonly string[], call: () => Promise<unknown>) => Promise<unknown>;

function aroundD1(d1: D1Database, around: Around): D1Database {
	const inner = new WeakMap<D1PreparedStatement, { statement: D1PreparedStatement; text: string }>();
	const wrap = (statement: D1PreparedStatement, text: string): D1PreparedStatement => {
		const wrapped = new Proxy(statement, {
			get(target, name) {
				if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values), text);
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				return (...given: unknown[]) => around([text], async () => value.apply(target, given));
			},
		});
		inner.set(wrapped, { statement, text });
		return wrapped;
	};
	return new Proxy(d1, {
		get(target, name) {
			if (name === "prepare") return (text: string) => wrap(target.prepare(text), text);
			if (name === "batch") {
				return (statements: D1PreparedStatement[], ...options: []) => {
					const known = statements.map((statement) => inner.get(statement) ?? { statement, text: "?" });
					const own = known.map(({ statement }) => statement);
					return around(
						known.map(({ text }) => text),
						() => target.batch(own, ...options),
					);
				};
			}
			const value: unknown = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}
