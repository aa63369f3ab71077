/** Messages of the click queue for tests: each is a sound one, with what the test is about changed. */
import { env } from "cloudflare:workers";
import type { CapDeps } from "../../src/clicks/consumer/caps.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { newTimeOrderedId, newUuid } from "../../src/lib/ids.ts";
import "./worker-env.ts";

export const CLICKED_AT = Date.parse("2026-11-18T15:00:00Z");

export function clickMessage(fields: Partial<ClickMessage> = {}): ClickMessage {
	const { at = CLICKED_AT } = fields;
	return {
		format: 1,
		id: newTimeOrderedId(at),
		at,
		hash: newUuid().replaceAll("-", ""),
		kind: "openrtb",
		publisher: "acme_rtb",
		brandId: 1,
		campaignId: 5001,
		bidMicros: 200_000,
		country: "US",
		...fields,
	};
}

/** Messages as the queue delivers them. */
export function letters(...messages: readonly unknown[]): { id: string; body: unknown }[] {
	return messages.map((body) => ({ id: newUuid(), body: JSON.parse(JSON.stringify(body)) }));
}

export function capDeps(now: () => number = () => CLICKED_AT, onPauses?: CapDeps["onPauses"]): CapDeps {
	return { db: openDatabase(env.DB), kv: env.BOOK, now, ...(onPauses !== undefined && { onPauses }) };
}

export async function rowsOf<T = Record<string, string | number | null>>(query: string, ...values: (string | number)[]): Promise<T[]> {
	return (
		await env.DB.prepare(query)
			.bind(...values)
			.all<T>()
	).results;
}

/** Every counter of clicks says what the rows say, to the micro-dollar. Returns the number of billed clicks. */
export async function checkCounters(): Promise<number> {
	const disagreeing = [
		[
			"daily_publishers",
			"publisher_id, date",
			"publisher_id, date(clicked_at / 1000, 'unixepoch')",
			"click_revenue_micros",
			"revenue_micros",
		],
		[
			"daily_sources",
			"publisher_id, date, source_id",
			"publisher_id, date(clicked_at / 1000, 'unixepoch'), coalesce(source_id, '')",
			"click_revenue_micros",
			"revenue_micros",
		],
		...["click_revenue_micros", "click_gross_micros"].map((sum) => [
			"(SELECT * FROM daily_network WHERE reason = '' AND publisher_id <> '') n",
			"publisher_id, date, campaign_id, brand_id, platform, country, kind",
			"publisher_id, date(clicked_at / 1000, 'unixepoch'), campaign_id, brand_id, coalesce(platform, ''), coalesce(country, ''), kind",
			sum,
			sum === "click_revenue_micros" ? "revenue_micros" : "gross_micros",
		]),
		["campaign_totals", "campaign_id", "campaign_id", "spend_micros", "bid_micros"],
		["campaign_totals", "campaign_id", "campaign_id", "gross_micros", "gross_micros"],
	];
	const comparisons = disagreeing.map(([table, key, group, sum, amount]) => {
		// What was taken back leaves a row of zeros; clicks of nobody are no publisher's.
		const counted = `SELECT ${key}, click_count, ${sum} FROM ${table} WHERE click_count <> 0 OR ${sum} <> 0`;
		// Totals are kept where a budget is held against them.
		const of = key?.includes("publisher_id") ? "publisher_id IS NOT NULL" : `campaign_id IN (SELECT campaign_id FROM ${table})`;
		const written = `SELECT ${group}, count(*), sum(${amount}) FROM clicks WHERE reason IS NULL AND ${of} GROUP BY ${group}`;
		return `SELECT * FROM (${counted} EXCEPT ${written}) UNION ALL SELECT * FROM (${written} EXCEPT ${counted})`;
	});
	const sums = [
		`SELECT coalesce(sum(click_count), 0) AS clicks, coalesce(sum(spend_micros), 0) AS micros, coalesce(sum(gross_micros), 0) AS gross
		FROM campaign_days`,
		`SELECT count(*) AS clicks, coalesce(sum(bid_micros), 0) AS micros, coalesce(sum(gross_micros), 0) AS gross
		FROM clicks WHERE reason IS NULL`,
	];
	// One call: tests of properties ask after every history.
	const found = await env.DB.batch<Record<string, number>>([...sums, ...comparisons].map((text) => env.DB.prepare(text)));
	const [days, billed, ...differing] = found.map(({ results }) => results);
	for (const [at, wrong] of differing.entries()) {
		if (wrong.length > 0) throw new Error(`${disagreeing[at]?.[0]} differs from the clicks: ${JSON.stringify(wrong)}`);
	}
	if (days === undefined || billed === undefined || JSON.stringify(days) !== JSON.stringify(billed))
		throw new Error(`campaign_days says ${JSON.stringify(days)}, clicks ${JSON.stringify(billed)}`);
	return billed[0]?.clicks ?? 0;
}

/** Whether statements that are sent together count clicks. */
export function takesTurn(texts: readonly string[]): boolean {
	return texts.some((text) => text.startsWith("INSERT INTO click_turns"));
}
