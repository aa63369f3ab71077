import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startCallbackReceiver } from "../../scripts/local/callback-receiver.ts";
import { startCron } from "../../scripts/local/cron.ts";
import { readPort } from "../../scripts/local/port.ts";
import { prepareVariables } from "../../scripts/local/secrets.ts";
import { drainQueues } from "../../scripts/start/drain-queues.ts";
import { freePort } from "./support/project.ts";

describe("the local server's secrets", () => {
	let folder: string;
	let file: string;
	const TOKEN_KEY = "t".repeat(32);

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "clickbourse-secrets-"));
		file = join(folder, ".dev.vars");
	});

	afterEach(() => rmSync(folder, { recursive: true }));

	it("are made up once, and the same from then on", () => {
		const first = prepareVariables({}, file);
		expect(first.written).toEqual(["OPERATOR_KEY", "TOKEN_KEYS"]);
		expect(prepareVariables({}, file)).toEqual({ variables: first.variables, written: [] });
	});

	it("are never the same in two places", () => {
		const other = join(folder, "other");
		expect(prepareVariables({}, file).variables).not.toEqual(prepareVariables({}, other).variables);
	});

	it("are taken from the environment without being written", () => {
		const { variables, written } = prepareVariables({ OPERATOR_KEY: "environment-operator-key" }, file);
		expect(variables.OPERATOR_KEY).toBe("environment-operator-key");
		expect(written).toEqual(["TOKEN_KEYS"]);
		expect(readFileSync(file, "utf8")).not.toContain("environment-operator-key");
	});

	it("are added to a file that lacks one, which keeps the rest", () => {
		writeFileSync(file, `# mine\nTOKEN_KEYS=${TOKEN_KEY}\nSNAPSHOT_TTL_SECONDS=5`, { mode: 0o644 });
		const { variables } = prepareVariables({}, file);
		expect(readFileSync(file, "utf8")).toBe(
			`# mine\nTOKEN_KEYS=${TOKEN_KEY}\nSNAPSHOT_TTL_SECONDS=5\nOPERATOR_KEY=${variables.OPERATOR_KEY}\n`,
		);
		expect(variables).toMatchObject({ TOKEN_KEYS: TOKEN_KEY, SNAPSHOT_TTL_SECONDS: "5" });
		expect(statSync(file).mode & 0o777).toBe(0o600);
	});

	it("count as absent where they are blank", () => {
		expect(prepareVariables({ OPERATOR_KEY: " " }, file).written).toContain("OPERATOR_KEY");
	});

	it.each([
		[{ OPERATOR_KEY: "too-short" }, "OPERATOR_KEY in the environment must have at least 16 characters"],
		[{ TOKEN_KEYS: `${TOKEN_KEY},short` }, "TOKEN_KEYS in the environment must be secrets of at least 32 characters"],
	])("are refused where they are too short, without being shown", (environment, message) => {
		expect(() => prepareVariables(environment, file)).toThrow(message);
		expect(() => prepareVariables(environment, file)).not.toThrow(Object.values(environment)[0]);
	});
});

describe("the local server's port", () => {
	it.each([
		[undefined, 8787],
		["", 8787],
		["9000", 9000],
	])("PORT=%s is %d", (text, port) => {
		expect(readPort({ PORT: text })).toBe(port);
	});

	it.each(["0", "65536", "80a", "-1", "1e3"])("refuses PORT=%s", (text) => {
		expect(() => readPort({ PORT: text })).toThrow("must be a number from 1 to 65535");
	});
});

describe("the local server's receiver of callbacks", () => {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-receiver-"));
	const file = join(folder, "state", "callback-port");
	const running: { stop: () => void }[] = [];
	const told: string[] = [];

	const start = async () => {
		const receiver = await startCallbackReceiver(await freePort(), (line) => told.push(line), file);
		if (receiver !== null) running.push(receiver);
		return receiver;
	};

	afterEach(() => {
		for (const receiver of running.splice(0)) receiver.stop();
	});

	afterAll(() => rmSync(folder, { recursive: true }));

	it("confirms callbacks, tells of each in a line, and shows the newest first", async () => {
		const receiver = await start();
		expect(await (await fetch(`${receiver?.origin}/`)).text()).toContain("No callback has arrived");
		for (const status of ["approved", "can%1B%5B31mcelled"]) {
			const callback = `${receiver?.origin}/acme?source=a&txnid=T-1&cid=click-7&payout=1.5000&status=${status}&edate=2026-11-21T06%3A24%3A13.000Z`;
			expect((await fetch(callback)).status).toBe(204);
		}
		expect(told).toEqual([
			"Callback to /acme: T-1 approved, 1.5000 USD, click id click-7, of 2026-11-21T06:24:13.000Z",
			"Callback to /acme: T-1 can [31mcelled, 1.5000 USD, click id click-7, of 2026-11-21T06:24:13.000Z",
		]);
		const shown = (await (await fetch(`${receiver?.origin}/`)).text()).trim().split("\n");
		expect(shown.map((line) => line.slice(line.indexOf("Callback")))).toEqual(told.toReversed());
	});

	it("keeps its port over restarts, and gives up where another program has taken it", async () => {
		const first = await start();
		first?.stop();
		const second = await start();
		expect(second?.origin).toBe(first?.origin);
		expect(await start()).toBeNull();
	});
});

describe("the local server's end", () => {
	const servers: Server[] = [];

	/** A server that says of each look what its queues hold, the last again and again; `looks` counts. */
	async function serve(...messages: { clicks: number; postbacks: number }[]) {
		const served = { origin: "", looks: 0 };
		const server = createServer((_, response) => {
			const { clicks, postbacks } = messages[Math.min(served.looks++, messages.length - 1)] ?? { clicks: 0, postbacks: 0 };
			const backlogOf = (messages: number) => ({ messages, oldest_at: null });
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ queues: { clicks: backlogOf(clicks), postbacks: backlogOf(postbacks), callbacks: null } }));
		});
		servers.push(server);
		const port = await freePort();
		await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
		served.origin = `http://127.0.0.1:${port}`;
		return served;
	}

	afterEach(() => {
		for (const server of servers.splice(0)) server.close();
	});

	it("waits until its queues are empty three looks in a row: a batch that is being written is in none", async () => {
		const server = await serve(...[3, 0, 1, 0, 0, 0].map((postbacks) => ({ clicks: 0, postbacks })));
		expect(await drainQueues(server.origin, "key", new AbortController().signal)).toBeNull();
		expect(server.looks).toBe(6);
	});

	it("tells what is left where it is not waited for any longer", async () => {
		const { origin } = await serve({ clicks: 20, postbacks: 148 });
		const told = await drainQueues(origin, "key", AbortSignal.abort());
		expect(told).toBe("Ended with 20 clicks and 148 postbacks in the queues: they are lost.");
	});

	it("waits ten seconds at most", async () => {
		const server = await serve({ clicks: 0, postbacks: 1 });
		// Each look takes two seconds; after ten, it is not longer than that yet.
		const clock = vi.spyOn(Date, "now").mockImplementation(() => 2_000 * server.looks);
		const told = await drainQueues(server.origin, "key", new AbortController().signal);
		clock.mockRestore();
		expect(told).toContain("0 clicks and 1 postbacks");
		expect(server.looks).toBe(6);
	});

	it("says so where the server has gone", async () => {
		const told = await drainQueues(`http://127.0.0.1:${await freePort()}`, "key", new AbortController().signal);
		expect(told).toContain("does not answer any more");
	});
});

describe("the local server's cron", () => {
	afterEach(() => {
		vi.useRealTimers();
		vi.restoreAllMocks();
	});

	it("fires once a minute until it is stopped, whatever the answer", async () => {
		vi.useFakeTimers();
		vi.spyOn(console, "error").mockImplementation(() => {});
		const fetched = vi
			.spyOn(globalThis, "fetch")
			.mockRejectedValueOnce(new TypeError("fetch failed"))
			.mockResolvedValue(new Response("ok"));
		const stop = startCron("http://127.0.0.1:8787");
		await vi.advanceTimersByTimeAsync(3 * 60_000);
		expect(fetched.mock.calls.map(([url]) => url)).toEqual(
			Array(3).fill("http://127.0.0.1:8787/cdn-cgi/local/scheduled?cron=*%20*%20*%20*%20*"),
		);
		stop();
		await vi.advanceTimersByTimeAsync(5 * 60_000);
		expect(fetched).toHaveBeenCalledTimes(3);
	});
});
