/** Connections to PostgreSQL: one an invocation, made again where it is lost, and work that is tried again where nothing has happened. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "pg";
import { CloudflareSocket } from "pg-cloudflare";
import { AwayError } from "../lib/away.ts";
import { UNKNOWN_STATEMENT } from "./exchange.ts";
import { PostgresError } from "./overtaken.ts";
import { forgetNames } from "./postgres-statements.ts";

/** How long a connection may take, or a statement; of a transaction, all of them. */
export const TIMEOUT_MS = 5_000;
const MAX_TRIES = 3;
/** How long a server that took no connection is left in peace, at most; four times as long the next time. */
const REFUSED_WAIT_MS = 100;

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
export type Connections = Map<string, Promise<Client>>;

/** The connections of the invocation that is being served. */
export const invocations = new AsyncLocalStorage<Connections>();

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

/** Runs work on a connection, and again where the failure says that nothing has happened, or where doing it twice does no harm. */
export async function withRetries<Value>(
	connectionString: string,
	kept: Connections | undefined,
	statements: readonly { text: string }[],
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
