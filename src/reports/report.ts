/** What a report is: two questions to the database, and how its rows are shown. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { PricingModel } from "../lib/enums.ts";
import { MOMENTS, momentOf } from "./as-of.ts";
import type { ReportRecord } from "./csv.ts";
import type { Paging, ReportQuery } from "./read-report-query.ts";

/** The publisher who asks, and what of a report is for its eyes. */
export type ReportPublisher = {
	id: string;
	pricingModel: PricingModel;
	salesDataEnabled: boolean;
	campaignIdEnabled: boolean;
};

export type Report<Row> = {
	/** Whether it can be read as of an earlier moment: then its answers say of which they are. */
	standsStill: boolean;
	/** Selects the number of all records of the period, as `total`. */
	count: (publisherId: string, query: ReportQuery) => SQL;
	/** Selects the rows of the page, in an order that rows of later times are appended to. */
	page: (publisherId: string, query: ReportQuery) => SQL;
	/** What its records have with `detail=1`, behind revenue. */
	details: readonly string[];
	/** The fields that this publisher's records may have without that, in the order of CSV columns. */
	columns: (publisher: ReportPublisher) => string[];
	/** Each row's record, with every field that it has; those that are not among the columns are left out. @param detail whether `details` are wanted */
	toRecords: (rows: readonly Row[], detail: boolean) => ReportRecord[];
};

/** Fields that details stand behind. */
const REVENUES: readonly string[] = ["publisher_revenue", "revenue"];

export type ReportPage = {
	columns: string[];
	records: ReportRecord[];
	paging: Paging;
	totalRecords: number;
	totalPages: number;
	/** The moment of which it is; null where the report does not say. */
	asOf: number | null;
};

/**
 * Reads a page of a report and the number of all records, both of the same moment. Null where the publisher is no more.
 * @throws HttpError 422 where that moment is to come, 410 where it is too long ago
 */
export async function readReport<Row>(
	{ db }: { db: Database },
	report: Report<Row>,
	{ publisherId, query }: { publisherId: string; query: ReportQuery },
): Promise<ReportPage | null> {
	const [owner, moments, count, page] = await runTransaction(db, [
		sql`SELECT pricing_model, sales_data_enabled, campaign_id_enabled FROM publishers WHERE id = ${publisherId}`,
		MOMENTS,
		report.count(publisherId, query),
		report.page(publisherId, query),
	]);
	const publisher = readPublisher(publisherId, owner);
	if (publisher === null) return null;
	const asOf = report.standsStill ? momentOf(query.asOf, moments) : null;
	const columns = report
		.columns(publisher)
		.flatMap((name) => (query.detail && REVENUES.includes(name) ? [name, ...report.details] : [name]));
	const rows = (page?.results ?? []) as Row[];
	const [{ total } = { total: 0 }] = (count?.results ?? []) as { total: number }[];
	return {
		columns,
		records: report.toRecords(rows, query.detail).map((record) => pick(record, columns)),
		paging: query.paging,
		totalRecords: total,
		totalPages: Math.ceil(total / query.paging.limit),
		asOf,
	};
}

/** `LIMIT … OFFSET …` of the page. */
export function limitTo({ page, limit }: Paging): SQL {
	return sql`LIMIT ${limit} OFFSET ${(page - 1) * limit}`;
}

type PublisherRow = { pricing_model: PricingModel; sales_data_enabled: number; campaign_id_enabled: number };

function readPublisher(id: string, result: D1Result | undefined): ReportPublisher | null {
	const [row] = (result?.results ?? []) as PublisherRow[];
	if (row === undefined) return null;
	return {
		id,
		pricingModel: row.pricing_model,
		salesDataEnabled: row.sales_data_enabled === 1,
		campaignIdEnabled: row.campaign_id_enabled === 1,
	};
}

function pick(record: ReportRecord, columns: readonly string[]): ReportRecord {
	const picked: ReportRecord = {};
	for (const column of columns) {
		const value = record[column];
		if (value !== undefined) picked[column] = value;
	}
	return picked;
}
