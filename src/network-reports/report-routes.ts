/** GET /operator/reports, as JSON or CSV. */
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { jsonResponse } from "../lib/http.ts";
import { isoTimeOrNull } from "../lib/time.ts";
import { type DataThroughDeps, readDataThrough } from "./data-through.ts";
import { readNetworkReport } from "./read-report.ts";
import type { NetworkReport } from "./report-answer.ts";
import { hasDetails, readNetworkReportQuery } from "./report-request.ts";
import { writeReportCsv } from "./write-report-csv.ts";

const HEADERS = { "cache-control": "no-store", vary: "OperatorKey, Accept" };

export function networkReportRoutes(deps: DataThroughDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => {
		const query = readNetworkReportQuery(c.req.query(), deps.now());
		// First: what is counted while the report is read is in none of both.
		const through = await readDataThrough(deps);
		const report: NetworkReport = {
			...(await readNetworkReport(deps.db, query)),
			data_through: isoTimeOrNull(through),
		};
		const type = accepts(c, { header: "Accept", supports: ["application/json", "text/csv"], default: "application/json" });
		return type === "text/csv" ? csvAnswer(report, hasDetails(query)) : jsonResponse(report, 200, HEADERS);
	});
	return app;
}

/** What stands beside `data` in JSON stands in headers, but for the total. */
function csvAnswer(report: NetworkReport, isDetailed: boolean): Response {
	const { limit, next_cursor: next, data_through: through } = report;
	return writeReportCsv(report, isDetailed, {
		...HEADERS,
		"x-limit": String(limit),
		...(through !== null && { "x-data-through": through }),
		...(next !== null && { "x-next-cursor": next }),
	});
}
