/** What a load needs, from the assumptions: pure. Rates are means over a month, a second; only what is called peak is not. */

import type { Values } from "./assumptions.ts";
import { bookNeeds } from "./book.ts";

export type Load = { bidsPerSecond: number };

const DAY_SECONDS = 86_400;
export const MONTH_SECONDS = 730 * 3_600;
const GB = 1e9;

export type Needs = {
	bids: number;
	clicks: number;
	conversions: number;
	postbacks: number;
	callbacks: number;
	/** Batches that consumers are woken for. */
	clickBatches: number;
	postbackBatches: number;
	callbackBatches: number;
	/** Workers' requests and CPU milliseconds. */
	requests: number;
	cpuMs: number;
	isolates: number;
	kvReads: number;
	kvWrites: number;
	kvStorageGb: number;
	queueOperations: number;
	rowsWritten: number;
	rowsRead: number;
	logBytes: number;
	dataPoints: number;
};

/** @returns means a second, but for isolates and gigabytes */
export function needsOf({ bidsPerSecond: bids }: Load, v: Values): Needs {
	const clicks = bids * v.clickShare;
	const conversions = clicks * v.conversionShare;
	const postbacks = conversions * v.postbacksPerConversion;
	const callbacks = conversions * v.callbacksPerConversion;
	const clickBatches = batchesOf(clicks, v.batchSize, v.clickBatchSeconds);
	const postbackBatches = batchesOf(postbacks, v.batchSize, v.otherBatchSeconds);
	const callbackBatches = batchesOf(callbacks, v.batchSize, v.otherBatchSeconds);
	const rows = rowsOf(v);
	return {
		bids,
		clicks,
		conversions,
		postbacks,
		callbacks,
		clickBatches,
		postbackBatches,
		callbackBatches,
		requests: bids + clicks + postbacks + clickBatches + postbackBatches + callbackBatches,
		cpuMs:
			(bids * v.bidCpu + clicks * v.clickCpu + postbacks * v.postbackCpu + callbacks * v.callbackCpu) / 1_000 +
			clickBatches * v.clickBatchMs +
			(postbacks * 1_000) / v.settledPerSecond,
		...bookNeeds(bids + clicks, v.campaigns, v),
		queueOperations: (clicks + postbacks + callbacks) * v.messageOperations,
		rowsWritten:
			clicks * (rows.perClick + v.clickRemovalRows) +
			clickBatches * rows.perBatch +
			conversions * v.conversionRows +
			callbacks * v.callbackRows,
		rowsRead: clicks * v.clickRowsRead + conversions * v.conversionRowsRead,
		logBytes: callbacks * v.callbackLogBytes + postbackBatches * v.settledLogBytes,
		dataPoints: bids + clicks + postbacks + callbacks,
	};
}

/** A batch goes when it is full or its time is up; one that is alone in that time goes by itself. */
export function batchesOf(messages: number, size: number, seconds: number): number {
	return Math.max(messages / size, Math.min(messages, 1 / seconds));
}

/** Rows written of each click, and of each batch whatever its size: what batches of ten cost more than those of a hundred is the batch's. */
export function rowsOf({ clickRows, clickRowsByTen }: Values): { perClick: number; perBatch: number } {
	const perBatch = (clickRowsByTen - clickRows) / (1 / 10 - 1 / 100);
	return { perClick: clickRows - perBatch / 100, perBatch };
}

/** Gigabytes of a ledger that keeps clicks for so many days, in an engine whose rows take so many bytes. */
function ledgerGb(
	{ clicks, conversions }: Needs,
	days: number,
	v: Values,
	{ clickBytes, conversionBytes }: { clickBytes: number; conversionBytes: number },
): number {
	const stored = clicks * DAY_SECONDS * (days * clickBytes + v.visitDays * v.visitBytes);
	// A click with a conversion is kept for good, like it.
	const forGood = conversions * DAY_SECONDS * v.conversionDays * (conversionBytes + clickBytes);
	return (stored + forGood) / GB;
}

export function d1Gb(needs: Needs, days: number, v: Values): number {
	return ledgerGb(needs, days, v, v);
}

/** Days until D1 is full where nothing is removed. */
export function daysToFill({ clicks, conversions }: Needs, v: Values): number {
	return (v.d1Gb * GB) / (DAY_SECONDS * (clicks * v.clickBytes + conversions * v.conversionBytes));
}

export type PostgresSize = { nodes: number; cores: number; storageGb: number; iops: number; walGbPerDay: number };

/** What PostgreSQL needs for a ledger that keeps clicks for so many days. Cores, gigabytes and IOPS are of all nodes together. */
export function postgresSize(needs: Needs, days: number, v: Values): PostgresSize {
	const storageGb = ledgerGb(needs, days, v, { clickBytes: v.postgresClickBytes, conversionBytes: v.postgresConversionBytes });
	const peakClicks = needs.clicks * v.peakFactor;
	const clicksPerCore = (v.postgresClicksPerSecond / v.postgresCores) * v.postgresLoad;
	const cores = Math.max(2, Math.ceil(peakClicks / clicksPerCore));
	const nodes = Math.max(Math.ceil(storageGb / (v.postgresNodeTb * 1_000)), Math.ceil(cores / v.postgresNodeCores));
	return {
		nodes,
		cores: Math.max(cores, 2 * nodes),
		storageGb,
		iops: peakClicks * v.postgresPagesPerClick + needs.clickBatches * v.peakFactor,
		walGbPerDay: (needs.clicks * v.postgresWalBytes * DAY_SECONDS) / GB,
	};
}
