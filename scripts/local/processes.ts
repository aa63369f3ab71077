import { type ChildProcess, spawnSync } from "node:child_process";
import { errorCode } from "./failure.ts";

/** The processes that `pid` started, and those they started. */
export function descendantsOf(pid: number): number[] {
	const table = listProcesses();
	const children = new Map<number, number[]>();
	for (const line of table.split("\n")) {
		const [child, parent] = line.trim().split(/\s+/).map(Number);
		if (child === undefined || parent === undefined) continue;
		children.set(parent, [...(children.get(parent) ?? []), child]);
	}
	const found: number[] = [];
	for (let open = [pid]; open.length > 0; ) {
		open = open.flatMap((parent) => children.get(parent) ?? []);
		found.push(...open);
	}
	return found;
}

/** Ctrl-C in a terminal reaches `ps` as well as us; a list that it cut off is asked for again. */
function listProcesses(): string {
	for (let tries = 1; ; tries++) {
		const { stdout, status, signal, error } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
		if (status === 0) return stdout;
		if (signal === null || tries === 3) throw error ?? new Error(`ps ended with ${signal ?? `code ${status}`}`);
	}
}

/** Ends processes at once; those that are gone already are no fault. */
export function killAll(pids: readonly number[]): void {
	for (const pid of pids) {
		try {
			process.kill(pid, "SIGKILL");
		} catch (error) {
			if (errorCode(error) !== "ESRCH") throw error;
		}
	}
}

/** Whether a process of this id runs, whoever's it is. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errorCode(error) === "EPERM";
	}
}

/** Gives a process all that it is to read. That it ended without reading it is told by its exit code, and is no fault of the writing. */
export function writeInput({ stdin }: ChildProcess, input: string): void {
	stdin?.on("error", (error) => {
		if (errorCode(error) !== "EPIPE") throw error;
	});
	stdin?.end(input);
}
