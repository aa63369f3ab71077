/**
 * What each part of the code may import: the only place where that is said. test/unit/import-rules.test.ts holds src/ and scripts/ to
 * it; scripts/checks/print-parts.ts prints it into docs/architecture.md.
 *
 * The parts stand in layers: each imports only parts that stand above it here, so no circle and no import upwards can be written down.
 */

export type Part = {
	/** Folder or file, from the root. A file belongs to the part that names it, else to the one with the longest path that it lies in. */
	path: string;
	/** Further files of it. */
	files?: readonly string[];
	job: string;
	/** Parts, or single files of parts, that it may import. Its own files are its own affair. */
	imports: readonly string[];
	/** npm packages that it may import, with their subpaths; in src/ also what Node brings and workerd has. */
	packages: readonly string[];
};

export const MAP_PATH = "scripts/checks/parts/map.ts";

/** The Workers. What Node brings is imported only where it is named. */
export const SOURCE_PARTS: readonly Part[] = [
	{
		path: "src/lib",
		job: "leaves: money, hosts, keywords, time, ids, HTTP answers, lists of values, schemas that several answers share",
		imports: [],
		packages: ["ipaddr.js", "ts-md5", "valibot"],
	},
	{
		path: "src/http",
		job: "requests to the origin: what stands before every route, reading a body by a schema, the answers to what is at fault",
		imports: ["src/lib"],
		packages: ["hono", "valibot"],
	},
	{
		path: "src/openrtb",
		job: "the OpenRTB 2.5 wire, pure: read a request, write an answer, the reasons of no-bids",
		imports: ["src/lib"],
		packages: [],
	},
	{
		path: "src/click-token",
		job: "the `encyp` token and the click URL",
		imports: ["src/lib"],
		packages: [],
	},
	{
		path: "src/campaign-book",
		job: "`format` (the contract), `build` (rows → shards, pure), `load` (KV → isolate)",
		imports: ["src/lib"],
		packages: [],
	},
	{
		path: "src/bidding",
		job: "the auction and the two real-time endpoints",
		imports: ["src/lib", "src/openrtb", "src/click-token", "src/campaign-book"],
		packages: [],
	},
	{
		path: "src/bidding/explain-route.ts",
		files: ["src/bidding/explain.ts", "src/bidding/explain-answer.ts"],
		job: "`POST /operator/explain`: a decision explained",
		imports: ["src/lib", "src/http", "src/openrtb", "src/campaign-book", "src/bidding"],
		packages: ["hono", "valibot"],
	},
	{
		path: "src/clicks",
		job: "the redirect, and the click's message",
		imports: ["src/lib", "src/click-token", "src/campaign-book"],
		packages: ["isbot", "siphash", "valibot"],
	},
	{
		path: "src/db/schema",
		job: "the tables, as drizzle has them",
		imports: ["src/lib/enums.ts", "src/lib/traffic-rules.ts"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/db",
		job: "the client, transactions, rows as JSON, which brand a host belongs to",
		imports: ["src/lib"],
		packages: ["drizzle-orm", "node:async_hooks", "pg", "pg-cloudflare", "ts-md5"],
	},
	{
		path: "src/audit",
		job: "who did what: written with each change, and shown: `/operator/audit`",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/keys",
		job: "whose key a request presents",
		imports: ["src/lib", "src/db/schema", "src/db"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/dead-letters",
		job: "keeps messages that no consumer could take",
		imports: ["src/lib", "src/db/schema", "src/db"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/retention",
		job: "removes, and archives, what is kept for a time only",
		imports: ["src/lib", "src/db/schema", "src/db"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/campaign-book/publisher",
		job: "publishes the book: D1 → KV",
		imports: ["src/lib", "src/campaign-book", "src/db/schema", "src/db"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/clicks/consumer",
		job: "counts clicks from the queue; caps and pauses",
		imports: ["src/lib", "src/campaign-book/format.ts", "src/clicks", "src/db/schema", "src/db", "src/dead-letters"],
		packages: ["drizzle-orm"],
	},
	{
		path: "src/catalogue",
		job: "the two brand lists: streamed, with validators, kept once written",
		imports: ["src/lib", "src/click-token", "src/db/schema", "src/db", "src/keys"],
		packages: ["drizzle-orm", "hono"],
	},
	{
		path: "src/products",
		job: "the two product searches",
		imports: ["src/lib", "src/http", "src/click-token", "src/db/schema", "src/db", "src/keys"],
		packages: ["drizzle-orm", "hono"],
	},
	{
		path: "src/reports",
		job: "the revenue share and click-level reports: one query file a report, JSON or CSV",
		imports: ["src/lib", "src/http", "src/db", "src/keys"],
		packages: ["drizzle-orm", "hono", "papaparse"],
	},
	{
		path: "src/reconcile",
		job: "compares counters with the rows they were made of, and writes them right",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit", "src/reports/counted.ts"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/days",
		job: "closed days of publishers: their sums, and digests that publishers verify their copies by",
		imports: [
			"src/lib",
			"src/http",
			"src/db",
			"src/keys",
			"src/reports/counted.ts",
			"src/reports/exact-sum.ts",
			"src/reports/sums.ts",
			"src/reconcile/changed-days.ts",
			"src/reconcile/first-day.ts",
		],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/conversions",
		job: "postbacks: intake, settling, trace",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/keys"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/ledger-check",
		job: "checks conversions against their events and callbacks, every night",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/conversions/conversion.ts", "src/conversions/conversion-changes.ts"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/callbacks",
		job: "delivers what settling put into the outbox",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/publisher-api",
		job: "what a publisher sees and does with its Access Key, beside the interface: account, clicks, conversions, earnings, brands, links, callbacks",
		imports: [
			"src/lib",
			"src/http",
			"src/openrtb",
			"src/click-token",
			"src/campaign-book/format.ts",
			"src/bidding",
			"src/bidding/explain-route.ts",
			"src/clicks/choose-target.ts",
			"src/db/schema",
			"src/db",
			"src/keys",
			"src/reports/counted.ts",
			"src/reports/exact-sum.ts",
			"src/reports/sums.ts",
			"src/callbacks",
		],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/adjustments",
		job: "takes clicks, conversions and amounts back, and gives them back: `/operator/adjustments`",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/database-move",
		job: "moves the network database from D1 to PostgreSQL: `/operator/database/move`",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit", "src/reports/exact-sum.ts"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/operator",
		job: "what stands before the operator's verbs: the key and its role, the size of a body",
		imports: ["src/lib", "src/http"],
		packages: ["hono"],
	},
	{
		path: "src/operator/keys",
		job: "issues, rotates and revokes keys and names",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/operator/network",
		job: "takes over a network file, all of it or nothing",
		imports: ["src/lib", "src/http", "src/campaign-book", "src/campaign-book/publisher", "src/db/schema", "src/db", "src/operator/keys"],
		packages: ["@streamparser/json", "drizzle-orm", "hono", "ipaddr.js", "leven", "valibot"],
	},
	{
		path: "src/operator/feeds",
		job: "takes over product feeds",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit", "src/operator/network"],
		packages: ["drizzle-orm", "hono", "papaparse", "valibot"],
	},
	{
		path: "src/operator/dead-letters",
		job: "sends dead letters to their queue again",
		imports: ["src/lib", "src/http", "src/db/schema", "src/db", "src/audit"],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/operator/status",
		job: "what an operator watches",
		imports: [
			"src/lib",
			"src/campaign-book/format.ts",
			"src/db/schema",
			"src/db",
			"src/reconcile/reconcile-answers.ts",
			"src/reconcile/show-difference.ts",
			"src/reconcile/compare-sums.ts",
			"src/ledger-check/check-conversion.ts",
			"src/ledger-check/ledger-answers.ts",
			"src/ledger-check/show-ledger.ts",
		],
		packages: ["drizzle-orm", "hono", "valibot"],
	},
	{
		path: "src/api-docs",
		job: "`/openapi.json`, `/openapi-operator.json` and `/docs`: every operation and the callback as a webhook, with the schemas that validate, where there are such, and a real answer of each",
		imports: [
			"src/lib",
			"src/http/limits.ts",
			"src/clicks",
			"src/bidding/explain-route.ts",
			"src/products",
			"src/reports",
			"src/reconcile",
			"src/ledger-check",
			"src/days",
			"src/publisher-api",
			"src/conversions",
			"src/callbacks",
			"src/adjustments",
			"src/database-move",
			"src/audit",
			"src/operator/routes.ts",
			"src/operator/keys",
			"src/operator/network",
			"src/operator/feeds",
			"src/operator/dead-letters",
			"src/operator/status",
			".build/viewer",
		],
		packages: ["@valibot/to-json-schema", "hono", "valibot"],
	},
	{
		path: "src/worker-app.ts",
		job: "what every Worker answers: `/health`, not found, an error",
		imports: ["src/lib"],
		packages: ["hono"],
	},
	{
		path: "src/variables.ts",
		job: "variables and secrets, checked",
		imports: [],
		packages: ["valibot"],
	},
	{
		path: "src/config.ts",
		job: "bindings, and the variables checked once an isolate",
		imports: ["src/variables.ts"],
		packages: [],
	},
	{
		path: "src/edge.ts",
		job: "wires the edge together",
		imports: [
			"src/lib",
			"src/openrtb",
			"src/click-token",
			"src/campaign-book",
			"src/bidding",
			"src/clicks",
			"src/config.ts",
			"src/worker-app.ts",
		],
		packages: ["hono"],
	},
	{
		path: "src/origin.ts",
		job: "wires the origin together",
		imports: [
			"src/lib",
			"src/click-token",
			"src/campaign-book",
			"src/bidding",
			"src/bidding/explain-route.ts",
			"src/db",
			"src/keys",
			"src/dead-letters",
			"src/retention",
			"src/campaign-book/publisher",
			"src/clicks/consumer",
			"src/audit",
			"src/catalogue",
			"src/products",
			"src/reports",
			"src/reconcile",
			"src/ledger-check",
			"src/days",
			"src/publisher-api",
			"src/conversions",
			"src/callbacks",
			"src/adjustments",
			"src/database-move",
			"src/operator",
			"src/operator/keys",
			"src/operator/network",
			"src/operator/feeds",
			"src/operator/dead-letters",
			"src/operator/status",
			"src/http",
			"src/api-docs",
			"src/config.ts",
			"src/worker-app.ts",
		],
		packages: ["hono"],
	},
	{
		path: "src/worker.ts",
		job: "joins edge and origin",
		imports: ["src/db/postgres.ts", "src/config.ts", "src/edge.ts", "src/origin.ts"],
		packages: [],
	},
];

/** The commands. All may import what Node brings. */
export const SCRIPT_PARTS: readonly Part[] = [
	{
		path: "scripts/run.mjs",
		files: ["scripts/local/install.mjs"],
		job: "runs every other command, and installs what is missing first: so it has nothing but Node",
		imports: [],
		packages: [],
	},
	{
		path: "scripts/build-viewer.mjs",
		job: "packs the viewer of `/docs`",
		imports: [],
		packages: [],
	},
	{
		path: "scripts/local",
		files: ["scripts/reset.ts"],
		job: "the server on this machine; `npm run reset`",
		imports: [],
		packages: [],
	},
	{
		path: "scripts/postgres",
		job: "a PostgreSQL server on this machine, and its migrations",
		imports: ["scripts/local/install.mjs", "scripts/local"],
		packages: ["pg"],
	},
	{
		path: "scripts/checks",
		files: [
			"scripts/test.ts",
			"scripts/check-bundles.ts",
			"scripts/check-migrations.ts",
			"scripts/check-npm-scripts.ts",
			"scripts/check-toolchain.ts",
		],
		job: "`npm test`, and the checks of `.ci/run`",
		imports: ["scripts/local", "scripts/postgres"],
		packages: ["oxc-parser", "valibot", "vitest"],
	},
	{
		path: "scripts/mutate",
		files: ["scripts/mutate.ts"],
		job: "`npm run mutate`: faults that the tests must notice",
		imports: ["scripts/local"],
		packages: ["valibot"],
	},
	{
		path: "scripts/demo",
		job: "the demo network, of any size",
		imports: ["src/lib/enums.ts", "src/operator/network/network-file.ts"],
		packages: ["valibot"],
	},
	{
		path: "scripts/operator",
		files: ["scripts/operator.ts"],
		job: "`npm run operator`",
		imports: [
			"src/lib",
			"src/audit/audit-answer.ts",
			"src/bidding/explain-answer.ts",
			"src/conversions/trace-answer.ts",
			"src/callbacks/operator-answers.ts",
			"src/adjustments/adjustment-answer.ts",
			"src/operator/keys/keys-answers.ts",
			"src/operator/keys/keys-request.ts",
			"src/operator/network/import-answer.ts",
			"src/operator/feeds/feed-answer.ts",
			"src/operator/feeds/feed-options.ts",
			"src/operator/feeds/csv.ts",
			"src/operator/dead-letters/replay-answers.ts",
			"src/operator/status/status-answer.ts",
			"src/reconcile/reconcile-answers.ts",
			"src/ledger-check/ledger-answers.ts",
			"src/database-move/move-answers.ts",
			"scripts/local",
		],
		packages: ["@streamparser/json", "commander", "ora", "valibot"],
	},
	{
		path: "scripts/start",
		files: ["scripts/start.ts"],
		job: "`npm start`: the server with the demo network in it, and the tour",
		imports: [
			"src/variables.ts",
			"src/operator/network/import-answer.ts",
			"src/operator/status/status-answer.ts",
			"scripts/local",
			"scripts/postgres",
			"scripts/demo",
			"scripts/operator",
		],
		packages: ["valibot"],
	},
	{
		path: "scripts/certify",
		files: ["scripts/certify.ts"],
		job: "`npm run certify`: the interface's rules against a running server",
		imports: ["scripts/local", "scripts/demo"],
		packages: ["commander"],
	},
	{
		path: "scripts/provision",
		files: ["scripts/provision.ts"],
		job: "`npm run provision`: what an account at Cloudflare needs",
		imports: ["scripts/local", "scripts/postgres"],
		packages: ["commander"],
	},
	{
		path: "scripts/stack",
		job: "both Workers of a deployment in one process",
		imports: ["scripts/local"],
		packages: ["miniflare", "wrangler"],
	},
	{
		path: "scripts/soak",
		files: ["scripts/soak.ts"],
		job: "`npm run soak`",
		imports: ["src/lib/enums.ts", "scripts/local", "scripts/postgres", "scripts/stack"],
		packages: ["commander", "pg"],
	},
	{
		path: "scripts/scale",
		files: ["scripts/scale.ts"],
		job: "`npm run scale`: what a load needs and costs",
		imports: ["scripts/local"],
		packages: ["commander"],
	},
	{
		path: "scripts/bench",
		job: "`npm run bench`",
		imports: [
			"src/campaign-book/format.ts",
			"src/products/affiliate-query.ts",
			"src/products/search-terms.ts",
			"src/operator/network/import-answer.ts",
			"scripts/local",
			"scripts/demo",
			"scripts/postgres",
			"scripts/scale/prices.ts",
			"test/bench",
		],
		packages: ["autocannon", "commander", "drizzle-orm", "miniflare", "pg", "undici"],
	},
];

/** What is imported from outside of src/ and scripts/: what a build makes, and the Workers that are measured. */
export const OUTSIDE: readonly string[] = [".build/viewer", "test/bench"];

/** Files that import what they find in a folder of theirs: only they may import without a literal. */
export const LOADERS: readonly string[] = ["scripts/operator/command.ts"];

/**
 * What may be reached from a Worker's entry, over however many imports. The edge runs in every data centre, beside no database: whatever
 * it carries, every isolate pays for.
 */
export const REACHES: readonly { entry: string; parts: readonly string[]; packages: readonly string[] }[] = [
	{
		entry: "src/edge.ts",
		parts: [
			"src/lib",
			"src/openrtb",
			"src/click-token",
			"src/campaign-book",
			"src/bidding",
			"src/clicks",
			"src/worker-app.ts",
			"src/variables.ts",
			"src/config.ts",
			"src/edge.ts",
		],
		packages: ["hono", "isbot", "siphash", "ts-md5", "valibot"],
	},
];
