import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../local/failure.ts";
import { ROOT, WRANGLER_DIR } from "../local/paths.ts";

/**
 * Copies the project as it stands, uncommitted changes and all, but nothing that git ignores. Below .wrangler/, which git ignores: so
 * the copy finds the dependencies where this project has them.
 * @returns the copy's folder, for the caller to remove
 */
export function copyProject(): string {
	const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
	if (listed.status !== 0) throw new Failure(`The list of the project's files cannot be read: is it a git checkout?\n${listed.stderr}`);
	mkdirSync(WRANGLER_DIR, { recursive: true });
	const copy = mkdtempSync(join(WRANGLER_DIR, "mutate-"));
	for (const file of listed.stdout.split("\0")) {
		// One that is deleted and not committed is listed all the same.
		if (file === "" || !existsSync(join(ROOT, file))) continue;
		mkdirSync(dirname(join(copy, file)), { recursive: true });
		copyFileSync(join(ROOT, file), join(copy, file));
	}
	return copy;
}
