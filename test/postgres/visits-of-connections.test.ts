/** Visits are read by connection, however few PostgreSQL believes that there are. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const BATCH = 100;

it("postgres: visits of a connection are looked up once for each connection of a batch", async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [brandEntry("shoes.example", 5001, {}, { daily_click_cap: null })],
	});
	await env.DB.prepare("VACUUM (ANALYZE) paid_visits").run();
	const batch = (from: number) =>
		letters(...Array.from({ length: BATCH }, (_, n) => clickMessage({ connection: `connection-${from + n}`, userAgentHash: "browser" })));
	// Of tables that were empty when it looked at them PostgreSQL believes for a minute that they still are.
	for (let from = 0; from < 3 * BATCH; from += BATCH) await consumeClicks(capDeps(), batch(from));
	await env.DB.prepare("SELECT pg_stat_force_next_flush()").run();
	const lookups = async () => {
		const [row] = await rowsOf<{ n: number }>(
			"SELECT coalesce(sum(idx_scan), 0) AS n FROM pg_stat_user_indexes WHERE relname = 'paid_visits'",
		);
		return row?.n ?? Number.NaN;
	};
	const before = await lookups();
	await consumeClicks(capDeps(), batch(0));
	await expect.poll(lookups, { timeout: 5_000 }).toBeGreaterThanOrEqual(before + BATCH);
	expect((await lookups()) - before).toBeLessThan(10 * BATCH);
	expect(await rowsOf("SELECT count(*) AS n FROM clicks WHERE reason = 'repeat'")).toEqual([{ n: BATCH }]);
});
