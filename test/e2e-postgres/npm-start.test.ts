import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, type LocalServer, Project } from "../e2e/support/project.ts";

const MINUTES_MS = 60_000;
const SERVER = process.env.POSTGRES_URL ?? "";
const DATABASE = "clickbourse_npm_start";

/** Asks the tests' server as its owner. */
async function query<Row extends Record<string, unknown>>(sql: string, database?: string): Promise<Row[]> {
	const client = new Client({ connectionString: database === undefined ? SERVER : urlOf(database) });
	await client.connect();
	try {
		return (await client.query<Row>(sql)).rows;
	} finally {
		await client.end();
	}
}

function urlOf(database: string): string {
	const url = new URL(SERVER);
	url.pathname = `/${database}`;
	return url.href;
}

/** One story, in order: a start on D1, the first start on a database without tables in the same folder, the tour, and a restart. */
describe("npm start -- --postgres, with DATABASE_URL", { timeout: 3 * MINUTES_MS }, () => {
	const project = new Project();
	let server: LocalServer;
	const start = async () => project.start(await freePort(), { DATABASE_URL: urlOf(DATABASE) }, ["--postgres"]);

	beforeAll(async () => {
		await query(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
		await query(`CREATE DATABASE ${DATABASE}`);
		const onD1 = await project.start(await freePort());
		await onD1.stop();
		server = await start();
	}, 3 * MINUTES_MS);

	afterAll(async () => {
		await server?.stop();
		await project.dispose();
		await query(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
	});

	it("loads the demo network into PostgreSQL", async () => {
		expect(server.stdout).toContain("Loaded 300 brands");
		expect(await query("SELECT count(*)::int AS brands FROM brands", DATABASE)).toEqual([{ brands: 300 }]);
		expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
	});

	it("has the tour end in what the click earned, kept in PostgreSQL", async () => {
		const tour = server.stdout.slice(server.stdout.indexOf("# A bid by OpenRTB"));
		const { code, stdout } = await project.run(["sh", "-eu"], { input: tour });
		expect(code).toBe(0);
		expect(stdout).toContain('"publisher_revenue":"9.8720","gross_revenue":"12.3400","sales_amount":"99.9900","click_count":1');
		expect(await query("SELECT status, revenue_micros::text AS earned FROM conversions", DATABASE)).toEqual([
			{ status: "approved", earned: "9872000" },
		]);
		expect(server.stdout).not.toMatch(/ERROR|stack:|"level":"error"/);
	});

	it("has its ledger walked by the backtest", async () => {
		const options = ["--postgres", "--settle-days", "0", "--json"];
		const { code, stdout } = await project.run(["node", "scripts/run.mjs", "scripts/backtest.ts", ...options], {
			env: { DATABASE_URL: urlOf(DATABASE) },
		});
		expect(code).toBe(0);
		const { all } = JSON.parse(stdout) as { all: { clicks: number; earnedMicros: number } };
		expect(all.clicks).toBeGreaterThan(0);
		expect(all.earnedMicros).toBe(12_340_000);
	});

	it("stops, and starts again with what it had", async () => {
		expect(await server.stop()).toBe(0);
		server = await start();
		expect(server.stdout).not.toContain("Loaded 300 brands");
		const { code, stdout } = await project.operator(["status"]);
		expect([code, stdout]).toEqual([0, expect.stringContaining("in PostgreSQL")]);
		expect(await query("SELECT count(*)::int AS clicks FROM clicks WHERE reason IS NULL", DATABASE)).toEqual([{ clicks: 1 }]);
	});
});
