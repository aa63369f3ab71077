import { networkReportSchema, type ReportRow, type ReportTotal } from "../../../src/network-reports/report-answer.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { printGroups } from "../table.ts";

const FILTERS = ["group", "from", "to", "publisher", "limit", "detail"] as const;
type Options = ServerOptions & Partial<Record<Exclude<(typeof FILTERS)[number], "detail">, string>> & { detail?: true };

/** `report`: what the network earns, as a table. */
export const command: OperatorCommand = {
	name: "report",
	add(program) {
		withServerOptions(program.command("report"))
			.description("show what the network earns: gross, publishers' revenue, margin, clicks, conversions")
			.option("--group <names>", "day, publisher, brand, campaign, platform, country, source, kind, with commas between them", "day")
			.option("--from <date>", "the first UTC day; without it a month before --to")
			.option("--to <date>", "the last UTC day; without it today")
			.option("--publisher <id>", "of this publisher")
			.option("--detail", "all figures of sources, too: of at most 100000 clicks and conversions")
			.option("--limit <count>", "rows at most, up to 1000", "1000")
			.action(show);
	},
};

const SUMS: [name: string, of: (row: ReportRow | ReportTotal) => string | number][] = [
	["gross", ({ gross_revenue }) => gross_revenue],
	["of it pending", ({ pending_gross_revenue }) => pending_gross_revenue ?? ""],
	["publishers", ({ publisher_revenue }) => publisher_revenue],
	["of it pending", ({ pending_revenue }) => pending_revenue],
	["margin", ({ margin }) => margin],
	["margin %", ({ margin_rate }) => percent(margin_rate)],
	["clicks", ({ clicks_paid }) => clicks_paid],
	["unpaid", ({ clicks_unpaid }) => clicks_unpaid ?? ""],
	["conversions", ({ conversion_count }) => conversion_count],
	["cancelled", ({ conversions }) => conversions?.cancelled ?? ""],
	["reversed %", ({ reversal_rate }) => percent(reversal_rate ?? null)],
	["EPC bid", ({ epc_bid }) => epc_bid ?? ""],
	["EPC earned", ({ epc_earned }) => epc_earned ?? ""],
];

async function show(options: Options): Promise<void> {
	const { detail, ...others } = options;
	const report = await readPage({ ...others, ...(detail && { detail: "1" }) }, "/operator/reports", FILTERS, networkReportSchema);
	if (options.json) console.log(JSON.stringify(report, null, 2));
	if (report.data.length === 0) await refuseUnknown(options, { publisher: options.publisher });
	if (options.json) return;
	printGroups(report, SUMS, () => "-");
	const unpaid = Object.entries(report.total.unpaid).map(([reason, count]) => `${count} ${reason}`);
	if (unpaid.length > 0) console.log(`Unpaid clicks: ${unpaid.join(", ")}`);
	console.log(report.data_through === null ? "A queue does not tell what waits in it." : `Complete up to ${report.data_through}.`);
	if (report.next_cursor !== null) console.log("There are more rows: shorten the period, or group by less.");
}

function percent(rate: number | null): string {
	return rate === null ? "" : (100 * rate).toFixed(1);
}
