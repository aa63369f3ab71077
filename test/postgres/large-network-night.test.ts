/** What a night of learning asks of all campaigns of a network at once: in PostgreSQL's plans, whatever memory it has for them. */
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { forgetOthers } from "../../src/learning-night/write-learned.ts";
import { rowsOf } from "../support/click-messages.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const CAMPAIGNS = 10_000;
const DAY = 20_000;

it("postgres: what a night forgets is found without a look at all campaigns for each", async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 1)] });
	const all = `generate_series(2, ${CAMPAIGNS}) AS id`;
	await env.DB.batch([
		env.DB.prepare(
			`INSERT INTO campaigns SELECT (jsonb_populate_record(c, jsonb_build_object('campaign_id', id))).* FROM campaigns c, ${all}`,
		),
		env.DB.prepare(`INSERT INTO learning_campaigns (campaign_id, day, learned) SELECT id, ${DAY}, '{}' FROM ${all}`),
		env.DB.prepare(`INSERT INTO learning_factors SELECT 'price', id, '', '*', '{}', '1', 0 FROM ${all}`),
	]);
	for (const table of ["campaigns", "learning_campaigns", "learning_factors"]) await env.DB.prepare(`VACUUM (ANALYZE) ${table}`).run();
	const plans = await withConnectionsOf(env, async () => {
		const db = openDatabase(env.DB);
		const found: string[] = [];
		for (const statement of forgetOthers(DAY)) {
			// As much as a network of a hundred times as many campaigns would find too little.
			await env.DB.prepare("SET work_mem = '64kB'").run();
			const lines = await db.all<Record<string, string>>(sql`EXPLAIN ${statement}`);
			expect(await rowsOf("SELECT current_setting('work_mem') AS memory")).toEqual([{ memory: "64kB" }]);
			found.push(lines.flatMap((line) => Object.values(line)).join("\n"));
		}
		return found;
	});
	for (const plan of plans) {
		expect(plan).toContain("Scan");
		expect(plan).not.toContain("Materialize");
	}
});
