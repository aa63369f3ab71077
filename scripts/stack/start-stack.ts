/**
 * The whole service in one workerd process, from bundles as they are deployed: as one Worker, or as edge and origin that share the
 * KV namespace and the queues. Databases, KV and queues are those of the simulator; what is stored stays in the folder.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { unstable_readConfig } from "wrangler";
import { applyMigrations, MIGRATING_WORKER } from "../local/apply-migrations.ts";
import { ROOT } from "../local/paths.ts";
import { bundleWorker } from "../local/wrangler.ts";

export type Topology = "one" | "split";
export type Bundles = Record<"edge" | "origin", string>;

export type Stack = {
	/** Origin of the Worker that bids and redirects, without a trailing slash. */
	edge: string;
	/** Origin of the Worker that does everything else. */
	origin: string;
	operatorKey: string;
	/** The network database of the simulator itself, to look at. */
	database: () => Promise<D1Like>;
	/** Runs the Worker's minutely work now. */
	runCron: () => Promise<void>;
	[Symbol.asyncDispose]: () => Promise<void>;
};

/** As much of a D1 database as is used from outside. */
type D1Like = { prepare(sql: string): { all<Row>(): Promise<{ results: Row[] }> } };

export type StackOptions = {
	topology: Topology;
	bundles: Bundles;
	folder: string;
	variables?: Record<string, string>;
	/** Where the origin answers, on 127.0.0.1; a free one where it says nothing. */
	port?: number;
	/** A PostgreSQL database that is migrated, as the network database; absent for the simulator's. */
	postgresUrl?: string | undefined;
	/** Told of each structured log line of the Workers. */
	onLog?: (level: string, message: string) => void;
};

const OPERATOR_KEY = "stack-operator-key-0000000";
const TOKEN_KEYS = "stack-token-key-0000000000000000000000";
const DATABASES = { DB: "network", PRODUCTS: "products" } as const;
/** The Worker that migrates them. */
const MIGRATE = "migrate";

/**
 * Builds the bundles of a topology into a folder: what `wrangler deploy` would upload.
 * @param sources folder of the entry files; another one than src wraps them
 * @throws Failure with wrangler's output */
export async function buildBundles(topology: Topology, folder: string, sources = "src"): Promise<Bundles> {
	if (topology === "one") {
		const worker = await bundleWorker("", join(folder, "default"), `${sources}/worker.ts`);
		return { edge: worker, origin: worker };
	}
	return {
		edge: await bundleWorker("edge", join(folder, "edge"), `${sources}/edge.ts`),
		origin: await bundleWorker("origin", join(folder, "origin"), `${sources}/origin.ts`),
	};
}

/** Starts the Workers and brings the databases up to date. */
export async function startStack({
	topology,
	bundles,
	folder,
	variables = {},
	port = 0,
	postgresUrl,
	onLog,
}: StackOptions): Promise<Stack> {
	const names = topology === "one" ? ({ edge: "all", origin: "all" } as const) : ({ edge: "edge", origin: "origin" } as const);
	const roles = topology === "one" ? (["origin"] as const) : (["edge", "origin"] as const);
	const miniflare = new Miniflare(
		convertV4MiniflareOptions({
			host: "127.0.0.1",
			log: new Log(LogLevel.ERROR),
			cf: false,
			handleStructuredLogs: ({ level, message }) => onLog?.(level, message),
			resourcePersistencePath: join(folder, "state"),
			workers: [
				...(await Promise.all(
					roles.map((role) => describeWorker({ role, name: names[role], topology, script: bundles[role], variables, port, postgresUrl })),
				)),
				{ name: MIGRATE, modules: true, script: MIGRATING_WORKER, d1Databases: DATABASES },
			],
		}),
	);
	try {
		await miniflare.ready;
		const { fetch } = await miniflare.getWorker(MIGRATE);
		for (const [binding, name] of Object.entries(DATABASES)) await applyMigrations(fetch, binding, join(ROOT, "drizzle", name));
		const database = async () => (await miniflare.getD1Database("DB", names.origin)) as unknown as D1Like;
		return {
			edge: (await miniflare.unsafeGetDirectURL(names.edge)).origin,
			origin: (await miniflare.unsafeGetDirectURL(names.origin)).origin,
			operatorKey: OPERATOR_KEY,
			database,
			async runCron() {
				const worker = await miniflare.getWorker(names.origin);
				const { outcome } = await worker.scheduled({ cron: "* * * * *" });
				if (outcome !== "ok") throw new Error(`the scheduled work ended with ${outcome}`);
			},
			[Symbol.asyncDispose]: () => miniflare.dispose(),
		};
	} catch (error) {
		await miniflare.dispose();
		throw error;
	}
}

/** What is used of a Worker's entry in wrangler.toml. */
type WorkerConfig = {
	compatibility_date?: string | undefined;
	compatibility_flags: string[];
	vars: Record<string, unknown>;
	queues: {
		producers?: { binding: string; queue: string }[];
		consumers?: {
			queue: string;
			max_batch_size?: number | undefined;
			max_batch_timeout?: number | string | undefined;
			max_retries?: number | undefined;
			retry_delay?: number | undefined;
			dead_letter_queue?: string | undefined;
		}[];
	};
};

type Described = {
	role: "edge" | "origin";
	name: string;
	topology: Topology;
	script: string;
	variables: Record<string, string>;
	port: number;
	postgresUrl: string | undefined;
};

async function describeWorker({ role, name, topology, script, variables, port, postgresUrl }: Described) {
	const config: WorkerConfig = unstable_readConfig(
		{ config: join(ROOT, "wrangler.toml"), ...(topology === "split" && { env: role }) },
		{ hideWarnings: true },
	);
	const extra = (await readdir(dirname(script))).filter((file) => file.endsWith(".bin"));
	return {
		name,
		modules: [
			{ type: "ESModule" as const, path: script },
			...extra.map((file) => ({ type: "Data" as const, path: join(dirname(script), file) })),
		],
		modulesRoot: dirname(script),
		compatibilityDate: config.compatibility_date ?? "",
		compatibilityFlags: config.compatibility_flags,
		bindings: { ...config.vars, TOKEN_KEYS, OPERATOR_KEY, ...variables } as Record<string, string>,
		unsafeDirectSockets: [{ host: "127.0.0.1", port: role === "origin" ? port : 0 }],
		kvNamespaces: { BOOK: "book" },
		queueProducers: Object.fromEntries(config.queues.producers?.map(({ binding, queue }) => [binding, queue]) ?? []),
		...(role === "origin" && {
			d1Databases: DATABASES,
			...(postgresUrl !== undefined && { hyperdrives: { POSTGRES: postgresUrl } }),
			queueConsumers: Object.fromEntries(
				config.queues.consumers?.map((consumer) => [
					consumer.queue,
					{
						...(consumer.max_batch_size !== undefined && { maxBatchSize: consumer.max_batch_size }),
						...(typeof consumer.max_batch_timeout === "number" && { maxBatchTimeout: consumer.max_batch_timeout }),
						...(consumer.max_retries !== undefined && { maxRetries: consumer.max_retries }),
						...(consumer.retry_delay !== undefined && { retryDelay: consumer.retry_delay }),
						...(consumer.dead_letter_queue !== undefined && { deadLetterQueue: consumer.dead_letter_queue }),
					},
				]) ?? [],
			),
		}),
	};
}
