/** Cloudflare's list prices, read in November 2026: the only place that has them. */

/** US dollars; what the paid plan includes a month is free. */
export const PRICES = {
	plan: price("Workers, paid plan", 5, "month", 0, "workers/platform/pricing"),
	requests: price("Workers, requests", 0.3, "million", 10, "workers/platform/pricing"),
	cpu: price("Workers, CPU", 0.02, "million ms", 30, "workers/platform/pricing"),
	kvReads: price("KV, reads", 0.5, "million keys", 10, "kv/platform/pricing"),
	kvWrites: price("KV, writes", 5, "million keys", 1, "kv/platform/pricing"),
	kvStorage: price("KV, stored", 0.5, "GB", 1, "kv/platform/pricing"),
	queueOperations: price("Queues, operations", 0.4, "million", 1, "queues/platform/pricing"),
	d1RowsRead: price("D1, rows read", 0.001, "million", 25_000, "d1/platform/pricing"),
	d1RowsWritten: price("D1, rows written", 1, "million", 50, "d1/platform/pricing"),
	d1Storage: price("D1, stored", 0.75, "GB", 5, "d1/platform/pricing"),
	logs: price("logs, ingested", 0.25, "GB", 50, "observability/pricing"),
	logStorage: price("logs, stored", 0.1, "GB", 12, "observability/pricing"),
	dataPoints: price("Analytics Engine, data points", 0.25, "million", 10, "analytics/analytics-engine/pricing"),
	hyperdrive: price("Hyperdrive", 0, "query", 0, "workers/platform/pricing"),
	/** Not Cloudflare's: what a managed PostgreSQL may cost, for primary and standby together. */
	postgresCore: price("PostgreSQL, a core with 8 GB of memory", 120, "month", 0, null),
	postgresStorage: price("PostgreSQL, stored", 0.25, "GB", 0, null),
} as const;

export type Price = {
	of: string;
	/** US dollars a unit. */
	dollars: number;
	unit: string;
	/** Units a month that are free. */
	included: number;
	/** Cloudflare's page; null where the price is assumed. */
	page: string | null;
};

function price(of: string, dollars: number, unit: string, included: number, page: string | null): Price {
	return { of, dollars, unit, included, page };
}
