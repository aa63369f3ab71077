/** Which local server uses this folder's state: two at once would write the same files. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./failure.ts";
import { RUNNING_FILE } from "./paths.ts";
import { readPort } from "./port.ts";
import { isAlive } from "./processes.ts";

export type Running = { pid: number; port: number; startedAt: number };
/** With wrangler's process, once it is started: it stays, and writes, where what has started it was killed outright. */
type Mark = Running & { server?: number | undefined };

/** A server that does not answer yet counts as running for this long after its start. */
const START_MS = 120_000;

export function markRunning(port: number, server?: number): void {
	mkdirSync(dirname(RUNNING_FILE), { recursive: true });
	writeFileSync(RUNNING_FILE, JSON.stringify({ pid: process.pid, port, startedAt: Date.now(), server } satisfies Mark));
}

export function unmarkRunning(): void {
	if (readMark()?.pid === process.pid) rmSync(RUNNING_FILE, { force: true });
}

/** The server that uses this folder's state now, with the process to end, or null. Where that was killed outright, its wrangler goes on. */
export async function findRunning(): Promise<Running | null> {
	const mark = readMark();
	if (mark === null || mark.pid === process.pid) return null;
	const left = isAlive(mark.pid) ? mark : isServerLeft(mark) ? { ...mark, pid: mark.server } : null;
	if (left === null) return null;
	const starting = Date.now() - mark.startedAt < START_MS;
	return starting || (await isHealthy(mark.port)) ? left : null;
}

/** The port of the server that was started in this folder and has not ended, whether it answers yet or not; null where there is none. */
function readRunningPort(): number | null {
	const mark = readMark();
	return mark !== null && (isAlive(mark.pid) || isServerLeft(mark)) ? mark.port : null;
}

function isServerLeft(mark: Mark): mark is Mark & { server: number } {
	return mark.server !== undefined && isAlive(mark.server);
}

/**
 * The local server's address: the one that runs in this folder, else where PORT says that it would.
 * @throws Failure where PORT is needed and is no port
 */
export function findLocalOrigin(environment: NodeJS.ProcessEnv): string {
	return `http://localhost:${readRunningPort() ?? readPort(environment)}`;
}

/** True where the local server answers on this port. */
export async function isHealthy(port: number): Promise<boolean> {
	try {
		const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2_000) });
		await response.body?.cancel();
		return response.ok;
	} catch (error) {
		// Nothing listens, or nothing answers in time: both are an answer here.
		if (error instanceof TypeError || (error instanceof DOMException && error.name === "TimeoutError")) return false;
		throw error;
	}
}

function readMark(): Mark | null {
	try {
		const mark: unknown = JSON.parse(readFileSync(RUNNING_FILE, "utf8"));
		if (typeof mark !== "object" || mark === null) return null;
		const { pid, port, startedAt, server } = mark as Partial<Mark>;
		if (typeof pid !== "number" || typeof port !== "number" || typeof startedAt !== "number") return null;
		return { pid, port, startedAt, server: typeof server === "number" ? server : undefined };
	} catch (error) {
		if (errorCode(error) === "ENOENT" || error instanceof SyntaxError) return null;
		throw error;
	}
}
