/** Visits are read by connection, however few PostgreSQL believes that there are. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
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
	const read = async () => {
		const [row] = await rowsOf<{ lookups: number; rows: number }>(
			"SELECT idx_scan AS lookups, idx_tup_read AS rows FROM pg_stat_user_indexes WHERE indexrelname = 'paid_visits_by_connection'",
		);
		return row ?? { lookups: Number.NaN, rows: Number.NaN };
	};
	let before = await read();
	await withConnectionsOf({ POSTGRES: {} }, async () => {
		// A connection keeps what it has planned for the sixth time: here, while there are next to none.
		for (let n = 0; n < 7; n++) await consumeClicks(capDeps(), batch(5_000).slice(n, n + 1));
		for (let from = 0; from < 3 * BATCH; from += BATCH) await consumeClicks(capDeps(), batch(from));
		await env.DB.prepare("SELECT pg_stat_force_next_flush()").run();
		before = await read();
		await consumeClicks(capDeps(), batch(0));
		await env.DB.prepare("SELECT pg_stat_force_next_flush()").run();
	});
	await expect.poll(async () => (await read()).lookups - before.lookups, { timeout: 5_000 }).toBe(BATCH);
	// Those of the batch's own connections, and of no others.
	expect((await read()).rows - before.rows).toBe(BATCH);
	expect(await rowsOf("SELECT count(*) AS n FROM clicks WHERE reason = 'repeat'")).toEqual([{ n: BATCH }]);
});
