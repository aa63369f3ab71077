/** What a publisher has earned. */
import { HttpError } from "../../lib/http.ts";
import { readEarningsQuery } from "../../publisher-api/earnings-request.ts";
import { readEarnings } from "../../publisher-api/read-earnings.ts";
import { page } from "../page.ts";

export const EARNINGS_PAGES = [
	page({
		method: "GET",
		path: "/console/earnings",
		needs: { publisher: "analyst" },
		title: "Earnings",
		async handle({ deps, publisher, query, now }) {
			const earnings = await readEarnings(deps.db, publisher.id, readEarningsQuery(query, now));
			if (earnings === null) throw new HttpError(404, { error: "Not found" });
			return (
				<table>
					<caption>
						{earnings.from} to {earnings.to}, UTC; amounts in USD
					</caption>
					<thead>
						<tr>
							{["Day", "Clicks", "Conversions", "Approved", "Pending", "All"].map((name) => (
								<th scope="col">{name}</th>
							))}
						</tr>
					</thead>
					<tbody>
						{earnings.data.map((row) => (
							<tr>
								<th scope="row">{row.day}</th>
								<td>{row.click_count}</td>
								<td>{row.conversion_count}</td>
								<td>{row.approved_revenue}</td>
								<td>{row.pending_revenue}</td>
								<td>{row.publisher_revenue}</td>
							</tr>
						))}
					</tbody>
					<tfoot>
						<tr>
							<th scope="row">All days</th>
							<td>{earnings.total.click_count}</td>
							<td>{earnings.total.conversion_count}</td>
							<td>{earnings.total.approved_revenue}</td>
							<td>{earnings.total.pending_revenue}</td>
							<td>{earnings.total.publisher_revenue}</td>
						</tr>
					</tfoot>
				</table>
			);
		},
	}),
];
