import { writeCsv } from "../reports/csv.ts";
import type { NetworkReport } from "./report-answer.ts";
import { csvOf } from "./show-report.ts";

/**
 * A report as a file of CSV.
 * @param hasDetails whether rows have what sums of sources lack
 */
export function writeReportCsv(
	report: Pick<NetworkReport, "group" | "data" | "from" | "to">,
	hasDetails: boolean,
	headers: Record<string, string> = {},
): Response {
	const { columns, records } = csvOf(report, hasDetails);
	return new Response(writeCsv(columns, records), {
		headers: {
			...headers,
			"content-type": "text/csv; charset=utf-8; header=present",
			"content-disposition": `attachment; filename="network-${report.group.join("-")}-${report.from}-${report.to}.csv"`,
		},
	});
}
