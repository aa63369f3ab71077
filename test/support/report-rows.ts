/** Clicks and conversions written straight into the tables, and reports asked of the Worker. */
import { env, exports } from "cloudflare:workers";
import { ACME, brandEntry, importFile, NORTHWIND } from "./network-import.ts";
import "./worker-env.ts";

export const CPA_KEY = "access-key-reports-cpa";
export const CPC_KEY = "access-key-reports-cpc";

/** Two publishers, paid by conversions (`pa`) and by clicks (`pc`), both with sales data and campaign ids; brands 1 and 2. */
export async function importReportNetwork(): Promise<void> {
	const publisher = (id: string, fields: object) => ({
		...ACME,
		id,
		publisher_id: `id-${id}`,
		publisher_identity: `identity-${id}`,
		publisher_key: `publisher-key-${id}`,
		sales_data_enabled: true,
		campaign_id_enabled: true,
		...fields,
	});
	await importFile({
		platforms: [NORTHWIND],
		publishers: [
			publisher("pa", { access_key: CPA_KEY, pricing_model: "CPA" }),
			publisher("pc", { access_key: CPC_KEY, pricing_model: "CPC" }),
		],
		brands: [brandEntry("shoes.example", 11), brandEntry("hats.example", 12)],
	});
}

export async function setPublisher(id: string, column: string, value: string | number): Promise<void> {
	await env.DB.prepare(`UPDATE publishers SET ${column} = ? WHERE id = ?`).bind(value, id).run();
}

type Row = Record<string, string | number | null>;

let written = 0;

/** A billed click, as the click consumer writes it. */
export function clickRow(fields: Row): Row {
	const at = Number(fields.clicked_at ?? Date.parse("2026-11-10T12:00:00Z"));
	const serial = (++written).toString(16).padStart(8, "0");
	return {
		id: `${at.toString(16).padStart(12, "0")}-${serial}`,
		click_hash: serial.padStart(32, "0"),
		kind: "link",
		reason: null,
		clicked_at: at,
		publisher_id: "pc",
		brand_id: 1,
		campaign_id: 11,
		platform: "northwind",
		publisher_click_id: `click-${serial}`,
		source_id: null,
		bid_micros: 200_000,
		revenue_micros: fields.pricing_model === "CPA" ? 0 : 200_000,
		pricing_model: "CPC",
		written_by: "test",
		...fields,
	};
}

/** A settled conversion of a click, as the settle consumer writes it. */
export function conversionRow(click: Row, fields: Row = {}): Row {
	const serial = `txn-${++written}`;
	return {
		platform: "northwind",
		txnid: serial,
		cid: String(click.click_hash),
		stage: "settled",
		status: "approved",
		status_unknown: 0,
		test: 0,
		event_at: click.clicked_at ?? 0,
		payout_micros: 10_000_000,
		currency: "USD",
		gross_micros: 10_000_000,
		sales_usd_micros: 100_000_000,
		revenue_micros: click.pricing_model === "CPC" ? 0 : 5_000_000,
		attribution: "click_hash",
		click_id: click.id ?? null,
		clicked_at: click.clicked_at ?? null,
		publisher_id: click.publisher_id ?? null,
		publisher_click_id: click.publisher_click_id ?? null,
		source_id: click.source_id ?? null,
		brand_id: click.brand_id ?? null,
		campaign_id: click.campaign_id ?? null,
		pricing_model: click.pricing_model ?? null,
		event_count: 1,
		first_received_at: 0,
		updated_at: 0,
		...fields,
	};
}

/** Replaces all clicks and conversions, and the daily sums by those of the rows. */
export async function store(clicks: readonly Row[], conversions: readonly Row[] = []): Promise<void> {
	const insert = (table: string, row: Row) => {
		const columns = Object.keys(row);
		const text = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
		return env.DB.prepare(text).bind(...Object.values(row));
	};
	const tables = ["clicks", "conversions", "daily_publishers", "daily_sources"];
	await env.DB.batch([
		...tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
		...clicks.map((row) => insert("clicks", row)),
		...conversions.map((row) => insert("conversions", row)),
		env.DB.prepare(sumInto("daily_publishers", "publisher_id, date")),
		env.DB.prepare(sumInto("daily_sources", "publisher_id, date, source_id")),
	]);
}

function sumInto(table: string, key: string): string {
	const sums =
		"click_count, click_revenue_micros, conversion_count, conversion_revenue_micros, pending_revenue_micros, gross_micros, sales_micros";
	return `INSERT INTO ${table} (${key}, ${sums})
		SELECT ${key}, ${sums
			.split(", ")
			.map((sum) => `SUM(${sum})`)
			.join(", ")}
		FROM (
			SELECT publisher_id, date(clicked_at / 1000, 'unixepoch') AS date, COALESCE(source_id, '') AS source_id, 1 AS click_count,
				revenue_micros AS click_revenue_micros, 0 AS conversion_count, 0 AS conversion_revenue_micros,
				0 AS pending_revenue_micros, 0 AS gross_micros, 0 AS sales_micros
			FROM clicks WHERE reason IS NULL AND publisher_id IS NOT NULL
			UNION ALL
			SELECT publisher_id, date(event_at / 1000, 'unixepoch'), COALESCE(source_id, ''), 0, 0, 1, revenue_micros,
				CASE WHEN status = 'pending' THEN revenue_micros ELSE 0 END, gross_micros, COALESCE(sales_usd_micros, 0)
			FROM conversions WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA'
			UNION ALL
			SELECT v.publisher_id, date(v.clicked_at / 1000, 'unixepoch'), COALESCE(v.source_id, ''), 0, 0, 1, 0, 0, v.gross_micros, COALESCE(v.sales_usd_micros, 0)
			FROM conversions v JOIN clicks c ON c.id = v.click_id
			WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND v.pricing_model = 'CPC' AND (c.reason IS NULL OR c.reason = 'voided')
		) GROUP BY ${key}`;
}

export type ReportAnswer = {
	data: Record<string, unknown>[];
	page: number;
	limit: number;
	total_records: number;
	total_pages: number;
	/** Of clickid_level and clicklevel. */
	as_of?: number;
};

export type ReportFields = Record<string, string | number>;

export function postReport(path: "revenue-share" | "clicklevel", init: RequestInit & { key?: string | null }): Promise<Response> {
	const { key = CPA_KEY, headers, ...rest } = init;
	return exports.default.fetch(`https://base.example/api/reporting/${path}`, {
		method: "POST",
		headers: { ...(key !== null && { AccessKey: key }), ...(headers as Record<string, string>) },
		...rest,
	});
}

/** A report that must be answered. */
export async function askReport(path: "revenue-share" | "clicklevel", key: string, fields: ReportFields): Promise<ReportAnswer> {
	const response = await postReport(path, { key, body: new URLSearchParams(Object.entries(fields).map(([k, v]) => [k, String(v)])) });
	if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
	return response.json<ReportAnswer>();
}
