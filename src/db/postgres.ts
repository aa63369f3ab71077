/**
 * PostgreSQL, through Hyperdrive, behind the few verbs of D1 that the code uses: `prepare` with `bind`, `all`, `first`, `run` and `raw`,
 * and a `batch` that is one transaction. The statements are the ones that D1 runs (decision 0029): what SQLite has and PostgreSQL lacks
 * is defined by `drizzle/postgres`.
 */
import type { Client } from "pg";
import { type Answer, Exchange, type Parameter } from "./exchange.ts";
import { type Connections, invocations, TIMEOUT_MS, withRetries } from "./postgres-connections.ts";
import { isRead, type Result, toParameter, toResult, toSent } from "./postgres-statements.ts";

/** How long a transaction may take that takes a whole file over, and each of its statements: Hyperdrive gives one no more. */
const LONG_TIMEOUT_MS = 120_000;
const LONG_STATEMENT_MS = 60_000;

/** A transaction of several statements holds a lock: as on D1, one of them runs at a time. No advisory lock, since Hyperdrive lists none. */
const TAKE_TURN = "LOCK TABLE writer_turn IN SHARE ROW EXCLUSIVE MODE";
const begin = (timeoutMs: number) => `BEGIN; SET LOCAL statement_timeout = ${timeoutMs}`;
/** Whoever waits for a table of its own holds up all who come after: it gives up before they do, and is tried again. */
const TABLE_WAIT_MS = 2_000;
const beginUpkeep = `BEGIN; SET LOCAL statement_timeout = ${LONG_STATEMENT_MS}; SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`;
/** Where no index fits, the plan then counts as so dear that PostgreSQL before 18 would compile it first: hence no `jit`. */
const BY_KEYS = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off";
const beginReading = (timeoutMs: number) => `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}`;

class Statement {
	readonly text: string;
	readonly parameters: readonly Parameter[];
	readonly #run: Run;

	constructor(run: Run, text: string, parameters: readonly Parameter[]) {
		this.#run = run;
		this.text = text;
		this.parameters = parameters;
	}

	bind(...values: unknown[]): Statement {
		return new Statement(this.#run, this.text, values.map(toParameter));
	}

	all(): Promise<Result> {
		return this.#run([this], isRead(this.text), async (client) => toResult(await exchangeOne(client, this)));
	}

	run(): Promise<Result> {
		return this.all();
	}

	raw(): Promise<unknown[][]> {
		return this.#run([this], isRead(this.text), async (client) => (await exchangeOne(client, this)).rows);
	}

	async first(column?: string): Promise<unknown> {
		const [row] = (await this.all()).results;
		if (row === undefined) return null;
		return column === undefined ? row : row[column];
	}
}

type Run = <Value>(statements: readonly Statement[], isRepeatable: boolean, work: (client: Client) => Promise<Value>) => Promise<Value>;

export type BatchOptions = {
	/** It has longer than others, and nothing of it is ever committed once it has failed here. */
	isLong?: boolean;
	/** So many of its first statements run before it takes its turn. They write nothing that a statement within a turn waits for. */
	ahead?: number;
	/** It reads rows by keys. A plan stays while its tables grow: one made when they were small would go through all of them ever after. */
	byKeys?: boolean;
};

export type PostgresDatabase = D1Database & {
	isPostgres: true;
	batch: <Row = unknown>(statements: D1PreparedStatement[], options?: BatchOptions) => Promise<D1Result<Row>[]>;
	/** Runs a statement that has as long, beside whoever writes: it takes no turn. */
	upkeep: <Row = unknown>(statement: D1PreparedStatement) => Promise<D1Result<Row>>;
};

/**
 * Opens the database of a Hyperdrive binding. What it gives has the verbs of {@link D1Database} that the code uses, and no others.
 * @param outside connections of calls outside of an invocation, where they may outlive the call; else each makes one of its own
 */
export function openPostgres(connectionString: string, outside?: Connections): PostgresDatabase {
	const run: Run = (statements, isRepeatable, work) =>
		withRetries(connectionString, invocations.getStore() ?? outside, statements, isRepeatable, work);

	async function batch(
		statements: readonly Statement[],
		{ isLong = false, ahead = 0, byKeys = false }: BatchOptions = {},
	): Promise<Result[]> {
		const [only] = statements;
		if (only === undefined) return [];
		if (statements.length === 1 && !isLong) return [await only.all()];
		const isReading = statements.every(({ text }) => isRead(text));
		const timeoutMs = isLong ? LONG_STATEMENT_MS : TIMEOUT_MS;
		const together = isLong ? runForLong : runTogether;
		if (!isReading && ahead > 0) {
			const inOrder = statements.toSpliced(ahead, 0, new Statement(run, TAKE_TURN, []));
			return (await run(inOrder, false, (client) => together(client, begin(timeoutMs), inOrder))).toSpliced(ahead, 1);
		}
		const first = isReading ? `${beginReading(timeoutMs)}${byKeys ? `; ${BY_KEYS}` : ""}` : `${begin(timeoutMs)}; ${TAKE_TURN}`;
		return run(statements, isReading, (client) => together(client, first, statements));
	}

	async function upkeep(statement: Statement): Promise<Result> {
		const [result] = await run([statement], false, (client) => runForLong(client, beginUpkeep, [statement]));
		if (result === undefined) throw new Error("a statement without a result");
		return result;
	}

	return { isPostgres: true, prepare: (text: string) => new Statement(run, text, []), batch, upkeep } as unknown as PostgresDatabase;
}

/** As `pg` calls it. Each query needs one: a line that takes nothing more may never tell that it is closed. */
const LIMIT = { query_timeout: TIMEOUT_MS };
const LONG_LIMIT = { query_timeout: LONG_TIMEOUT_MS };
const ROLLED_BACK = "a transaction without a failure was rolled back";

function exchange(client: Client, statements: readonly Statement[], limitMs = TIMEOUT_MS): Promise<Answer[]> {
	const { promise, resolve, reject } = Promise.withResolvers<Answer[]>();
	client.query(new Exchange(statements.map(toSent), (error, answers) => (error === null ? resolve(answers) : reject(error)), limitMs));
	return promise;
}

async function exchangeOne(client: Client, statement: Statement): Promise<Answer> {
	const [answer] = await exchange(client, [statement]);
	if (answer === undefined) throw new Error("a statement without an answer");
	return answer;
}

/**
 * One transaction in one round trip: everything is sent before anything is answered. After a statement that fails the server refuses
 * those behind it, and takes the COMMIT for a ROLLBACK.
 */
async function runTogether(client: Client, first: string, statements: readonly Statement[]): Promise<Result[]> {
	const [begun, answered, ended] = await Promise.allSettled([
		client.query({ text: first, ...LIMIT }),
		exchange(client, statements),
		client.query({ text: "COMMIT", ...LIMIT }),
	]);
	if (begun.status === "rejected") throw begun.reason;
	if (answered.status === "rejected") throw answered.reason;
	if (ended.status === "rejected") throw ended.reason;
	if (ended.value.command !== "COMMIT") throw new Error(ROLLED_BACK);
	return answered.value.map(toResult);
}

/**
 * One transaction with {@link LONG_TIMEOUT_MS}. COMMIT is sent once everything else is answered: a server that is given up on goes
 * on with what it was sent.
 */
async function runForLong(client: Client, first: string, statements: readonly Statement[]): Promise<Result[]> {
	const [begun, answered] = await Promise.allSettled([
		client.query({ text: first, ...LONG_LIMIT }),
		exchange(client, statements, LONG_TIMEOUT_MS),
	]);
	const failure = [begun, answered].find((answer) => answer.status === "rejected");
	if (failure !== undefined || answered.status === "rejected") {
		// Where the line is lost the server does it by itself.
		await Promise.allSettled([client.query({ text: "ROLLBACK", ...LIMIT })]);
		throw failure?.reason;
	}
	const { command } = await client.query({ text: "COMMIT", ...LONG_LIMIT });
	if (command !== "COMMIT") throw new Error(ROLLED_BACK);
	return answered.value.map(toResult);
}
