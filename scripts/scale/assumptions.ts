/**
 * Everything that docs/scale.md is computed from: change a value here, run `npm run scale`, and the page follows. Counted are requests,
 * clicks, postbacks and callbacks; not brand lists, searches, reports and imports, which cost little beside them.
 */

/**
 * Where a value comes from. `measured`: the figure of that name by `npm run bench -- --only PART`. `code`: a setting or constant of ours.
 * `list`: a price or limit on Cloudflare's pages, read in November 2026. `trial`: measured once, by no command that is kept. `assumed`: nobody
 * has measured it; put your own value in.
 */
type Source =
	| { kind: "measured"; part: string; figure: string }
	| { kind: "code"; file: string }
	| { kind: "list"; page: string }
	| { kind: "trial" }
	| { kind: "assumed" };

export type Assumption = { value: number; unit: string; what: string; source: Source };

const measured = (value: number, unit: string, what: string, part: string, figure: string): Assumption => ({
	value,
	unit,
	what,
	source: { kind: "measured", part, figure },
});
const code = (value: number, unit: string, what: string, file: string): Assumption => ({
	value,
	unit,
	what,
	source: { kind: "code", file },
});
const list = (value: number, unit: string, what: string, page: string): Assumption => ({
	value,
	unit,
	what,
	source: { kind: "list", page },
});
const trial = (value: number, unit: string, what: string): Assumption => ({ value, unit, what, source: { kind: "trial" } });
const assumed = (value: number, unit: string, what: string): Assumption => ({ value, unit, what, source: { kind: "assumed" } });

export const ASSUMPTIONS = {
	// Traffic.
	clickShare: assumed(0.005, "of bids", "clicks"),
	conversionShare: assumed(0.01, "of clicks", "conversions"),
	postbacksPerConversion: assumed(2, "postbacks", "a conversion: reported, then approved"),
	callbacksPerConversion: assumed(1.1, "callbacks", "a conversion: a credit, and one in ten taken back"),
	peakFactor: assumed(2, "× the mean", "the busiest second"),
	campaigns: assumed(100_000, "campaigns", "in the book"),
	conversionDays: assumed(365, "days", "of conversions stored: they are kept for good, so this is how far the page looks ahead"),

	// Workers.
	bidCpu: measured(118.2, "µs CPU", "a bid", "openrtb", "openrtb.bid.cpu"),
	clickCpu: measured(85.92, "µs CPU", "a redirect", "redirect", "redirect.cpu"),
	postbackCpu: measured(120.1, "µs CPU", "a postback taken in", "intake", "intake.postback.cpu"),
	clickBatchMs: measured(9.094, "ms", "to count a full batch of clicks, database included", "click-consumer", "click_consumer.batch"),
	settledPerSecond: measured(1_291, "postbacks/s", "settled by batch, database included", "settle", "settle.new.large"),
	callbackCpu: assumed(2_000, "µs CPU", "a callback delivered"),

	// Queues.
	clickMessageBytes: measured(549, "bytes", "a click's message", "ledger", "ledger.click.message"),
	messageOverheadBytes: list(100, "bytes", "Cloudflare's own of a message", "queues/platform/limits"),
	messageOperations: list(3, "operations", "a message: written, read, deleted", "queues/platform/pricing"),
	queueRate: list(5_000, "messages/s", "a queue", "queues/platform/limits"),
	queueBacklogGb: list(25, "GB", "waiting in a queue", "queues/platform/limits"),
	batchSize: code(100, "messages", "a batch", "wrangler.toml"),
	clickBatchSeconds: code(2, "s", "until a batch of clicks goes unfilled", "wrangler.toml"),
	otherBatchSeconds: code(1, "s", "until a batch of postbacks or callbacks does", "wrangler.toml"),
	clickConsumers: code(4, "at once", "consumers of clicks", "wrangler.toml"),
	postbackConsumers: code(2, "at once", "consumers of postbacks", "wrangler.toml"),
	callbackConsumers: code(5, "at once", "consumers of callbacks", "wrangler.toml"),
	callbacksAtOnce: code(6, "at once", "calls of a consumer of callbacks", "src/callbacks/consume-callbacks.ts"),
	receiverSeconds: assumed(0.25, "s", "a publisher's server takes, statements about it included"),

	// The campaign book and KV.
	largeBookBytes: measured(246_153_800, "bytes", "in KV, the book of a million campaigns", "publish", "publish.full.bytes"),
	isolateMb: list(128, "MB", "an isolate's memory", "workers/platform/limits"),
	shardKib: code(64, "KiB", "a shard at most, on average", "src/campaign-book/build.ts"),
	shardCacheMb: code(46.137344, "MB", "of shards an isolate keeps", "src/campaign-book/load.ts"),
	largeWaitedShare: measured(0.4724, "of bids", "wait for a shard from KV, at a million campaigns", "catalogue", "catalogue.waited_share"),
	manifestSeconds: code(15, "s", "between looks at the manifest (2 keys)", "wrangler.toml"),
	pausesSeconds: code(10, "s", "between looks at the pauses (1 key)", "src/campaign-book/paused-campaigns.ts"),
	leastIsolates: assumed(100, "isolates", "that serve bids at the least: one or more a data centre"),
	bidsPerIsolate: assumed(200, "bids/s", "an isolate takes"),
	isolateHours: assumed(1, "hour", "an isolate lives"),
	changedShardsPerHour: assumed(100, "shards/h", "changed by imports"),
	publishesPerHour: assumed(12, "publishes/h", "of the book"),
	pausesPerHour: assumed(60, "changes/h", "of what is paused"),

	// The ledger, on D1.
	clickRows: measured(12.62, "rows written", "a click, in batches of 100", "ledger", "ledger.click.rows_written"),
	clickRowsByTen: measured(14.2, "rows written", "a click, in batches of 10", "ledger", "ledger.click.by_ten.rows_written"),
	clickRemovalRows: measured(2.031, "rows written", "to remove a click later", "ledger", "ledger.click.removal"),
	clickRowsRead: measured(54.2, "rows read", "a click, in batches of 10", "ledger", "ledger.click.by_ten.rows_read"),
	conversionRows: measured(54.23, "rows written", "a conversion of two postbacks", "ledger", "ledger.conversion.rows_written"),
	conversionRowsRead: measured(101.7, "rows read", "a conversion", "ledger", "ledger.conversion.rows_read"),
	callbackRows: measured(6, "rows written", "a callback", "ledger", "ledger.callback.rows_written"),
	clickBytes: measured(618.5, "bytes", "a click", "ledger", "ledger.click.bytes"),
	visitBytes: measured(201.9, "bytes", "a click's visit, for two days", "ledger", "ledger.visit.bytes"),
	visitDays: code(2, "days", "visits are kept", "src/retention/remove-old.ts"),
	conversionBytes: measured(5_222, "bytes", "a conversion, its postbacks and callback", "ledger", "ledger.conversion.bytes"),
	leastRetentionDays: code(30, "days", "clicks are kept at the least", "src/variables.ts"),
	retentionDays: code(400, "days", "clicks are kept unless set", "src/variables.ts"),
	removedPerMinute: code(20_000, "rows/min", "of a kind removed", "src/retention/remove-old.ts"),
	digestedPerMinute: code(20_000, "rows/min", "read for digests of closed days", "src/days/sweep-days.ts"),
	checkedPerMinute: code(500, "conversions/min", "checked, of all in turn and of those just written", "src/ledger-check/sweep-ledger.ts"),
	clicksAPart: code(30_000, "clicks", "compared with their counters in one part of a day", "src/reconcile/parts.ts"),
	partsPerMinute: code(10, "parts/min", "compared", "src/reconcile/sweep-sums.ts"),
	d1Gb: list(10, "GB", "a database", "d1/platform/limits"),
	d1CallMs: assumed(20, "ms", "between a Worker and D1, commit included; a batch of clicks makes two calls"),

	// The ledger, on PostgreSQL.
	postgresClicksPerSecond: measured(
		3_699,
		"clicks/s",
		"in batches of 100, on two cores, 20 million stored",
		"click-consumer-postgres",
		"click_consumer.postgres.rate",
	),
	postgresCores: trial(2, "cores", "that this was measured on"),
	postgresWalBytes: measured(
		10_520,
		"bytes",
		"of write-ahead log a click, soon after a checkpoint",
		"click-consumer-postgres",
		"click_consumer.postgres.wal",
	),
	postgresClickBytes: measured(628.9, "bytes", "a click with its indexes", "click-consumer-postgres", "click_consumer.postgres.click"),
	postgresConversionBytes: assumed(7_000, "bytes", "a conversion, its postbacks and callback"),
	postgresPagesPerClick: assumed(4, "pages", "at random a click: what its indexes touch"),
	postgresLoad: assumed(0.25, "of its cores", "busy with clicks at the peak: the rest is for settling, reports and vacuum"),
	postgresNodeTb: assumed(4, "TB", "a node, so that it can be restored within hours"),
	postgresNodeCores: assumed(16, "cores", "a node"),
	hyperdriveConnections: list(100, "connections", "to a database", "hyperdrive/platform/limits"),

	// Logs: bids and clicks write none, unless something fails.
	logDays: list(7, "days", "log lines are kept", "observability/pricing"),
	callbackLogBytes: assumed(300, "bytes", "a callback's log line"),
	settledLogBytes: assumed(2_000, "bytes", "the log line of a batch of postbacks"),
} as const satisfies Record<string, Assumption>;

/** A value by name: what the model computes with. */
export type Values = { readonly [Name in keyof typeof ASSUMPTIONS]: number };

export const VALUES = Object.fromEntries(Object.entries(ASSUMPTIONS).map(([name, { value }]) => [name, value])) as Values;
