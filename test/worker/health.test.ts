import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import edge from "../../src/edge.ts";
import { type Readiness, routeHealth } from "../../src/health.ts";
import { completeApp } from "../../src/http/errors.ts";
import { AwayError } from "../../src/lib/away.ts";
import origin from "../../src/origin.ts";
import worker from "../../src/worker.ts";

function answersOf(app: Hono, path: string) {
	return Promise.resolve(app.request(path)).then(async (response) => ({ status: response.status, body: await response.json() }));
}

describe("worker: what every Worker's app answers", () => {
	it("404 for what is nowhere", async () => {
		const app = new Hono();
		completeApp(app);
		expect(await answersOf(app, "/nowhere")).toEqual({ status: 404, body: { error: "Not found" } });
	});

	it("what was thrown is a 500 that says nothing, and a line in the log that names the request", async () => {
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const app = new Hono();
		completeApp(app);
		app.get("/broken", () => {
			throw new Error("the reason");
		});
		expect(await answersOf(app, "/broken")).toEqual({ status: 500, body: { error: "Internal error" } });
		const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
		logged.mockRestore();
		expect(lines).toMatchObject([{ event: "request.failed", message: "the reason", request: expect.stringMatching(/./) }]);
	});
});

describe("worker: /health and /ready, before any router", () => {
	const ask = (path: string, method = "GET", isReady = async (): Promise<Readiness> => [200, { status: "ready" }]) =>
		routeHealth(new Request(`https://rtb.example${path}`, { method }), isReady);

	it.each<[path: string, method: string, status: number, body: unknown]>([
		["/health", "GET", 200, { status: "ok" }],
		["/health?of=edge", "GET", 200, { status: "ok" }],
		["/ready", "GET", 200, { status: "ready" }],
		["/ready", "POST", 405, { error: "Method not allowed" }],
		["/health", "DELETE", 405, { error: "Method not allowed" }],
	])("%s by %s: %d", async (path, method, status, body) => {
		const response = await ask(path, method);
		expect([response?.status, await response?.json()]).toEqual([status, body]);
	});

	it("HEAD has no body, and no cache keeps an answer", async () => {
		for (const path of ["/health", "/ready"]) {
			const response = await ask(path, "HEAD");
			expect([response?.status, response?.headers.get("cache-control"), await response?.text()]).toEqual([200, "no-store", ""]);
		}
	});

	it.each(["/", "/healthy", "/health/", "/ready/now", "/x/health"])("%s is another's", (path) => {
		expect(ask(path)).toBeNull();
	});

	it("what makes /ready fail is a line of the log, 503 where something is away", async () => {
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const failing = (error: Error) => ask("/ready", "GET", () => Promise.reject(error));
		expect([(await failing(new Error("the reason")))?.status, (await failing(new AwayError("D1")))?.status]).toEqual([500, 503]);
		expect(logged.mock.calls.join()).toContain("the reason");
		logged.mockRestore();
	});
});

describe("worker: each Worker", () => {
	it.each([
		["the edge", edge, [503, "no book"]],
		["the origin", origin, [200, "ready"]],
		["all in one", worker, [503, "no book"]],
	] as const)("%s answers /health and /ready, and 404 for what is nowhere", async (_, { fetch }, readiness) => {
		const ask = async (path: string) => {
			const request = new Request(`https://worker.example${path}`) as unknown as Parameters<typeof fetch>[0];
			const response = await fetch(request, env, createExecutionContext());
			return [response.status, await response.json()];
		};
		expect(await ask("/health")).toEqual([200, { status: "ok" }]);
		expect(await ask("/ready")).toEqual([readiness[0], { status: readiness[1] }]);
		expect(await ask("/nowhere")).toEqual([404, { error: "Not found" }]);
	});
});
