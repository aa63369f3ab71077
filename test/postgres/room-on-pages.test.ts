/** What counts clicks is changed on its own page, without an entry in any index. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { CLICKED_AT, capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const CAMPAIGNS = 400;
const BATCH = 100;
const COUNTERS = ["campaign_days", "daily_network", "learning_clicks"];

it("postgres: a counter of a day is changed on the page that it stands on, though those after it were made since", async () => {
	const campaigns = Array.from({ length: CAMPAIGNS }, (_, n) => ({ ...brandEntry("shoes.example", 5001 + n).campaigns[0] }));
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [{ ...brandEntry("shoes.example", 5001), campaigns }] });
	// As where somebody learns prices: sums to learn from are counted.
	await env.DB.prepare("UPDATE click_sequence SET learning_gap = 0").run();
	const clickAll = async (step: number, at: number) => {
		const messages = Array.from({ length: CAMPAIGNS / step }, (_, n) =>
			clickMessage({ campaignId: 5001 + n * step, at, grossMicros: 400_000, link: "homepage" }),
		);
		for (let from = 0; from < messages.length; from += BATCH)
			await consumeClicks(capDeps(), letters(...messages.slice(from, from + BATCH)));
	};
	const updates = async () => {
		const rows = await rowsOf<{ name: string; updates: number; on_page: number }>(
			"SELECT relname AS name, n_tup_upd AS updates, n_tup_hot_upd AS on_page FROM pg_stat_user_tables ORDER BY relname",
		);
		return rows.filter(({ name }) => COUNTERS.includes(name));
	};
	await withConnectionsOf({ POSTGRES: {} }, async () => {
		await clickAll(1, CLICKED_AT);
		await clickAll(20, CLICKED_AT + 1_000);
		await env.DB.prepare("SELECT pg_stat_force_next_flush()").run();
	});
	const changed = CAMPAIGNS / 20;
	await expect.poll(updates, { timeout: 5_000 }).toEqual(COUNTERS.map((name) => ({ name, updates: changed, on_page: changed })));
});
