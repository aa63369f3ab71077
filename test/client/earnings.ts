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

/** Every conversion of a period, page by page, and what the days have earned. */
export async function readConversions(baseUrl: string, accessKey: string, period: { from: string; to: string }) {
	const client = createClient<paths>({ baseUrl, headers: { AccessKey: accessKey } });

	const found: components["schemas"]["PublisherConversion"][] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const { data, error }: { data?: components["schemas"]["PublisherConversions"]; error?: unknown } = await client.GET(
			"/api/conversions",
			{
				params: { query: { ...period, limit: 1, cursor } },
			},
		);
		if (data === undefined) throw new Error(JSON.stringify(error));
		found.push(...data.data);
		cursor = data.next_cursor;
	}

	const earnings = await client.GET("/api/earnings", { params: { query: { ...period, group: "day,brand" } } });
	const account = await client.GET("/api/account");
	return {
		conversions: found.map(({ transaction_id, revenue, history }) => [transaction_id, revenue, history.length]),
		brands: earnings.data?.data.map(({ brand, publisher_revenue }) => [brand, publisher_revenue]),
		total: earnings.data?.total.publisher_revenue,
		endpoints: account.data?.endpoints,
	};
}

/** The link of each page, or why it has none: what an answer has tells which. */
export async function makeLinks(baseUrl: string, accessKey: string, urls: string[]): Promise<string[]> {
	const client = createClient<paths>({ baseUrl, headers: { AccessKey: accessKey } });
	const { data, error } = await client.POST("/api/links", { body: { urls } });
	if (error !== undefined) throw new Error(JSON.stringify(error));
	return data.data.map((made) => ("link" in made ? made.price : made.reason));
}
