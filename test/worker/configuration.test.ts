/** A Worker whose variables or secrets are not sound says so in its log and answers a plain 500, on every path. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../src/config.ts";
import worker from "../../src/worker.ts";
import "../support/worker-env.ts";

const fetchWith = (changes: Partial<Env>, path: string, init?: RequestInit) =>
	worker.fetch(
		new Request(`https://rtb.example${path}`, init) as unknown as Parameters<typeof worker.fetch>[0],
		{ ...env, ...changes },
		createExecutionContext(),
	);

afterEach(() => {
	vi.restoreAllMocks();
});

describe("worker: configuration", () => {
	it.each([
		["no token key", { TOKEN_KEYS: "" }, "TOKEN_KEYS"],
		["a short token key", { TOKEN_KEYS: "short" }, "TOKEN_KEYS"],
		["a click host that is no origin", { CLICK_URL: "click.example/path" }, "CLICK_URL"],
		["a TTL that is no number", { SNAPSHOT_TTL_SECONDS: "soon" }, "SNAPSHOT_TTL_SECONDS"],
		["a retention that is too short", { CLICK_RETENTION_DAYS: "5.25" }, "CLICK_RETENTION_DAYS"],
		["a short operator key", { OPERATOR_KEY: "short" }, "OPERATOR_KEY"],
	])("%s: 500 outside, the variable's name but never its value in the log", async (_name, changes, name) => {
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		for (const [path, init] of [
			["/openrtb/acme_rtb", { method: "POST", body: "{}" }],
			["/serving-engine", {}],
			["/health", {}],
		] as const) {
			const response = await fetchWith(changes, path, init);
			expect(response.status).toBe(500);
			expect(await response.json()).toEqual({ error: "Internal error" });
			if (path.startsWith("/openrtb")) expect(response.headers.get("x-openrtb-version")).toBe("2.5");
		}
		const said = JSON.stringify(log.mock.calls);
		expect(said).toContain(name);
		for (const value of Object.values(changes)) if (value !== "") expect(said).not.toContain(value);
	});

	it("without OPERATOR_KEY the operator's endpoints do not exist", async () => {
		const { OPERATOR_KEY: key, ...rest } = env;
		const response = await worker.fetch(
			new Request("https://rtb.example/operator/network", { method: "POST", headers: { OperatorKey: key } }) as unknown as Parameters<
				typeof worker.fetch
			>[0],
			rest,
			createExecutionContext(),
		);
		expect(response.status).toBe(404);
	});
});
