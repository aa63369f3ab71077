import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { completeApp } from "../../src/worker-app.ts";

function answersOf(app: Hono, path: string) {
	return Promise.resolve(app.request(path)).then(async (response) => ({ status: response.status, body: await response.json() }));
}

describe("worker: what every Worker's app answers", () => {
	it("health, and 404 for what is nowhere", async () => {
		const app = new Hono();
		completeApp(app);
		expect(await answersOf(app, "/health")).toEqual({ status: 200, body: { status: "ok" } });
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

	it("middleware that was there before sees /health", async () => {
		const app = new Hono();
		app.use("*", async (c, next) => {
			await next();
			c.res.headers.set("x-seen", "yes");
		});
		completeApp(app);
		expect((await app.request("/health")).headers.get("x-seen")).toBe("yes");
	});
});
