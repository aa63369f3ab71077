/** A publisher's program: what the last days have earned. Compiled against the types of /openapi.json, and run against a server. */
import createClient from "openapi-fetch";
import type { components, paths } from "./paths.ts";

type Period = { start_date: string; end_date: string };

export async function readEarnings(baseUrl: string, accessKey: string, period: Period) {
	const client = createClient<paths>({ baseUrl, headers: { AccessKey: accessKey } });

	const report = await client.POST("/api/reporting/revenue-share", { body: { report_type: "daywise", ...period } });
	if (report.error !== undefined) throw new Error(JSON.stringify(report.error));
	const { data: records, total_records: total } = report.data;
	const days: { date: string | undefined; revenue: string }[] = records.map((record) => ({
		date: record.date,
		revenue: record.publisher_revenue,
	}));

	const clicks = await client.POST("/api/reporting/clicklevel", { body: period });
	if (clicks.error !== undefined) throw new Error(JSON.stringify(clicks.error));
	const clickIds: string[] = clicks.data.data.map((record) => record.click_id);

	const csv = await client.POST("/api/reporting/clicklevel", { body: period, headers: { Accept: "text/csv" }, parseAs: "text" });
	const lines: string[] = csv.data?.trim().split("\r\n") ?? [];

	const list = await client.GET("/api/brands-list");
	const brands: components["schemas"]["Brand"][] = list.data?.data ?? [];

	return { days, total, clickIds, lines, domains: brands.map(({ domain }) => domain) };
}

/** What a bid pays: of the answer's two forms the one with an ad has an amount. */
export async function readBid(baseUrl: string, publisherId: string, brandDomain: string): Promise<string | null> {
	const client = createClient<paths>({ baseUrl });
	const { data } = await client.GET("/serving-engine", { params: { query: { pubi: publisherId, bd: brandDomain, cc: "US" } } });
	return data?.status === 1 ? data.bid_amount : null;
}

/** A field that OpenRTB has and this service does not read may be sent. */
export async function readPrice(baseUrl: string, identity: string, brandDomain: string): Promise<number | null> {
	const client = createClient<paths>({ baseUrl });
	const { data } = await client.POST("/openrtb/{publisher_identity}", {
		params: { path: { publisher_identity: identity } },
		body: { id: "auction-1", imp: [{ id: "1", banner: { w: 300 } }], site: { domain: brandDomain } },
	});
	return data?.seatbid[0]?.bid[0]?.price ?? null;
}
