import { accessSync, constants } from "node:fs";
import { errorCode, Failure } from "./failure.ts";
import { ROOT, WRANGLER_DIR } from "./paths.ts";

/** @throws Failure where the local server could not write what it keeps. Of folders, those that are there. */
export function demandWritable(folders: readonly string[] = [ROOT, WRANGLER_DIR]): void {
	for (const folder of folders) {
		try {
			accessSync(folder, constants.W_OK);
		} catch (error) {
			const code = errorCode(error);
			if (code === "ENOENT") continue;
			throw new Failure(
				`${folder} cannot be written to (${code ?? String(error)}), and the local server keeps its state and secrets there.\n` +
					"Give this user the right to, or use a copy of this folder that is theirs.",
			);
		}
	}
}
