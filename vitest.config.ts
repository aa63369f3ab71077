import { availableParallelism } from "node:os";
import "./scripts/build-assets.mjs";
import "./test/support/node/keep-files-in-memory.ts";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { unstable_readConfig } from "wrangler";

/** Secrets of the Worker under test; the second token key is an older one of the ring. */
const TOKEN_KEYS = "test-token-key-newest-0000000000000000,test-token-key-older-00000000000000000";
const OPERATOR_KEY = "test-operator-key-000000";

/** As tsconfig.base.json has it: vitest does not look there. */
const JSX = { oxc: { jsx: { runtime: "automatic", importSource: "hono/jsx" } } } as const;

/** Only a test that hangs takes this long; on a busy machine a sound one takes many times its usual. */
const HANGS_MS = 120_000;

/** How long a queue waits for more messages, in seconds; wrangler.toml says one to five, for which tests would only wait. */
const MAX_BATCH_TIMEOUT_SECONDS = 0.1;

type QueueConsumer = { queue: string; max_batch_size: number; max_retries: number; retry_delay: number; dead_letter_queue?: string };

const { queues, d1_databases, kv_namespaces, ratelimits } = unstable_readConfig({ config: "wrangler.toml" }, { hideWarnings: true });

/** Bindings that keep something, which test/support/begin-anew.ts empties. */
const STORES = {
	databases: d1_databases.map(({ binding }: { binding: string }) => binding),
	lists: [...kv_namespaces.map(({ binding }: { binding: string }) => binding), "ARCHIVE"],
	rates: ratelimits.map(({ name }: { name: string }) => name),
};

/** The queues' consumers as wrangler.toml has them, but for that wait. */
function queueConsumers() {
	const consumers: QueueConsumer[] = queues.consumers ?? [];
	return Object.fromEntries(
		consumers.map((consumer) => [
			consumer.queue,
			{
				maxBatchSize: consumer.max_batch_size,
				maxBatchTimeout: MAX_BATCH_TIMEOUT_SECONDS,
				maxRetries: consumer.max_retries,
				retryDelay: consumer.retry_delay,
				...(consumer.dead_letter_queue !== undefined && { deadLetterQueue: consumer.dead_letter_queue }),
			},
		]),
	);
}

/** What runs against PostgreSQL: what writes to the ledger or reads from it, and what is about PostgreSQL alone. */
const POSTGRES_SUITES = [
	"test/postgres/**/*.test.ts",
	"test/worker/{callbacks,changes,console,conversions}/**/*.test.ts",
	"test/worker/{alerts,auction-feedback,audit,bid-counts,caps,cron-jobs,click-consumer,click-level-report,click-terms,click-turns,days,erase,erase-before-postbacks,erase-beside-settling,erase-named-otherwise,publisher-api,publisher-clicks,publisher-links}.test.ts",
	"test/worker/{brand-pages,large-import,learned-key,learned-prices,learning-night,learning-rows,network-import,network-report-sources,operator-clicks,operator-learning,operator-status,released-prices,reconcile-sums,replay,report-details,reports-add-up,reports-stand-still,retention,shared-click-id,written-keys}.test.ts",
];

/** Further ones, for minutes more: `POSTGRES_SUITES=all npm test -- postgres`. */
const FURTHER_POSTGRES_SUITES = [
	"test/worker/adjustments/**/*.test.ts",
	"test/worker/{book-over-lagging-kv,packed-book-over-lagging-kv,brand-lists,campaign-book,packed-book,check-ledger,click-reasons,export-import,import-blocks,import-merge,key-owners,known-facts,operator-keys,operator-roles}.test.ts",
	"test/worker/{paid-within-budgets,stops,told-codes,what-is-not-paid}.test.ts",
];

/** Histories of a property test there: the same model is tried against D1 with more. */
const POSTGRES_PROPERTY_RUNS = "12";

/** What runs on D1 and PostgreSQL at once: together, every statement of the network database (test/mirror says so). */
const MIRROR_SUITES = [
	"test/worker/{adjustments,callbacks,changes,console,conversions}/**/*.test.ts",
	"test/worker/{alerts,auction-feedback,audit,bid-counts,brand-lists,check-ledger,cron-jobs,click-consumer,click-level-report,days,erase,erase-named-otherwise,export-import,import-blocks,import-merge,key-owners,known-facts,network-import,operator-keys}.test.ts",
	"test/worker/{brand-pages,learned-key,learned-prices,learning-night,learning-rows,network-report-sources,operator-learning,operator-status,publisher-api,publisher-clicks,publisher-links,released-prices,reconcile-sums,replay,report-details,retention,shared-click-id,stops}.test.ts",
	"test/worker/{data-through,packed-book,packed-book-over-lagging-kv,reports-add-up,written-keys}.test.ts",
];

/** Histories of a property test there. */
const MIRROR_PROPERTY_RUNS = "2";

/** Either format of the campaign book must do: `BOOK_FORMAT=2 npm test -- worker` tries the other. */
const BOOK_FORMAT = process.env.BOOK_FORMAT ?? "1";
/** So must either version of a bid's token. */
const TOKEN_VERSION = process.env.TOKEN_VERSION ?? "1";

/** About what the first format writes and reads; packed-book* are about the second, whatever is set. */
const FIRST_FORMAT_SUITES = ["test/worker/campaign-book.test.ts"];

/** Each file evaluates the Worker anew: packages of many modules are bundled for them once. */
const BUNDLED_PACKAGES = [
	...["drizzle-orm", "drizzle-orm/sqlite-core", "drizzle-orm/d1", "valibot", "@valibot/to-json-schema", "fast-check", "papaparse"],
	...["hono", "hono/accepts", "hono/body-limit", "hono/jsx/jsx-runtime", "@simplewebauthn/server", "d3-scale", "ipaddr.js", "isbot"],
];

/** @param postgresUrl a server on which each file makes its network database; empty for D1 */
function inWorkerd(name: string, include: string[], postgresUrl: string, groupOrder: number): TestProjectConfiguration {
	return {
		...JSX,
		plugins: [
			cloudflareTest(async () => ({
				main: name === "mirror" ? "./test/support/mirrored-worker.ts" : "./test/support/tested-worker.ts",
				wrangler: { configPath: "./wrangler.toml" },
				miniflare: {
					r2Buckets: ["ARCHIVE"],
					queueConsumers: queueConsumers(),
					bindings: {
						TOKEN_KEYS,
						TOKEN_VERSION,
						OPERATOR_KEY,
						BOOK_FORMAT,
						// Whatever .dev.vars says.
						ALLOW_INSECURE_CALLBACKS: "false",
						POSTGRES_URL: postgresUrl,
						PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? { postgres: POSTGRES_PROPERTY_RUNS, mirror: MIRROR_PROPERTY_RUNS }[name] ?? "",
						STORES,
						MIRROR: name === "mirror" ? "true" : "",
						NETWORK_MIGRATIONS: await readD1Migrations("drizzle/network"),
						PRODUCTS_MIGRATIONS: await readD1Migrations("drizzle/products"),
					},
				},
			})),
		],
		test: {
			name,
			deps: { optimizer: { ssr: { enabled: true, include: BUNDLED_PACKAGES } } },
			testTimeout: HANGS_MS,
			// Much of a file's time is waiting: with two cores, too, two run at once. Vitest asks for a group of its own then.
			maxWorkers: Math.max(2, availableParallelism() - 1),
			sequence: { groupOrder, setupFiles: "list" },
			// test/support/begin-anew.ts isolates files that share a process. With PostgreSQL they share none: its sockets belong to requests, and
			// those of an earlier file would be waited for in vain.
			isolate: name !== "worker",
			hookTimeout: HANGS_MS,
			include,
			exclude: BOOK_FORMAT === "1" ? [] : FIRST_FORMAT_SUITES,
			setupFiles: ["import-at-once", "begin-anew", "send-well-formed", "apply-migrations"].map((name) => `./test/support/${name}.ts`),
			globalSetup: [
				"./test/support/node/start-callback-receiver.ts",
				...(name !== "postgres" ? [] : ["./test/support/node/start-database-proxy.ts"]),
				...(name !== "mirror" ? [] : ["./test/support/node/note-mirrored.ts"]),
			],
		},
	};
}

/**
 * Eight projects: `unit` runs pure code in plain Node; `worker` runs in workerd, with real KV and D1, what needs the runtime
 * (src/lib/base64-url.ts among it: Node 24 has no Uint8Array.prototype.toBase64), with storage and modules isolated by test file, though
 * files share processes; `postgres` runs the same against PostgreSQL, `mirror` against both engines at once, and `mirrored` asks whether
 * that was every statement; `e2e` runs the commands of the README themselves, `e2e-postgres` `npm start -- --postgres`, and `console`
 * opens pages in a real browser.
 */
export default defineConfig({
	test: {
		silent: "passed-only",
		projects: [
			{
				...JSX,
				test: {
					name: "unit",
					environment: "node",
					include: ["test/unit/**/*.test.{ts,tsx}"],
					testTimeout: HANGS_MS,
					// Pure code shares nothing, so its files share a thread, and load what they test once; what a test has replaced is put back.
					pool: "threads",
					isolate: false,
					restoreMocks: true,
				},
			},
			{
				test: {
					name: "e2e",
					environment: "node",
					include: ["test/e2e/**/*.test.ts"],
					testTimeout: HANGS_MS,
					// Servers and processes are waited for most of the time.
					maxWorkers: Math.max(2, availableParallelism() - 1),
					sequence: { groupOrder: 6 },
				},
			},
			{
				test: { name: "e2e-postgres", environment: "node", include: ["test/e2e-postgres/**/*.test.ts"], testTimeout: HANGS_MS },
			},
			{
				test: {
					name: "console",
					environment: "node",
					include: ["test/browser/**/*.test.ts"],
					testTimeout: HANGS_MS,
					hookTimeout: HANGS_MS,
					expect: { poll: { timeout: 30_000 } },
					// One service and one browser for all files, which share a connection to it where they share a thread.
					globalSetup: ["./test/browser/support/start.ts"],
					pool: "threads",
					isolate: false,
					maxWorkers: 2,
					sequence: { groupOrder: 5 },
				},
			},
			inWorkerd("worker", ["test/worker/**/*.test.ts"], "", 1),
			inWorkerd(
				"postgres",
				[...POSTGRES_SUITES, ...(process.env.POSTGRES_SUITES === "all" ? FURTHER_POSTGRES_SUITES : [])],
				process.env.POSTGRES_URL ?? "",
				2,
			),
			inWorkerd("mirror", MIRROR_SUITES, process.env.POSTGRES_URL ?? "", 3),
			{
				test: {
					name: "mirrored",
					environment: "node",
					include: ["test/mirror/**/*.test.ts"],
					testTimeout: HANGS_MS,
					sequence: { groupOrder: 4 },
				},
			},
		],
	},
});
