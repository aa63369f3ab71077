/** A line to this file's database that is cut when a test says so: see node/start-database-proxy.ts. */
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import type { Cut } from "../../scripts/postgres/line.ts";
import "./provided-context.ts";
import "./worker-env.ts";

/** The database over the line. */
export function proxiedUrl(): string {
	const url = new URL(env.POSTGRES.connectionString);
	url.hostname = "127.0.0.1";
	url.port = String(inject("databaseProxy").port);
	return url.href;
}

/**
 * From now on the line is cut so: once, but for `always`.
 * @returns how many have been cut so far
 */
export async function cutLine(cut: Cut): Promise<number> {
	const database = new URL(env.POSTGRES.connectionString).pathname;
	return Number(await (await fetch(`${inject("databaseProxy").control}${database}/${cut}`)).text());
}
