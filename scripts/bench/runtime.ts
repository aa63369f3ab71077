/** Runs built Workers in workerd, with sockets of their own: no development proxy stands before them. */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { ROOT } from "../local/paths.ts";

/** Made up for benchmarks: no secret of anything. */
const TOKEN_KEYS = "benchmark-token-key-0000000000000000";
export const OPERATOR_KEY = "benchmark-operator-key";

const VARIABLES = {
	RTB_URL: "http://rtb.clickbourse.example",
	CLICK_URL: "https://click.clickbourse.example",
	TRACKER_URL: "https://go.clickbourse.example",
	BASE_URL: "https://api.clickbourse.example",
	BOOK_FORMAT: "2",
	TOKEN_VERSION: "4",
	SNAPSHOT_TTL_SECONDS: "15",
	TOKEN_KEYS,
	OPERATOR_KEY,
};

export type RunningWorker = {
	name: string;
	/** Path of the bundle. */
	script: string;
	/** Names the stored book and databases of this Worker; Workers that name the same one share them. Absent: it has none. */
	state?: string;
	/** Binds the databases too. */
	databases?: boolean;
	/** URL of the PostgreSQL database that its network is in; absent: it is in D1. */
	postgres?: string;
	/** Binds the queues; a Worker with databases has them anyhow. Nobody consumes them: what is sent is dropped. */
	queues?: boolean;
	variables?: Record<string, string>;
};

export type Runtime = {
	miniflare: Miniflare;
	/** Origin of a Worker's own socket on 127.0.0.1, without a trailing slash. */
	origin: (name: string) => Promise<string>;
	[Symbol.asyncDispose]: () => Promise<void>;
};

/**
 * Starts the Workers in one workerd process.
 * @param folder keeps what they store
 * @param inspectorPort 0 for any free one; absent for no inspector
 */
export async function startWorkers(folder: string, workers: readonly RunningWorker[], inspectorPort?: number): Promise<Runtime> {
	const compatibilityDate = await readCompatibilityDate();
	const miniflare = new Miniflare(
		convertV4MiniflareOptions({
			host: "127.0.0.1",
			log: new Log(LogLevel.ERROR),
			cf: false,
			// What Workers log is no figure; faults still show.
			handleStructuredLogs: ({ level, message }) => void (level === "error" && console.error(message)),
			resourcePersistencePath: join(folder, "state"),
			...(inspectorPort !== undefined && { inspectorPort, inspectorHost: "127.0.0.1" }),
			workers: workers.map(({ name, script, state, databases = false, postgres, queues = databases, variables }) => ({
				name,
				modules: [
					{ type: "ESModule" as const, path: script },
					// What the origin's bundle imports beside itself: the viewer of the API reference.
					...readdirSync(dirname(script))
						.filter((file) => file.endsWith(".bin"))
						.map((file) => ({ type: "Data" as const, path: join(dirname(script), file) })),
				],
				modulesRoot: dirname(script),
				compatibilityDate,
				// As wrangler.toml has it.
				compatibilityFlags: databases ? ["nodejs_compat"] : [],
				...(postgres !== undefined && { hyperdrives: { POSTGRES: postgres } }),
				bindings: { ...VARIABLES, ...variables },
				unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
				...(state !== undefined && { kvNamespaces: { BOOK: `book-${state}` } }),
				...(state !== undefined && databases && { d1Databases: { DB: `network-${state}`, PRODUCTS: `products-${state}` } }),
				...(queues && { queueProducers: { CLICKS: "bench-clicks", POSTBACKS: "bench-postbacks", CALLBACKS: "bench-callbacks" } }),
			})),
		}),
	);
	try {
		await miniflare.ready;
	} catch (error) {
		await miniflare.dispose();
		throw error;
	}
	return {
		miniflare,
		origin: async (name) => (await miniflare.unsafeGetDirectURL(name)).origin,
		[Symbol.asyncDispose]: () => miniflare.dispose(),
	};
}

/** The compatibility date that Workers are deployed with. @throws Error where wrangler.toml names none */
async function readCompatibilityDate(): Promise<string> {
	const toml = await readFile(join(ROOT, "wrangler.toml"), "utf8");
	const date = /^compatibility_date\s*=\s*"([^"]+)"/m.exec(toml)?.[1];
	if (date === undefined) throw new Error("wrangler.toml: no compatibility_date");
	return date;
}
