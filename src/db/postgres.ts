/**
 * PostgreSQL, through Hyperdrive, behind the few verbs of D1 that the code uses: `prepare` with `bind`, `all`, `first`, `run` and `raw`,
 * and a `batch` that is one transaction. The statements are the ones that D1 runs (decision 0029): what SQLite has and PostgreSQL lacks
 * is defined by `drizzle/postgres`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "pg";
import { CloudflareSocket } from "pg-cloudflare";
import { Md5 } from "ts-md5";
import { AwayError } from "../lib/away.ts";
import { putBounded } from "../lib/bounded-map.ts";
import { type Answer, Exchange, type Parameter, type Sent, UNKNOWN_STATEMENT } from "./exchange.ts";
import { numberParameters } from "./number-parameters.ts";
import { PostgresError } from "./overtaken.ts";

/** How long a connection may take, or a statement; of a transaction, all of them. */
const TIMEOUT_MS = 5_000;
const MAX_TRIES = 3;
/** How long a server that took no connection is left in peace, at most; four times as long the next time. */
const REFUSED_WAIT_MS = 100;
const MAX_TEXTS = 2_000;

/** The same of a transaction that takes a whole file over, and of each of its statements: Hyperdrive gives one no more. */
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

/** Said of a statement known to the connection by its name, whose columns a migration has changed since: as long as the connection lasts. */
const OVERTAKEN_PLAN = "0A000";
/** SQLSTATEs after which nothing has happened: serialization, deadlock, locks, too many connections, starting up, plans. */
const SAFE_STATES = new Set(["25006", "40001", "40P01", "55P03", "53300", "57P03", OVERTAKEN_PLAN, UNKNOWN_STATEMENT]);

/** A connection that has failed while it was made, or before anything was sent on it, has done nothing. */
class UnreachableError extends Error {
	override readonly name = "UnreachableError";
}

type Written = (error?: Error | null) => void;

/** pg writes each message by itself, four a statement, and in a pipeline waits for none: what is written in one go is sent in one. */
class GatheringSocket extends CloudflareSocket {
	#waiting: Uint8Array[] = [];
	#written: Written[] = [];

	override write(data: Uint8Array, encodingOrWritten?: BufferEncoding | Written, written?: Written): boolean {
		const then = typeof encodingOrWritten === "function" ? encodingOrWritten : written;
		if (this.#waiting.length === 0) queueMicrotask(() => this.#send());
		this.#waiting.push(data);
		if (then !== undefined) this.#written.push(then);
		return true;
	}

	#send(): void {
		const bytes = Buffer.concat(this.#waiting);
		const written = this.#written;
		this.#waiting = [];
		this.#written = [];
		super.write(bytes, "utf8", (error) => {
			for (const then of written) then(error);
		});
	}
}

/** Connections whose line has broken, or that the server has ended. */
const lost = new WeakSet<Client>();

async function connect(connectionString: string): Promise<Client> {
	const client = new Client({
		connectionString,
		connectionTimeoutMillis: TIMEOUT_MS,
		pipeline: true,
		// What pg would choose by itself where a bundler has told it that this is workerd; it tells its settings, whatever its types say.
		stream: (settings?: { ssl?: unknown }) => new GatheringSocket(Boolean(settings?.ssl)),
	});
	// A line that breaks fails the queries that wait on it; without a listener it would also be thrown at nobody.
	client.on("error", () => lost.add(client));
	try {
		await client.connect();
	} catch (error) {
		throw new UnreachableError(error instanceof Error ? error.message : String(error), { cause: error });
	}
	return client;
}

/** By the string of what they reach. */
type Connections = Map<string, Promise<Client>>;

/** The connections of the invocation that is being served. */
const invocations = new AsyncLocalStorage<Connections>();

/** What binds PostgreSQL, or does not: then nothing is kept, and nothing costs. */
type Bindings = { POSTGRES?: unknown };

/**
 * Runs what belongs to one request. It shares a connection, made when it is first needed; the runtime closes it when the last of the
 * request's work has ended, which may be after its answer. Outside of an invocation every call has a connection of its own.
 */
export function withConnections<Result>({ POSTGRES }: Bindings, run: () => Result): Result {
	return POSTGRES === undefined || invocations.getStore() !== undefined ? run() : invocations.run(new Map(), run);
}

/** The same for a batch of a queue and a run of the cron, which have ended when their handler has. */
export async function withConnectionsOf<Result>({ POSTGRES }: Bindings, run: () => Promise<Result>): Promise<Result> {
	if (POSTGRES === undefined) return run();
	const connections = new Map<string, Promise<Client>>();
	try {
		return await invocations.run(connections, run);
	} finally {
		await Promise.allSettled([...connections.values()].map(async (connecting) => (await connecting).end()));
	}
}

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

type Row = Record<string, unknown>;
type Result = { success: true; results: Row[]; meta: { changes: number } };
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

/** Runs work on a connection, and again where the failure says that nothing has happened, or where doing it twice does no harm. */
async function withRetries<Value>(
	connectionString: string,
	kept: Connections | undefined,
	statements: readonly Statement[],
	isRepeatable: boolean,
	work: (client: Client) => Promise<Value>,
): Promise<Value> {
	for (let tries = 1; ; tries++) {
		const connecting = kept?.get(connectionString) ?? connect(connectionString);
		kept?.set(connectionString, connecting);
		let client: Client | undefined;
		try {
			client = await connecting;
			if (lost.has(client)) throw new UnreachableError("the connection was lost");
			return await work(client);
		} catch (error) {
			const state = stateOf(error);
			// A server that has become a standby keeps its connections, and takes no writes.
			const isLost = state === null || state.startsWith("57P") || state.startsWith("08") || state === "25006";
			if (isLost && kept?.get(connectionString) === connecting) kept.delete(connectionString);
			if (state === OVERTAKEN_PLAN) forgetNames(statements);
			const isSafe = error instanceof UnreachableError || SAFE_STATES.has(state ?? "") || (isLost && isRepeatable);
			if (tries === MAX_TRIES || !isSafe) throw toPostgresError(error, state);
			// Each for a time of its own: all at once would find the server as full as before.
			if (client === undefined) await scheduler.wait(REFUSED_WAIT_MS * 4 ** (tries - 1) * (0.5 + Math.random() / 2));
		} finally {
			if (kept === undefined) await client?.end();
		}
	}
}

/** A statement as PostgreSQL gets it, but for its parameters. */
type Prepared = Pick<Sent, "name" | "text">;

const prepared = new Map<string, Prepared>();

function toSent({ text, parameters }: Statement): Sent {
	// Named by the text alone: behind a pool a connection may know what another isolate has prepared.
	const known = prepared.get(text) ?? putBounded(prepared, text, { name: Md5.hashStr(text), text: numberParameters(text) }, MAX_TEXTS);
	return { ...known, parameters };
}

/**
 * From now on this isolate sends them without their names, so that they are planned anew. Another connection might know the old plan too:
 * a pool hands out those that others have used.
 */
function forgetNames(statements: readonly Statement[]): void {
	for (const { text } of statements) putBounded(prepared, text, { text: numberParameters(text) }, MAX_TEXTS);
}

function toResult({ names, rows, changes }: Answer): Result {
	const results = rows.map((cells) => {
		const row: Row = {};
		for (const [at, name] of names.entries()) row[name] = cells[at];
		return row;
	});
	return { success: true, results, meta: { changes } };
}

function isRead(text: string): boolean {
	return /^\s*(?:SELECT|WITH)\b/i.test(text) && !/\b(?:INSERT|UPDATE|DELETE)\b/i.test(text);
}

/** JSON with such an escape in it. A text that is not JSON has a backslash of its own. */
const ESCAPED = /^[[{][\s\S]*\\u(?:0000|d[89a-f])/i;

/** As SQLite stores it. PostgreSQL's text holds neither NUL nor half a surrogate pair: they become U+FFFD. */
function toParameter(value: unknown): Parameter {
	if (value === null || typeof value === "number") return value;
	if (typeof value === "boolean") return Number(value);
	if (typeof value !== "string") throw new TypeError(`a parameter cannot be of type ${typeof value}`);
	return (value.includes("\\u") && ESCAPED.test(value) ? withoutEscapes(value) : value).toWellFormed().replaceAll("\0", "\ufffd");
}

/** JSON in which neither is escaped. */
function withoutEscapes(text: string): string {
	return text.replace(/\\(?:u0000|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2}|[\s\S])/gi, (part) =>
		/^\\u(?:0000|d[89a-f])/i.test(part) && part.length === 6 ? "\ufffd" : part,
	);
}

/** The SQLSTATE of a failure that the server told; null for one of the line. */
function stateOf(error: unknown): string | null {
	return error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code)) ? String(error.code) : null;
}

/**
 * Classes of SQLSTATE: 23 is a constraint; 08, 40, 53, 55, 57 and 58 are the server's or the line's, as 25006, 25P03 and 25P04 are, and so is
 * what has no SQLSTATE.
 */
function toPostgresError(error: unknown, state: string | null): unknown {
	if (error instanceof TypeError || !(error instanceof Error)) return error;
	if (state === null) return new AwayError(error.message);
	const constraint = "constraint" in error ? ` ${String(error.constraint)}` : "";
	if (state.startsWith("23")) return new PostgresError("constraint", `${state}${constraint}`);
	if (/^(?:08|25006|25P03|25P04|28|3D|40|53|55|57|58)/.test(state)) return new AwayError(`${state}: ${error.message}`);
	// Data exceptions name the value.
	return new PostgresError("statement", state.startsWith("22") ? state : `${state}: ${error.message}`);
}
