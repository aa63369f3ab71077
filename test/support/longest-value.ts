/** A database of which is told how long the longest value was that a statement was given: D1 takes 2 MB, the one of tests any. */
import { bytesOf } from "../../src/lib/split-by-bytes.ts";

export const MOST_D1_TAKES = 2_000_000;

export function measureValues(d1: D1Database): { client: D1Database; longest: () => number } {
	let longest = 0;
	const client = Object.create(d1) as D1Database;
	client.batch = (statements) => d1.batch(statements);
	client.prepare = (text) => {
		const statement = d1.prepare(text);
		const bind = statement.bind.bind(statement);
		statement.bind = (...values) => {
			for (const value of values) if (typeof value === "string") longest = Math.max(longest, bytesOf(value));
			return bind(...values);
		};
		return statement;
	};
	return { client, longest: () => longest };
}
