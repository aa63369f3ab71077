/** A D1 database that counts what Cloudflare bills of it. */
export type RowCounts = { rowsRead: number; rowsWritten: number };

/** The database itself, counted. Queries whose rows come without their counts (`first`, `raw`) are run once more for them: they only read. */
export function countRows(db: D1Database): { db: D1Database; counts: RowCounts } {
	const counts: RowCounts = { rowsRead: 0, rowsWritten: 0 };
	const plain = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
	const add = <Result extends { meta: D1Meta }>(result: Result): Result => {
		counts.rowsRead += result.meta.rows_read;
		counts.rowsWritten += result.meta.rows_written;
		return result;
	};
	const countStatement = (statement: D1PreparedStatement): D1PreparedStatement => {
		const counted = new Proxy(statement, {
			get(target, name) {
				if (name === "bind") return (...values: unknown[]) => countStatement(target.bind(...values));
				if (name === "all" || name === "run") return async () => add(await target.all());
				const member: unknown = Reflect.get(target, name);
				if (typeof member !== "function") return member;
				return async (...rest: unknown[]) => {
					add(await target.all());
					return member.apply(target, rest);
				};
			},
		});
		plain.set(counted, statement);
		return counted;
	};
	const counted = new Proxy(db, {
		get(target, name) {
			if (name === "prepare") return (text: string) => countStatement(target.prepare(text));
			if (name === "batch") {
				return async (statements: D1PreparedStatement[]) =>
					(await target.batch(statements.map((statement) => plain.get(statement) ?? statement))).map(add);
			}
			const member: unknown = Reflect.get(target, name);
			return typeof member === "function" ? member.bind(target) : member;
		},
	});
	return { db: counted, counts };
}
