/** CPU time of workerd, for figures that hold on a machine that others use as well. */
import { existsSync, readFileSync } from "node:fs";
import { descendantsOf } from "../local/processes.ts";

const TICKS_PER_SECOND = 100;

/** Reads the CPU seconds that workerd, started by this process, has used; null where the system has no /proc. */
export function readServerCpu(): (() => number) | null {
	if (process.platform !== "linux") return null;
	const pids = descendantsOf(process.pid).filter((pid) => nameOf(pid) === "workerd");
	return () => pids.reduce((total, pid) => total + cpuSeconds(pid), 0);
}

/** A process's name; null where it has ended, as the one that listed the processes has. */
function nameOf(pid: number): string | null {
	const file = `/proc/${pid}/comm`;
	return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

function cpuSeconds(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	// The name, in parentheses, may hold spaces; user and system time are the 14th and 15th fields.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
