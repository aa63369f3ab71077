/** The two report endpoints, as JSON or CSV. */
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Database } from "../db/client.ts";
import { answerHttpError } from "../http/errors.ts";
import { limitBody } from "../http/read-input.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import { jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { clickLevel } from "./click-level.ts";
import { clickidLevel } from "./clickid-level.ts";
import { writeCsv } from "./csv.ts";
import { daywise } from "./daywise.ts";
import { readFields } from "./read-fields.ts";
import { type Fields, type ReportQuery, type ReportType, readClickLevelQuery, readRevenueShareQuery } from "./read-report-query.ts";
import { type Report, type ReportPage, readReport } from "./report.ts";
import { sourceLevel } from "./source-level.ts";

export type ReportDeps = { db: Database; keys: KeyOwners };

/** A few short fields need no more. */
const MAX_BODY_BYTES = 64 * 1024;

/** A report and what is asked of it: whatever its rows are, they stay between the two. */
type Question = { name: string; query: ReportQuery; read: (deps: ReportDeps, publisherId: string) => Promise<ReportPage | null> };

const revenueShare: Record<ReportType, (query: ReportQuery) => Question["read"]> = {
	daywise: (query) => reading(daywise, query),
	clickid_level: (query) => reading(clickidLevel, query),
	source_level: (query) => reading(sourceLevel, query),
};

function reading<Row>(report: Report<Row>, query: ReportQuery): Question["read"] {
	return (deps, publisherId) => readReport(deps, report, { publisherId, query });
}

function askRevenueShare(fields: Fields): Question {
	const { reportType, ...query } = readRevenueShareQuery(fields);
	return { name: `revenue-share-${reportType}`, query, read: revenueShare[reportType](query) };
}

function askClickLevel(fields: Fields): Question {
	const query = readClickLevelQuery(fields);
	return { name: "clicklevel", query, read: reading(clickLevel, query) };
}

export function reportRoutes(deps: ReportDeps): Hono {
	const app = new Hono();
	const limit = limitBody(MAX_BODY_BYTES, "Payload too large");
	app.post("/revenue-share", limit, (c) => answer(c, deps, askRevenueShare));
	app.post("/clicklevel", limit, (c) => answer(c, deps, askClickLevel));
	for (const path of ["/revenue-share", "/clicklevel"]) {
		app.all(path, () => methodNotAllowed("POST"));
	}
	app.onError(answerHttpError);
	return app;
}

async function answer(c: Context, deps: ReportDeps, ask: (fields: Fields) => Question): Promise<Response> {
	const owner = await deps.keys.find("access_key", c.req.header("AccessKey"), (promise) => c.executionCtx.waitUntil(promise));
	if (owner === null) return unauthorized(HEADERS);
	const question = ask(await readFields(c.req.raw));
	const page = await question.read(deps, owner);
	if (page === null) return unauthorized(HEADERS);
	const type = accepts(c, { header: "Accept", supports: ["application/json", "text/csv"], default: "application/json" });
	return type === "text/csv" ? csvAnswer(question, page) : jsonAnswer(page);
}

/** Reports are the publisher's own, and change until the last conversion is final. */
const HEADERS = { "cache-control": "no-store", vary: "AccessKey, Accept" };

function jsonAnswer({ records, paging, totalRecords, totalPages, asOf }: ReportPage): Response {
	const body = { data: records, page: paging.page, limit: paging.limit, total_records: totalRecords, total_pages: totalPages };
	return jsonResponse(asOf === null ? body : { ...body, as_of: asOf }, 200, HEADERS);
}

/** What stands beside `data` in JSON stands in headers. */
function csvAnswer({ name, query }: Question, { columns, records, paging, totalRecords, totalPages, asOf }: ReportPage): Response {
	const { startDate, endDate } = query.period;
	return new Response(writeCsv(columns, records), {
		headers: {
			...HEADERS,
			"content-type": "text/csv; charset=utf-8; header=present",
			"content-disposition": `attachment; filename="${name}-${startDate}-${endDate}-page-${paging.page}.csv"`,
			"x-page": String(paging.page),
			"x-limit": String(paging.limit),
			"x-total-records": String(totalRecords),
			"x-total-pages": String(totalPages),
			...(asOf !== null && { "x-as-of": String(asOf) }),
		},
	});
}
