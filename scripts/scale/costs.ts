/** What a load costs a month, in US dollars: pure. */
import type { Values } from "./assumptions.ts";
import { d1Gb, MONTH_SECONDS, type Needs, postgresSize } from "./model.ts";
import { PRICES, type Price } from "./prices.ts";

export type Costs = {
	plan: number;
	requests: number;
	cpu: number;
	kv: number;
	queues: number;
	logs: number;
	/** The ledger on D1, if it held so much. */
	d1: number;
	/** The ledger on PostgreSQL: no price of Cloudflare's. */
	postgres: number;
	/** Only where Analytics Engine is bound; in no total. */
	dataPoints: number;
};

/** @param days that clicks are kept for */
export function costsOf(needs: Needs, days: number, v: Values): Costs {
	const monthly = (perSecond: number) => (perSecond * MONTH_SECONDS) / 1e6;
	const { cores, storageGb } = postgresSize(needs, days, v);
	const logGb = (needs.logBytes * MONTH_SECONDS) / 1e9;
	return {
		plan: PRICES.plan.dollars,
		requests: charge(monthly(needs.requests), PRICES.requests),
		cpu: charge(monthly(needs.cpuMs), PRICES.cpu),
		kv:
			charge(monthly(needs.kvReads), PRICES.kvReads) +
			charge(monthly(needs.kvWrites), PRICES.kvWrites) +
			charge(needs.kvStorageGb, PRICES.kvStorage),
		queues: charge(monthly(needs.queueOperations), PRICES.queueOperations),
		logs: charge(logGb, PRICES.logs) + charge((logGb * v.logDays) / 30, PRICES.logStorage),
		d1:
			charge(monthly(needs.rowsRead), PRICES.d1RowsRead) +
			charge(monthly(needs.rowsWritten), PRICES.d1RowsWritten) +
			charge(d1Gb(needs, days, v), PRICES.d1Storage),
		postgres: charge(cores, PRICES.postgresCore) + charge(storageGb, PRICES.postgresStorage) + PRICES.hyperdrive.dollars,
		dataPoints: charge(monthly(needs.dataPoints), PRICES.dataPoints),
	};
}

/** All that Cloudflare bills where the ledger is on PostgreSQL. */
export function cloudflareTotal({ plan, requests, cpu, kv, queues, logs }: Costs): number {
	return plan + requests + cpu + kv + queues + logs;
}

/** What so many units of a month cost beyond those that are included. */
export function charge(units: number, { dollars, included }: Price): number {
	return Math.max(0, units - included) * dollars;
}
