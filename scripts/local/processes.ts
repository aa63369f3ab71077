import { execFileSync } from "node:child_process";
import { errorCode } from "./failure.ts";

/** The processes that `pid` started, and those they started. */
export function descendantsOf(pid: number): number[] {
	const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
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
