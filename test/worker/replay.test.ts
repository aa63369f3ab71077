/** Dead letters: kept when a consumer fails to the end, shown, and sent to their queue again. */
import { createExecutionContext, createMessageBatch } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import worker from "../../src/worker.ts";
import { clickMessage, rowsOf } from "../support/click-messages.ts";
import { clickRows } from "../support/clicks.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

type Report = { replayed: Record<string, number>; remaining: Record<string, number>; until: string };

function deadLetters(queue: string, ...bodies: unknown[]): Promise<void> {
	const messages = bodies.map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 11, body }));
	return worker.queue(createMessageBatch(`clickbourse-${queue}-dead`, messages), env, createExecutionContext());
}

async function replay(body: object, status = 200): Promise<Report> {
	const response = await exports.default.fetch("http://origin.example/operator/replay", {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify(body),
	});
	expect(response.status).toBe(status);
	return response.json<Report>();
}

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 5001)] });
});

beforeEach(async () => {
	await env.DB.batch(["clicks", "dead_letters"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});

describe("worker: dead letters are replayed", () => {
	it("a replay sends them to their queue, whose consumer writes them; a second one sends nothing", async () => {
		const clicks = Array.from({ length: 230 }, () => clickMessage());
		for (let at = 0; at < clicks.length; at += 100) await deadLetters("clicks", ...clicks.slice(at, at + 100));
		expect(await replay({ dry_run: true })).toMatchObject({ replayed: { clicks: 230 }, remaining: { clicks: 230 } });
		expect(await replay({})).toMatchObject({ replayed: { clicks: 230, postbacks: 0, callbacks: 0 }, remaining: { clicks: 0 } });
		const written = await clickRows({ count: 230 });
		expect(new Set(written.map(({ id }) => id))).toEqual(new Set(clicks.map(({ id }) => id)));
		expect(await replay({})).toMatchObject({ replayed: { clicks: 0 } });
	});

	it("of the named queue only, and only those received until the given time", async () => {
		await deadLetters("clicks", clickMessage());
		await deadLetters("callbacks", { id: "no such callback" });
		expect(await replay({ queue: "clicks", until: "2020-01-01T00:00:00.000Z" })).toMatchObject({ replayed: { clicks: 0 } });
		expect(await replay({ queue: "clicks" })).toMatchObject({
			replayed: { clicks: 1, callbacks: 0 },
			remaining: { clicks: 0, callbacks: 1 },
		});
	});

	it("one that fails again is a dead letter again", async () => {
		await deadLetters("clicks", { format: 99 });
		await replay({});
		await expect
			.poll(async () => (await rowsOf("SELECT replayed_at IS NULL AS open FROM dead_letters")).length, { timeout: 8_000 })
			.toBe(2);
		expect(await replay({ dry_run: true })).toMatchObject({ replayed: { clicks: 1 } });
	});

	it("shows the newest", async () => {
		await deadLetters("clicks", { format: 99, about: "what it says" });
		const response = await exports.default.fetch("http://origin.example/operator/replay?queue=clicks&limit=5", {
			headers: OPERATOR_HEADERS,
		});
		expect(await response.json()).toMatchObject({
			waiting: { clicks: 1, postbacks: 0, callbacks: 0 },
			letters: [{ queue: "clicks", replayed_at: null, body: { format: 99, about: "what it says" } }],
		});
	});

	it("refuses what it does not know, and strangers", async () => {
		expect(await replay({ queue: "letters" }, 422)).toMatchObject({ faults: [{ path: "queue" }] });
		expect(await replay({ until: "tomorrow" }, 422)).toMatchObject({ faults: [{ path: "until" }] });
		expect(await replay({ dryrun: true }, 422)).toMatchObject({ fault_count: 1 });
		const response = await exports.default.fetch("http://origin.example/operator/replay", { method: "POST", body: "{}" });
		expect(response.status).toBe(401);
	});
});
