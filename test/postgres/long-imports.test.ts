/** Imports that PostgreSQL works at for longer than requests wait, gives up, or is lost in: all of one is taken over, or nothing, and the answer is true. */
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openDatabase, runTransaction } from "../../src/db/client.ts";
import { type BatchOptions, openPostgres, type PostgresDatabase } from "../../src/db/postgres.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { within } from "../../src/lib/async.ts";
import { importNetwork } from "../../src/operator/network/import-network.ts";
import { openStage } from "../../src/operator/network/stage-rows.ts";
import { rowsOf } from "../support/click-messages.ts";
import { cutLine, proxiedUrl } from "../support/database-proxy.ts";
import { ACME, brandEntry, importFile, NORTHWIND, PLAIN_IMPORT, postNetwork } from "../support/network-import.ts";

const fileOf = (epc: string) => JSON.stringify({ brands: [brandEntry("shoes.example", 1, {}, { epc })] });
const NOT_TAKEN_OVER = { error: "Not taken over", message: expect.stringContaining("send it again, and a large file in parts") };

/** Has the database do this once campaigns are removed to be replaced, which is half an import. */
async function whenCampaignsGo(action: string): Promise<void> {
	await env.DB.prepare(`CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${action}; RETURN NULL; END $$`).run();
	await env.DB.prepare("CREATE TRIGGER meanwhile AFTER DELETE ON campaigns FOR EACH STATEMENT EXECUTE FUNCTION meanwhile()").run();
}

const stored = () => rowsOf("SELECT epc_micros, (SELECT count(*) FROM import_rows) AS staged FROM campaigns");

beforeEach(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 1, {}, { epc: "0.1" })] });
	vi.spyOn(console, "error").mockImplementation(() => {});
	await cutLine("never");
});

afterEach(async () => {
	vi.restoreAllMocks();
	await env.DB.prepare("DROP FUNCTION IF EXISTS meanwhile CASCADE").run();
});

it("postgres: an import that takes longer than a request's statements may is taken over as a whole", async () => {
	await whenCampaignsGo("PERFORM pg_sleep(6)");
	const { status } = await postNetwork(fileOf("0.2"));
	expect([status, await stored()]).toEqual([200, [{ epc_micros: 200_000, staged: 0 }]]);
});

it("postgres: what requests write has five seconds", async () => {
	const setting = sql`SELECT set_config('clickbourse.seen', current_setting('statement_timeout'), false) AS seen`;
	const [, seen] = await runTransaction(openDatabase(env.DB), [sql`UPDATE click_sequence SET version = version`, setting]);
	expect(seen?.results).toEqual([{ seen: "5s" }]);
});

it("postgres: an import that the database gives up changes nothing, and says what to do", async () => {
	await whenCampaignsGo("RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014'");
	const answer = await postNetwork(fileOf("0.2"));
	expect([answer.status, await answer.json()]).toEqual([503, NOT_TAKEN_OVER]);
	expect(await stored()).toEqual([{ epc_micros: 100_000, staged: 0 }]);
});

it("postgres: what is staged is removed row by row also where the table was found empty when it was last analysed", async () => {
	const stage = (id: string, rows: number) =>
		env.DB.prepare(`INSERT INTO import_rows SELECT '${id}', 0, 'brands', seq, '{}' FROM generate_series(1, ${rows}) AS seq`).run();
	await stage("earlier", 5_000);
	await env.DB.prepare("DELETE FROM import_rows").run();
	await env.DB.prepare("ANALYZE import_rows").run();
	await stage("broken-off", 5_000);

	const inner = openPostgres(env.POSTGRES.connectionString);
	const client: PostgresDatabase = Object.create(inner);
	const removals: string[] = [];
	client.prepare = (query) => {
		if (query.startsWith("DELETE FROM import_rows")) removals.push(query);
		return inner.prepare(query);
	};
	await withConnectionsOf(env, async () => {
		const staged = openStage(openDatabase(client), "of-now", Date.now());
		await staged.add("brands", { domain: "shoes.example" });
		await staged.flush();
		await staged.discard();
	});
	expect(removals).toHaveLength(2);
	expect(await rowsOf("SELECT count(*) AS n FROM import_rows")).toEqual([{ n: 0 }]);
	await stage("broken-off", 5_000);
	for (const [at, value] of [Date.now(), "broken-off"].entries()) {
		const { results } = await env.DB.prepare(`EXPLAIN ${removals[at] ?? ""}`)
			.bind(value, value, 10_000)
			.all<Record<string, string>>();
		const plan = results.flatMap((line) => Object.values(line)).join("\n");
		expect(plan).toContain("Delete on import_rows");
		expect(plan).not.toContain("Join");
		expect(plan).not.toContain("Nested Loop");
	}
});

/** @param taking what is done about its transaction */
function importOver(url: string, taking: <Value>(takeOver: () => Promise<Value>) => Promise<Value>): Promise<unknown> {
	const inner = openPostgres(url);
	const client: PostgresDatabase = Object.create(inner);
	client.prepare = (query) => inner.prepare(query);
	client.batch = async <Row>(statements: D1PreparedStatement[], options?: BatchOptions) => {
		const run = () => inner.batch<Row>(statements, options);
		// What is staged before it is written in few statements.
		return statements.length > 20 ? taking(run) : run();
	};
	const deps = {
		db: openDatabase(client),
		products: openDatabase(env.PRODUCTS),
		now: () => Date.now(),
		allowInsecureCallbacks: false,
		async publish() {
			return { version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null };
		},
	};
	return withConnectionsOf(env, () =>
		importNetwork(deps, new Blob([fileOf("0.2")]).stream(), PLAIN_IMPORT).catch((error: unknown) => error),
	);
}

it.each([
	["before-commit", 503, 100_000],
	["after-commit", 200, 200_000],
] as const)("postgres: a line that breaks %s is told as what came of it", async (cut, status, epc) => {
	const cutsBefore = await cutLine("never");
	const done = await importOver(proxiedUrl(), async (takeOver) => {
		await cutLine(cut);
		return takeOver();
	});
	expect(await cutLine("never")).toBe(cutsBefore + 1);
	expect(done).toMatchObject(status === 503 ? { status, body: NOT_TAKEN_OVER } : { dry_run: false, difference: { changed: 1 } });
	expect(await stored()).toEqual([{ epc_micros: epc, staged: 0 }]);
});

it("postgres: one whose commit goes on behind a lost line is waited for, and told as what came of it", async () => {
	await env.DB.prepare(
		"CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$",
	).run();
	await env.DB.prepare(
		"CREATE CONSTRAINT TRIGGER meanwhile AFTER INSERT ON network_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION meanwhile()",
	).run();
	const done = await importOver(env.POSTGRES.connectionString, async (takeOver) => {
		// On a line of its own, as if that were lost.
		const taking = withConnectionsOf(env, takeOver);
		if ((await within(taking, 1_000, "under way")) !== "under way") throw new Error("its commit took no time");
		throw new Error("Network connection lost.");
	});
	expect(done).toMatchObject({ dry_run: false, difference: { changed: 1 } });
	expect(await stored()).toEqual([{ epc_micros: 200_000, staged: 0 }]);
});
