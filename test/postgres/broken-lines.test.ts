/** PostgreSQL that is not there, not as it should be, or lost in the middle: what was sent is kept, and counted once. */
import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { NEWEST_MIGRATION } from "../../src/db/newest-migration.ts";
import { openPostgres } from "../../src/db/postgres.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import worker from "../../src/worker.ts";
import { checkCounters, clickMessage, rowsOf } from "../support/click-messages.ts";
import { importConversionNetwork, postbackFields, postbackMessage, readAll, WEST_KEY } from "../support/conversions.ts";
import { cutLine, proxiedUrl } from "../support/database-proxy.ts";

const RECEIVED = { message: "Postback received successfully" };

/** The Worker's bindings with another database, as a cold isolate has them. */
function envOf(connectionString: string, changes: object = {}) {
	return { ...env, POSTGRES: { connectionString }, ...changes };
}

/** `again` where the queue would deliver every message again, `done` where none. */
async function deliver(
	queue: "clicks" | "postbacks",
	bodies: readonly unknown[],
	connectionString: string,
): Promise<"again" | "done" | number> {
	const messages = bodies.map((body, at) => ({ id: `${queue}-${at}`, timestamp: new Date(), attempts: 1, body }));
	const batch = createMessageBatch(`clickbourse-${queue}`, messages);
	const ctx = createExecutionContext();
	try {
		await worker.queue(batch, envOf(connectionString), ctx);
	} catch {
		// The platform delivers the whole batch again.
		return "again";
	}
	const { retryMessages } = await getQueueResult(batch, ctx);
	if (retryMessages.length === bodies.length) return "again";
	return retryMessages.length === 0 ? "done" : retryMessages.length;
}

async function call(path: string, bindings: ReturnType<typeof envOf>, init: RequestInit = {}): Promise<[number, unknown]> {
	const ctx = createExecutionContext();
	const request = new Request(`https://base.example${path}`, init) as Parameters<typeof worker.fetch>[0];
	const response = await worker.fetch(request, bindings, ctx);
	const answer: [number, unknown] = [response.status, await response.json()];
	await waitOnExecutionContext(ctx);
	return answer;
}

async function stored(): Promise<unknown[]> {
	const tables = ["clicks", "daily_publishers", "campaign_days", "conversions", "conversion_events", "callbacks", "postback_intake"];
	return Promise.all(tables.map((table) => readAll(`SELECT count(*) AS n FROM ${table}`).then(([row]) => row)));
}

const UNAVAILABLE = [503, { error: "Service unavailable", message: expect.any(String) }];
const OPERATOR = { OperatorKey: env.OPERATOR_KEY };
/** A verb that writes. */
const issueKey = (connectionString: string) =>
	call("/operator/keys/issue", envOf(connectionString), {
		method: "POST",
		headers: OPERATOR,
		body: JSON.stringify({ kind: "access_key", owner: "cpa" }),
	});
const keys = () => readAll("SELECT count(*) AS n FROM access_keys");

const clicks = () => Array.from({ length: 20 }, () => clickMessage({ publisher: "identity-cpa", brandId: 1, campaignId: 11 }));

describe("postgres: a line that breaks", () => {
	beforeAll(importConversionNetwork);
	beforeEach(async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		await cutLine("never");
	});
	afterEach(() => {
		vi.restoreAllMocks();
	});

	test.each(["in-the-middle", "before-commit"] as const)("%s: nothing is half written; clicks come again and count once", async (cut) => {
		const [before, messages, cutsBefore] = [await stored(), clicks(), await cutLine(cut)];
		expect(await deliver("clicks", messages, proxiedUrl())).toBe("again");
		expect(await cutLine("never")).toBe(cutsBefore + 1);
		expect(await stored()).toEqual(before);
		const paid = await checkCounters();
		expect(await deliver("clicks", messages, proxiedUrl())).toBe("done");
		expect(await deliver("clicks", messages, proxiedUrl())).toBe("done");
		expect(await checkCounters()).toBe(paid + 20);
	});

	test("after COMMIT, before its answer: clicks come again and are counted once", async () => {
		const [messages, paid, cutsBefore] = [clicks(), await checkCounters(), await cutLine("after-commit")];
		expect(await deliver("clicks", messages, proxiedUrl())).toBe("again");
		expect(await cutLine("never")).toBe(cutsBefore + 1);
		expect(await checkCounters()).toBe(paid + 20);
		expect(await deliver("clicks", messages, proxiedUrl())).toBe("done");
		expect(await checkCounters()).toBe(paid + 20);
	});

	test.each(["in-the-middle", "before-commit", "after-commit"] as const)("%s: a conversion is settled once", async (cut) => {
		const [click] = clicks();
		if (click === undefined) throw new Error("no click");
		await deliver("clicks", [click], proxiedUrl());
		const messages = [postbackMessage("west", { txnid: `cut-${cut}`, cid: click.hash })];
		const [before, cutsBefore] = [await stored(), await cutLine(cut)];
		expect(await deliver("postbacks", messages, proxiedUrl())).toBe("again");
		expect(await cutLine("never")).toBe(cutsBefore + 1);
		if (cut !== "after-commit") expect(await stored()).toEqual(before);
		expect(await deliver("postbacks", messages, proxiedUrl())).toBe("done");
		expect(
			await rowsOf(
				"SELECT stage, (SELECT count(*) FROM callbacks b WHERE b.txnid = c.txnid) AS callbacks FROM conversions c WHERE txnid = ?",
				`cut-${cut}`,
			),
		).toEqual([{ stage: "settled", callbacks: 1 }]);
		expect(await readAll("SELECT sum(conversion_count) AS n FROM daily_publishers")).toEqual(
			await readAll("SELECT count(*) AS n FROM conversions WHERE stage = 'settled'"),
		);
	});

	test("a connection that was lost between two statements is replaced before the next is sent, whatever that writes", async () => {
		await withConnectionsOf({ POSTGRES: {} }, async () => {
			const db = openPostgres(env.POSTGRES.connectionString);
			const pid = await db.prepare("SELECT pg_backend_pid() AS pid").first<number>("pid");
			const admin = openPostgres(env.POSTGRES_URL);
			await admin.prepare("SELECT pg_terminate_backend(?1, 5000)").bind(pid).first();
			// The end of the line arrives before these answers.
			for (let n = 0; n < 20; n++) await withConnectionsOf({ POSTGRES: {} }, () => admin.prepare("SELECT 1").run());
			await db.batch([
				db.prepare("DELETE FROM campaign_totals WHERE campaign_id = 71"),
				db.prepare("DELETE FROM campaign_totals WHERE campaign_id = 72"),
			]);
		});
	});

	test.each(["in-the-middle", "before-commit"] as const)("%s: a verb is a 503, and has done nothing", async (cut) => {
		const [before, cutsBefore] = [await keys(), await cutLine(cut)];
		expect(await issueKey(proxiedUrl())).toEqual(UNAVAILABLE);
		expect(await cutLine("never")).toBe(cutsBefore + 1);
		expect(await keys()).toEqual(before);
		expect((await issueKey(proxiedUrl()))[0]).toBe(200);
	});

	test("a server that takes no connection keeps every message in its queue", async () => {
		const before = await stored();
		await cutLine("always");
		expect(await deliver("clicks", clicks(), proxiedUrl())).toBe("again");
		expect(await deliver("postbacks", [postbackMessage("west")], proxiedUrl())).toBe("again");
		expect(await call("/ready", envOf(proxiedUrl()))).toEqual([503, { status: "database away" }]);
		for (const path of ["/api/account", "/api/brands-list", "/api/earnings"])
			expect(await call(path, envOf(proxiedUrl()), { headers: { AccessKey: "access-key-cpa" } })).toEqual(UNAVAILABLE);
		expect(await call("/operator/audit", envOf(proxiedUrl()), { headers: OPERATOR })).toEqual(UNAVAILABLE);
		const search = { headers: { PublisherKey: "publisher-key-cpa" } };
		expect(await call("/api/products/search?keyword=x", envOf(proxiedUrl()), search)).toMatchObject([500, { error: "Search failed." }]);
		await cutLine("never");
		expect(await stored()).toEqual(before);
	});
});

/** A database that is not fit for use. @param change makes it so; `null` leaves it without a table */
async function unfit(change: string | null): Promise<{ url: string; drop: () => Promise<void> }> {
	const admin = openPostgres(env.POSTGRES_URL);
	const name = `unfit_${crypto.randomUUID().replaceAll("-", "")}`;
	await admin.prepare(`CREATE DATABASE ${name} TEMPLATE ${change === null ? "template0" : "clickbourse_template"}`).run();
	const url = new URL(env.POSTGRES_URL);
	url.pathname = `/${name}`;
	if (change !== null) await openPostgres(url.href).prepare(change).run();
	return { url: url.href, drop: async () => void (await admin.prepare(`DROP DATABASE ${name} WITH (FORCE)`).run()) };
}

function withWrongPassword(): string {
	const url = new URL(env.POSTGRES.connectionString);
	url.password = "not-the-password";
	return url.href;
}

const CASES = [
	{ name: "without a migration", make: () => unfit(null), status: "database not migrated" },
	{
		name: "with older migrations",
		make: () => unfit(`DELETE FROM applied_migrations WHERE name = '${NEWEST_MIGRATION}'`),
		status: "database not migrated",
	},
	{
		name: "that takes no connection",
		make: async () => {
			const { url, drop } = await unfit("SELECT 1");
			const name = new URL(url).pathname.slice(1);
			await openPostgres(env.POSTGRES_URL).prepare(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`).run();
			return { url, drop };
		},
		status: "database away",
	},
	{
		name: "with wrong credentials",
		make: () => Promise.resolve({ url: withWrongPassword(), drop: () => Promise.resolve() }),
		status: "database away",
	},
];

describe.each(CASES)("postgres: a database $name", ({ make, status }) => {
	beforeAll(importConversionNetwork);
	beforeEach(() => {
		vi.spyOn(console, "error").mockImplementation(() => {});
	});
	afterEach(() => {
		vi.restoreAllMocks();
	});

	test(`is told by /ready: 503, ${status}`, async () => {
		const { url, drop } = await make();
		expect(await call("/ready", envOf(url))).toEqual([503, { status }]);
		await drop();
		expect(await call("/ready", env)).toEqual([200, expect.objectContaining({ status: "ready" })]);
	});
});

describe.each([CASES[0], CASES[3]])("postgres: a database $name", (unfitCase) => {
	test("loses no postback and no click: they wait in their queues until there is one", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		if (unfitCase === undefined) throw new Error("no case");
		const { url, drop } = await unfitCase.make();
		const sent: unknown[] = [];
		const bindings = envOf(url, { POSTBACKS: { send: async (message: unknown) => void sent.push(message) } });
		const txnid = `kept ${unfitCase.name}`;
		const query = new URLSearchParams(postbackFields({ txnid }));
		expect(await call(`/api/postback/${WEST_KEY}?${query}`, bindings)).toEqual([200, RECEIVED]);
		expect(await deliver("postbacks", sent, url)).toBe("again");
		const [message] = clicks();
		expect(await deliver("clicks", [message], url)).toBe("again");
		await drop();
		expect(await deliver("postbacks", sent, env.POSTGRES.connectionString)).toBe("done");
		expect(await readAll("SELECT platform, stage FROM conversions WHERE txnid = ?", txnid)).toEqual([
			{ platform: "west", stage: "waiting" },
		]);
		vi.restoreAllMocks();
	});
});

describe("postgres: a database that takes no writes, as a standby", () => {
	test("is a 503 to what writes, and answers what reads", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		const readOnly = "ALTER DATABASE %I SET default_transaction_read_only = on";
		const { url, drop } = await unfit(`DO $$ BEGIN EXECUTE format('${readOnly}', current_database()); END $$`);
		const file = JSON.stringify({ exchange_rates: [{ currency: "GBP", date: "2026-11-11", usd: "1.3" }] });
		const imported = await call("/operator/network", envOf(url), { method: "POST", headers: OPERATOR, body: file });
		expect(imported).toEqual([503, { error: "Not taken over", message: expect.any(String) }]);
		expect((await call("/operator/audit", envOf(url), { headers: OPERATOR }))[0]).toBe(200);
		await drop();
		vi.restoreAllMocks();
	});
});
