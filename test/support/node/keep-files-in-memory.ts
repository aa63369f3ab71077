/**
 * Before tests: temporary files lie in memory where the machine has room there. Every commit of workerd's SQLite waits for the disk, and tests
 * make some hundred thousand.
 */
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A file system in memory of every Linux; a container may have given it 64 MB. */
const MEMORY = "/dev/shm";
const MIN_FREE_BYTES = 2 * 2 ** 30;

if (process.env.TMPDIR === undefined && findFree(MEMORY) >= MIN_FREE_BYTES) {
	const folder = mkdtempSync(join(MEMORY, "clickbourse-"));
	process.env.TMPDIR = folder;
	process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
}

/** @returns bytes; 0 where there is no such folder */
function findFree(folder: string): number {
	if (!existsSync(folder)) return 0;
	const { bavail, bsize } = statfsSync(folder);
	return bavail * bsize;
}
