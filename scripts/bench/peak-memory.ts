/** Peak memory of workerd, as Linux counts it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { descendantsOf } from "../local/processes.ts";

/** Starts a new peak; null where the system has no /proc. The returned function reads the growth since, in bytes, and the peak itself. */
export function watchPeakMemory(): (() => { peak: number; growth: number }) | null {
	if (process.platform !== "linux") return null;
	const pids = descendantsOf(process.pid).filter(
		(pid) => existsSync(`/proc/${pid}/comm`) && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "workerd",
	);
	for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
	const before = sum(pids, "VmRSS");
	return () => {
		const peak = sum(pids, "VmHWM");
		return { peak, growth: peak - before };
	};
}

function sum(pids: readonly number[], field: string): number {
	return pids.reduce((total, pid) => total + readField(pid, field), 0);
}

function readField(pid: number, field: string): number {
	const line = readFileSync(`/proc/${pid}/status`, "utf8")
		.split("\n")
		.find((text) => text.startsWith(`${field}:`));
	return Number(line?.match(/\d+/)?.[0] ?? Number.NaN) * 1024;
}
