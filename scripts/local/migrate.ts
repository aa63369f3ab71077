import { spawn } from "node:child_process";
import { join } from "node:path";
import { Failure } from "./failure.ts";

const SCRIPT = join(import.meta.dirname, "migrate-databases.ts");

/** Brings both local databases up to date. @throws Failure with what is wrong */
export async function migrateLocalDatabases(): Promise<void> {
	// A group of its own: Ctrl-C in a terminal would end it in the middle of a migration.
	const child = spawn(process.execPath, [SCRIPT], { stdio: ["ignore", "pipe", "pipe"], detached: true });
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
	const code = await new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", resolve);
	});
	if (code !== 0) throw new Failure(output.trim());
}
