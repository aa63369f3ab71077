/** Fills stored state through the real Worker: migrations, POST /operator/network, and the cron until the book is whole. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, fetch } from "undici";
import type { ImportReport } from "../../src/operator/network/import-answer.ts";
import type { NetworkFile } from "../demo/network-file.ts";
import { ROOT } from "../local/paths.ts";
import { OPERATOR_KEY, type Runtime } from "./runtime.ts";

/** A large file takes longer than the five minutes after which an answer is given up otherwise. */
const PATIENT = new Agent({ headersTimeout: 0 });

/** Brings the databases of a Worker to the present schema. */
export async function migrateDatabases({ miniflare }: Runtime, worker: string): Promise<void> {
	for (const [binding, folder] of [
		["DB", "network"],
		["PRODUCTS", "products"],
	] as const) {
		const database = await miniflare.getD1Database(binding, worker);
		const files = (await readdir(join(ROOT, "drizzle", folder))).filter((name) => name.endsWith(".sql")).sort();
		for (const file of files) {
			const text = await readFile(join(ROOT, "drizzle", folder, file), "utf8");
			const statements = text.split("--> statement-breakpoint").map((statement) => statement.trim());
			await database.batch(statements.filter((statement) => statement !== "").map((statement) => database.prepare(statement)));
		}
	}
}

/** @param origin of the Worker, with what stands before `/operator` @throws Error where the import is refused */
export async function importNetwork(origin: string, network: NetworkFile | string): Promise<ImportReport> {
	const response = await fetch(`${origin}/operator/network`, {
		dispatcher: PATIENT,
		method: "POST",
		headers: { OperatorKey: OPERATOR_KEY, "content-type": "application/json" },
		body: typeof network === "string" ? network : JSON.stringify(network),
	});
	if (!response.ok) throw new Error(`import: HTTP ${response.status} ${(await response.text()).slice(0, 500)}`);
	return (await response.json()) as ImportReport;
}

/** Runs the cron as Cloudflare does each minute. */
export async function runCron({ miniflare }: Runtime, worker: string): Promise<void> {
	const { scheduled } = await miniflare.getWorker(worker);
	const { outcome } = await scheduled({ cron: "* * * * *" });
	if (outcome !== "ok") throw new Error(`the cron ended with ${outcome}`);
}
