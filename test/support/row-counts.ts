/** How many rows statements look at, whatever the engine: a count that says whether their work grows with the square of what they are given. */
import { isPostgres, openDatabase } from "../../src/db/client.ts";
import type { PostgresDatabase } from "../../src/db/postgres.ts";

export type CountedStatement = { text: string; rows: number };

type Bound = { text: string; values: readonly unknown[]; inner: D1PreparedStatement };

/**
 * The network database, with a note of each statement that is run on it, and of the rows that it looked at.
 * @param isAnalyzed whether PostgreSQL knows how many rows there are: after a minute it does, and plans otherwise
 */
export function countRows(client: D1Database, isAnalyzed: boolean): { client: D1Database; counted: CountedStatement[] } {
	const counted: CountedStatement[] = [];
	const explains = isPostgres(openDatabase(client));
	const prepare = async () => {
		if (!explains) return;
		// As much as a network of a hundred times as many rows would find too little.
		await client.prepare("SET work_mem = '64kB'").run();
		await client.prepare("SET hash_mem_multiplier = 1").run();
		if (isAnalyzed) await client.prepare("ANALYZE").run();
	};
	const explained = ({ text, values }: Bound) => client.prepare(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`).bind(...values);
	const note = ({ text }: Bound, { results, meta }: D1Result<Record<string, string>>) => {
		counted.push({ text, rows: explains ? rowsOfPlan(JSON.parse(results[0]?.["QUERY PLAN"] ?? "")[0].Plan) : meta.rows_read });
	};

	class Counted {
		readonly bound: Bound;

		constructor(bound: Bound) {
			this.bound = bound;
		}

		bind(...values: unknown[]): Counted {
			return new Counted({ ...this.bound, values, inner: this.bound.inner.bind(...values) });
		}

		async all(): Promise<D1Result> {
			// What is explained is run, so a write would be run twice.
			if (explains && isRead(this.bound.text)) {
				await prepare();
				note(this.bound, await explained(this.bound).all());
			}
			const result = await this.bound.inner.all<Record<string, string>>();
			if (!explains) note(this.bound, result);
			return result;
		}

		run(): Promise<D1Result> {
			return this.all();
		}

		async raw(): Promise<unknown[][]> {
			return (await this.all()).results.map((row) => Object.values(row as object));
		}
	}

	/** Where it is explained, what a statement that writes gives is not to be had. */
	async function batch(statements: readonly Counted[]): Promise<D1Result[]> {
		if (statements.every(({ bound }) => isRead(bound.text))) return Promise.all(statements.map((statement) => statement.all()));
		const run = statements.map(({ bound }) => (explains ? explained(bound) : bound.inner));
		await prepare();
		const results = await (explains
			? (client as PostgresDatabase).batch<Record<string, string>>(run, { isLong: true })
			: client.batch<Record<string, string>>(run));
		for (const [at, result] of results.entries()) {
			const statement = statements[at];
			if (statement !== undefined) note(statement.bound, result);
		}
		return results;
	}

	const wrapped = {
		...(explains && { isPostgres: true }),
		prepare: (text: string) => new Counted({ text, values: [], inner: client.prepare(text) }),
		batch,
	};
	return { client: wrapped as unknown as D1Database, counted };
}

type Plan = { Plans?: Plan[] } & Record<string, number | string>;

/** Rows that a node of the plan gave or left out, each time that it ran, and those of the nodes beneath. */
function rowsOfPlan(plan: Plan): number {
	const own = Object.entries(plan)
		.filter(([name]) => name === "Actual Rows" || name.startsWith("Rows Removed by"))
		.reduce((sum, [, rows]) => sum + Number(rows), 0);
	return own * Number(plan["Actual Loops"]) + (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOfPlan(inner), 0);
}

function isRead(text: string): boolean {
	return /^\s*(?:SELECT|WITH)\b/i.test(text);
}
