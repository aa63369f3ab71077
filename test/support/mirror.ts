/**
 * The network database on both engines at once, as one: each statement and each batch runs on D1 and then on PostgreSQL, one at a time,
 * and both must tell the same. What is given back is D1's.
 */
import { isConstraintError } from "../../src/db/overtaken.ts";

/** Both told, and not the same; or one failed. */
class MirrorError extends Error {
	override readonly name = "MirrorError";
}

type Row = Record<string, unknown>;
type Outcome<Value> = { value: Value } | { error: unknown };

export type Mirror = {
	database: D1Database;
	/** What has differed since it was last taken: the code may have caught the error that says so. */
	takeDifferences: () => string[];
	/** Texts of the statements that both engines ran and told the same of, with the places of values and without values. */
	texts: ReadonlySet<string>;
};

/** @param postgres what stands for D1 on PostgreSQL */
export function openMirror(d1: D1Database, postgres: D1Database): Mirror {
	const texts = new Set<string>();
	let differences: string[] = [];
	let isBusy = false;

	/** The test that ran them fails by it, whatever becomes of what is thrown. */
	function differ(statements: readonly Statement[], what: string): MirrorError {
		const text = `${what}\n${statements.map((statement) => statement.describe()).join(";\n")}`;
		differences.push(text);
		return new MirrorError(text);
	}

	/** Runs the same on both, after what came before it. */
	async function onBoth<Value>(
		statements: readonly Statement[],
		run: (engine: Engine) => Promise<Value>,
	): Promise<[d1: Value, postgres: Value]> {
		// Whoever waits does so on a timer of its own: workerd lets no request wait on a promise of another for long.
		while (isBusy) await scheduler.wait(1);
		isBusy = true;
		try {
			const here = await settle(run("d1"));
			const there = await settle(run("postgres"));
			if ("error" in here && "error" in there) {
				if (isConstraintError(here.error) !== isConstraintError(there.error))
					throw differ(statements, `D1 failed: ${here.error}, PostgreSQL: ${there.error}`);
				throw here.error;
			}
			if ("error" in here) throw differ(statements, `D1 alone failed: ${here.error}`);
			if ("error" in there) throw differ(statements, `PostgreSQL alone failed: ${there.error}`);
			return [here.value, there.value];
		} finally {
			isBusy = false;
		}
	}

	function compare(statement: Statement, here: D1Result<Row>, there: D1Result<Row>): void {
		const [onD1, onPostgres] = [here, there].map(({ results }) => results.map(writeRow)) as [string[], string[]];
		if (COUNTED_ONLY.test(statement.text)) for (const rows of [onD1, onPostgres]) rows.fill("");
		if (!isOrdered(statement.text)) for (const rows of [onD1, onPostgres]) rows.sort();
		const at = onD1.findIndex((row, place) => row !== onPostgres[place]);
		if (onD1.length !== onPostgres.length || at !== -1)
			throw differ(
				[statement],
				`rows differ: ${onD1.length} on D1, ${onPostgres.length} on PostgreSQL, at ${at}\n${onD1[at]}\n${onPostgres[at]}\n`,
			);
		if (isWrite(statement.text) && here.meta.changes !== there.meta.changes)
			throw differ([statement], `D1 changed ${here.meta.changes} rows, PostgreSQL ${there.meta.changes}`);
		texts.add(statement.text);
	}

	class Statement {
		readonly text: string;
		readonly values: readonly unknown[];
		readonly d1: D1PreparedStatement;
		readonly postgres: D1PreparedStatement;

		constructor(text: string, values: readonly unknown[], on: { d1: D1PreparedStatement; postgres: D1PreparedStatement }) {
			this.text = text;
			this.values = values;
			this.d1 = on.d1;
			this.postgres = on.postgres;
		}

		bind(...values: unknown[]): Statement {
			return new Statement(this.text, values, { d1: this.d1.bind(...values), postgres: this.postgres.bind(...values) });
		}

		async all(): Promise<D1Result<Row>> {
			const [here, there] = await onBoth([this], (engine) => this[engine].all<Row>());
			compare(this, here, there);
			return here;
		}

		run(): Promise<D1Result<Row>> {
			return this.all();
		}

		async raw(): Promise<unknown[][]> {
			const [here, there] = await onBoth([this], (engine) => this[engine].raw());
			const asResult = (rows: unknown[][]) => ({ results: rows.map((row) => ({ ...row })), meta: {} }) as unknown as D1Result<Row>;
			compare(this, asResult(here), asResult(there));
			return here;
		}

		async first(column?: string): Promise<unknown> {
			const [row] = (await this.all()).results;
			if (row === undefined) return null;
			return column === undefined ? row : row[column];
		}

		describe(): string {
			return `${this.text} — ${JSON.stringify(this.values).slice(0, MAX_VALUES_LENGTH)}`;
		}
	}

	async function batch(statements: readonly Statement[]): Promise<D1Result<Row>[]> {
		const [here, there] = await onBoth(statements, (engine) => {
			const database = engine === "d1" ? d1 : postgres;
			return database.batch<Row>(statements.map((statement) => statement[engine]));
		});
		for (const [at, statement] of statements.entries()) {
			const [one, other] = [here[at], there[at]];
			if (one === undefined || other === undefined) throw differ(statements, "a batch told too little");
			compare(statement, one, other);
		}
		return here;
	}

	const database = {
		prepare: (text: string) => new Statement(text, [], { d1: d1.prepare(text), postgres: postgres.prepare(text) }),
		batch,
	} as unknown as D1Database;
	return {
		database,
		texts,
		takeDifferences() {
			const taken = differences;
			differences = [];
			return taken;
		},
	};
}

/** Where the code wants to know no more than whether there are more than so many: which of them are told is as it happens. */
const COUNTED_ONLY = /\bpublisher_click_id = w\.cid LIMIT\b/;

type Engine = "d1" | "postgres";

const MAX_VALUES_LENGTH = 2_000;

async function settle<Value>(running: Promise<Value>): Promise<Outcome<Value>> {
	try {
		return { value: await running };
	} catch (error) {
		return { error };
	}
}

/** Whether it has an ORDER BY that no parenthesis holds. */
function isOrdered(text: string): boolean {
	let bare = text.replaceAll(/'[^']*'/g, "''");
	for (let before = ""; before !== bare; ) {
		before = bare;
		bare = bare.replaceAll(/\([^()]*\)/g, "");
	}
	return /\bORDER BY\b/i.test(bare);
}

/** One whose changes both engines count: of a read D1 tells nothing. */
function isWrite(text: string): boolean {
	return /^\s*(?:INSERT|UPDATE|DELETE)\b/i.test(text);
}

/** A row in one way of writing. PostgreSQL's text holds neither NUL nor half a surrogate pair (src/db/postgres-statements.ts). */
function writeRow(row: Row): string {
	const cells = Object.entries(row).map(([name, value]) => [
		name,
		typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value,
	]);
	return JSON.stringify(cells.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)));
}
