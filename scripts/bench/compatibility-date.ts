import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../local/paths.ts";

/** The compatibility date that Workers are deployed with. @throws Error where wrangler.toml names none */
export async function readCompatibilityDate(): Promise<string> {
	const toml = await readFile(join(ROOT, "wrangler.toml"), "utf8");
	const date = /^compatibility_date\s*=\s*"([^"]+)"/m.exec(toml)?.[1];
	if (date === undefined) throw new Error("wrangler.toml: no compatibility_date");
	return date;
}
