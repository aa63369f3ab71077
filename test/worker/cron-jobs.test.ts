/** How the cron's jobs fare: what is kept of it, and when an operator is told. */
import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { noteJobs } from "../../src/cron-jobs/note-jobs.ts";
import { lateJobs, readJobs } from "../../src/cron-jobs/read-jobs.ts";
import { openDatabase } from "../../src/db/client.ts";
import { CRON_JOBS } from "../../src/lib/enums.ts";
import type { JobOutcomes } from "../../src/lib/jobs.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/time.ts";
import { readStatus } from "../../src/operator/status/read-status.ts";
import worker from "../../src/worker.ts";

const START = Date.parse("2026-11-27T08:00:00Z");
const NOTHING: JobOutcomes = { ended: [], failed: [], waiting: [] };

/** @param minute of START on */
const note = (minute: number, outcomes: Partial<JobOutcomes>) =>
	noteJobs(openDatabase(env.DB), { ...NOTHING, ...outcomes }, START + minute * MINUTE_MS);

/** As minutes of START on. */
async function kept(): Promise<unknown[]> {
	const minuteOf = (at: number) => (at - START) / MINUTE_MS;
	return (await readJobs(openDatabase(env.DB))).map(({ name, endedAt, failingSince }) => [
		name,
		minuteOf(endedAt),
		failingSince === null ? null : minuteOf(failingSince),
	]);
}

/** Jobs that are late a minute of START on, and since which. */
const lateAt = async (minute: number) =>
	lateJobs(await readJobs(openDatabase(env.DB)), START + minute * MINUTE_MS).map(({ name, since }) => [name, (since - START) / MINUTE_MS]);

beforeEach(async () => {
	await env.DB.prepare("DELETE FROM cron_jobs").run();
});

describe("worker: jobs of the cron", () => {
	it("one that ends is written every five minutes, in the order of the jobs, and is late an hour after that", async () => {
		await note(0, { ended: ["book", "caps"] });
		await note(4, { ended: ["caps", "book"] });
		expect(await kept()).toEqual([
			["caps", 0, null],
			["book", 0, null],
		]);
		await note(5, { ended: ["book"] });
		expect(await kept()).toEqual([
			["caps", 0, null],
			["book", 5, null],
		]);
		expect(await lateAt(59)).toEqual([]);
		expect(await lateAt(60)).toEqual([["caps", 0]]);
		expect(await lateAt(65)).toEqual([
			["caps", 0],
			["book", 5],
		]);
	});

	it("one that fails is late after ten minutes of nothing else, and no more once it ends", async () => {
		await note(0, { ended: ["book"] });
		await note(1, { failed: ["book"] });
		await note(2, { failed: ["book"] });
		expect(await kept()).toEqual([["book", 0, 1]]);
		expect(await lateAt(10)).toEqual([]);
		expect(await lateAt(11)).toEqual([["book", 1]]);
		await note(12, { ended: ["book"] });
		expect(await kept()).toEqual([["book", 12, null]]);
		await note(13, { failed: ["book"] });
		expect(await lateAt(22)).toEqual([]);
		expect(await lateAt(23)).toEqual([["book", 13]]);
	});

	it("one that fails from the first is heard of, and one that waits stays as it was", async () => {
		await note(0, { failed: ["sums"], waiting: ["days"] });
		expect(await kept()).toEqual([
			["sums", 0, 0],
			["days", 0, null],
		]);
		await note(30, { waiting: ["sums", "days"] });
		expect(await kept()).toEqual([
			["sums", 0, 0],
			["days", 0, null],
		]);
		expect(await lateAt(60)).toEqual([
			["sums", 0],
			["days", 0],
		]);
	});

	it("those of another version are nobody's", async () => {
		await note(0, { ended: ["of_an_earlier_version"] });
		expect([await kept(), await lateAt(600)]).toEqual([[], []]);
	});

	const [ALERT_URL, ALERT_SECRET] = ["https://hooks.example/alerts", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
	it.each([
		["of which only its address is set yet", { ALERT_URL }, "ALERT_URL and ALERT_SECRET need each other"],
		["of which only its secret is set yet", { ALERT_SECRET }, "ALERT_URL and ALERT_SECRET need each other"],
		["whose secret is mistyped", { ALERT_URL, ALERT_SECRET: "MfKQ9r8" }, "ALERT_SECRET must be whsec_ and 24 to 64 bytes in base64"],
		["whose address is none", { ALERT_URL: "hooks.example", ALERT_SECRET }, "ALERT_URL must be an http(s) address"],
	])("a webhook %s fails the job of alerts, and no request", async (_, given, message) => {
		vi.spyOn(console, "log").mockImplementation(() => {});
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const bindings = { ...env, ALERT_URL: "", ALERT_SECRET: "", ...given };
		const controller = createScheduledController({ cron: "* * * * *", scheduledTime: new Date() });
		await expect(worker.scheduled(controller, bindings)).rejects.toThrow(/^failed: alerts$/);
		expect(JSON.stringify(logged.mock.calls)).toContain(message);
		const request = new Request("https://rtb.example/health") as unknown as Parameters<typeof worker.fetch>[0];
		expect((await worker.fetch(request, bindings, createExecutionContext())).status).toBe(200);
		logged.mockRestore();
	});

	it("a minute notes all of them; what fails is a problem of the status, and the others go on", async () => {
		vi.spyOn(console, "log").mockImplementation(() => {});
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const run = (products: D1Database) =>
			worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), { ...env, PRODUCTS: products });
		const broken = new Proxy(env.PRODUCTS, {
			get: () => () => {
				throw new Error("products are away");
			},
		});
		const began = Date.now();
		await run(env.PRODUCTS);
		await expect(run(broken)).rejects.toThrow("failed: ");
		const queues = { clicks: undefined, postbacks: undefined, callbacks: undefined };
		const statusAt = (now: number) =>
			readStatus({ db: openDatabase(env.DB), products: openDatabase(env.PRODUCTS), kv: env.BOOK, queues, now: () => now });
		const { cron, problems } = await statusAt(began);
		expect(cron.map(({ job }) => job)).toEqual([...CRON_JOBS]);
		const failing = cron.filter(({ failing_since }) => failing_since !== null).map(({ job }) => job);
		expect(failing).toEqual(["size"]);
		expect(problems.filter(({ kind }) => kind === "cron_late")).toEqual([]);
		expect((await statusAt(Date.now() + 11 * MINUTE_MS)).problems.filter(({ kind }) => kind === "cron_late")).toEqual([
			expect.objectContaining({
				count: 1,
				text: expect.stringMatching(/: size$/),
				since: cron.find(({ job }) => job === "size")?.failing_since,
			}),
		]);
		const all = (await statusAt(Date.now() + HOUR_MS + MINUTE_MS)).problems.find(({ kind }) => kind === "cron_late");
		expect(all?.count).toBe(CRON_JOBS.length);
		logged.mockRestore();
	});
});
