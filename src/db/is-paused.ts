import { type SQL, sql } from "drizzle-orm";

/** Whether a cap of campaign `c` is met, with `campaign_pauses` as `p` beside it: one of zero always is. */
export const IS_PAUSED: SQL = sql`(p.campaign_id IS NOT NULL OR coalesce(c.daily_click_cap, 1) = 0 OR coalesce(c.daily_budget_micros, 1) = 0
	OR coalesce(c.total_budget_micros, 1) = 0)`;
