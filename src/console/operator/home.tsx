/** Where operators begin: what needs a person now, and how the network is doing. */
import * as v from "valibot";
import { readBidsQuery } from "../../bid-counts/bids-request.ts";
import { BID_COUNTS_DAYS } from "../../bid-counts/kept-for.ts";
import { readBids } from "../../bid-counts/read-bids.ts";
import { day } from "../../http/datetime.ts";
import { readQuery } from "../../http/read-input.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import { readDataThrough } from "../../network-reports/data-through.ts";
import { readNetworkReport } from "../../network-reports/read-report.ts";
import { readNetworkReportQuery } from "../../network-reports/report-request.ts";
import { readStatus } from "../../operator/status/read-status.ts";
import { page } from "../page.ts";
import { Filters, Periods } from "../ui/filters.tsx";
import { Time } from "../ui/values.tsx";
import { Bids, Earned, Now, type Period, Problems, Unpaid } from "./home-parts.tsx";
import { LedgerDifferences } from "./ledger-differences.tsx";

const PATH = "/console/operator";
const DEFAULT_DAYS = 14;
const querySchema = v.strictObject({ from: v.optional(day), to: v.optional(day) });

export const OPERATOR_HOME_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "What needs a person",
		async handle({ deps, query, now }) {
			const { db, watching } = deps;
			const { to = utcDay(now), from = utcDay(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS) } = readQuery(querySchema, query);
			const period = { from, to };
			const reported = readNetworkReportQuery({ ...period, group: "day", limit: "1000" }, now);
			const counted = keptOf(period, now);
			const bidsBy = (group: "day" | "reason") =>
				counted === null ? null : readBids(db, readBidsQuery({ ...counted, group, limit: "1000" }, now));
			const [status, through, report, bids, noBids] = await Promise.all([
				readStatus(watching),
				readDataThrough(watching),
				readNetworkReport(db, reported),
				bidsBy("day"),
				bidsBy("reason"),
			]);
			return (
				<>
					<Problems problems={status.problems} />
					<LedgerDifferences ledger={status.ledger} />
					<Now status={status} />
					<p class="note">
						{through === null ? (
							"How far the data reaches is not known at the moment."
						) : (
							<>
								Everything up to <Time at={through} /> is counted.
							</>
						)}
					</p>
					<h2>Over time</h2>
					<Filters
						path={PATH}
						query={query}
						shown={period}
						filters={[
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
						]}
					>
						<Periods path={PATH} query={query} now={now} shown={period} />
					</Filters>
					<Earned report={report} now={now} />
					{counted?.from === from ? null : (
						<p class="note">Requests are counted for {BID_COUNTS_DAYS} days: those of earlier days are not known any more.</p>
					)}
					{counted === null || bids === null || noBids === null ? null : <Bids bids={bids} noBids={noBids} period={counted} now={now} />}
					<Unpaid report={report} now={now} />
				</>
			);
		},
	}),
];

/** The part of a period whose requests are still counted, and were made; null where there is none. */
function keptOf({ from, to }: Period, now: number): Period | null {
	const first = utcDay(now - (BID_COUNTS_DAYS - 1) * DAY_MS);
	const today = utcDay(now);
	const kept = { from: from < first ? first : from, to: to > today ? today : to };
	return kept.from > kept.to ? null : kept;
}
