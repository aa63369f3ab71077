/** The console's own table of pages: what is in it is tested without being named in a test. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../../scripts/local/paths.ts";

/** A page that is read, and whom it takes; or a file. */
export type PageEntry = { path: string; needs: string | { publisher: string } | { staff: string }; isData: boolean };

type Routes = { PAGES: readonly (Omit<PageEntry, "isData"> & { method: string; isData?: true })[] };

/**
 * What is opened by GET. What makes them is bundled for this, since Node reads no .tsx.
 * @param folder where the bundle goes
 */
export async function readPageTable(folder: string): Promise<PageEntry[]> {
	const outfile = join(folder, "console-routes.mjs");
	await build({
		entryPoints: [join(ROOT, "src", "console", "console-routes.ts")],
		outfile,
		bundle: true,
		format: "esm",
		platform: "node",
		conditions: ["workerd", "worker"],
		loader: { ".bin": "binary" },
		external: ["cloudflare:*"],
		logLevel: "warning",
	});
	const { PAGES }: Routes = await import(pathToFileURL(outfile).href);
	return PAGES.filter(({ method }) => method === "GET").map(({ path, needs, isData = false }) => ({ path, needs, isData }));
}
