/**
 * Statements that PostgreSQL gets in one go and answers in one go. `pg` ends each by a message that makes the server send what it has, so
 * that a transaction of twenty is twenty packets, which cost both sides more than many a statement does.
 */
import { type Connection, Query } from "pg";

export type Parameter = string | number | null;

/** With a name, a connection that has run it before neither parses nor plans it again. */
export type Sent = { name?: string; text: string; parameters: readonly Parameter[] };

/** What a statement gave: `changes` is the number of rows that it gave or changed. */
export type Answer = { names: readonly string[]; rows: unknown[][]; changes: number };

const emptyAnswer = (): Answer => ({ names: [], rows: [], changes: 0 });

type Reader = (text: string) => unknown;

/** Types of PostgreSQL whose values are numbers in SQLite: integers, and the sums of them. */
const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);
const BOOLEAN = 16;

/** JSON stays the text that it is in SQLite. */
function readerOf(type: number): Reader {
	if (NUMBERS.has(type)) return Number;
	if (type === BOOLEAN) return (text) => (text === "t" ? 1 : 0);
	return (text) => text;
}

/** Said where a statement is not known by its name. */
export const UNKNOWN_STATEMENT = "26000";

/** Statements that a connection knows by name, and those that it may know: a failure does not tell whether it came before the parsing. */
type Known = { names: Set<string>; doubtful: Set<string> };

const known = new WeakMap<Connection, Known>();

function knownTo(connection: Connection): Known {
	const of = known.get(connection) ?? { names: new Set(), doubtful: new Set() };
	known.set(connection, of);
	return of;
}

/** After one that fails the server passes over those behind it. Outside of a transaction, all of them are one. */
export class Exchange extends Query {
	/** Called once. `pg` puts its timer before it. */
	callback: (error: Error | null) => void;
	/** As `pg` calls it. */
	readonly query_timeout: number;
	readonly #sent: readonly Sent[];
	/** Names that this exchange lets the server parse, by place. */
	readonly #parsed: (string | undefined)[] = [];
	readonly #answers: Answer[] = [];
	#known: Known = { names: new Set(), doubtful: new Set() };
	#answer: Answer = emptyAnswer();
	#readers: Reader[] = [];

	/** @param limitMs how long it may take: after that the connection is given up */
	constructor(sent: readonly Sent[], then: (error: Error | null, answers: Answer[]) => void, limitMs: number) {
		super("");
		this.query_timeout = limitMs;
		this.#sent = sent;
		this.callback = (error) => then(error, this.#answers);
	}

	override submit = (connection: Connection): null => {
		this.#known = knownTo(connection);
		for (const statement of this.#sent) this.#write(connection, statement);
		connection.sync();
		return null;
	};

	#write(connection: Connection, { name, text, parameters }: Sent): void {
		const { names, doubtful } = this.#known;
		const isKnown = name !== undefined && names.has(name);
		if (!isKnown) {
			// To close what is not there is no error, to parse what is there is one.
			if (name !== undefined && doubtful.delete(name)) connection.close({ type: "S", name }, true);
			connection.parse({ name: name ?? "", text, types: [] }, true);
			if (name !== undefined) names.add(name);
		}
		this.#parsed.push(isKnown ? undefined : name);
		const values = parameters.map((value) => (typeof value === "number" ? String(value) : value));
		connection.bind({ portal: "", statement: name ?? "", binary: "", values }, true);
		connection.describe({ type: "P", name: "" }, true);
		connection.execute({ portal: "", rows: "" }, true);
	}

	handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
		this.#answer.names = fields.map(({ name }) => name);
		this.#readers = fields.map(({ dataTypeID }) => readerOf(dataTypeID));
	}

	handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
		this.#answer.rows.push(fields.map((text, at) => (text === null ? null : (this.#readers[at]?.(text) ?? text))));
	}

	handleCommandComplete({ text }: { text: string }): void {
		this.#answer.changes = Number(/\d+$/.exec(text)?.[0] ?? 0);
		this.#end();
	}

	handleEmptyQuery(): void {
		this.#end();
	}

	#end(): void {
		this.#answers.push(this.#answer);
		this.#answer = emptyAnswer();
	}

	handleReadyForQuery(): void {
		this.callback(null);
	}

	handleError(error: Error): void {
		const { names, doubtful } = this.#known;
		const failed = this.#answers.length;
		const unsure = this.#parsed.slice(failed);
		if ("code" in error && error.code === UNKNOWN_STATEMENT) unsure.push(this.#sent[failed]?.name);
		for (const name of unsure) {
			if (name === undefined) continue;
			names.delete(name);
			doubtful.add(name);
		}
		this.callback(error);
	}
}
