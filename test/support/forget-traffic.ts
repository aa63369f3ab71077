import { env } from "cloudflare:workers";
import "./worker-env.ts";

/** What clicks, postbacks and judgements of them write: their rows, sums and histories. A table added here is emptied in every suite. */
export const TRAFFIC_TABLES = [
	"clicks",
	"paid_visits",
	"paid_networks",
	"unpaid_hours",
	"click_turns",
	"written_keys",
	"conversions",
	"conversion_events",
	"postback_intake",
	"callbacks",
	"callback_attempts",
	"adjustments",
	"dead_letters",
	"daily_publishers",
	"daily_sources",
	"daily_campaigns",
	"daily_network",
	"campaign_days",
	"campaign_totals",
	"campaign_rates",
	"click_history",
	"conversion_history",
	"conversion_changes",
	"learning_clicks",
	"learning_earnings",
	"learning_publisher_delays",
	"learning_conversions",
	"learning_sources",
];

/** Empties what traffic has written, and these tables. The network stays, and so do pauses, which stand in KV as well. */
export async function forgetTraffic(...further: readonly string[]): Promise<void> {
	await env.DB.batch([
		...[...TRAFFIC_TABLES, ...further].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
		// As the import leaves them.
		env.DB.prepare("INSERT INTO campaign_totals (campaign_id) SELECT campaign_id FROM campaigns WHERE total_budget_micros IS NOT NULL"),
	]);
}
