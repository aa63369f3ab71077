/** A publisher's program against the service itself: types from its OpenAPI document, compiled without a cast, and run. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import example from "../../scripts/examples/network.json" with { type: "json" };
import { ROOT } from "../../scripts/local/paths.ts";
import { clickLink } from "../../scripts/stack/click-link.ts";
import { buildBundles, type Stack, startStack } from "../../scripts/stack/start-stack.ts";

const ACCESS_KEY = "access-key-of-the-test";
const PLATFORM_KEY = "platform-key-of-the-test";
const START_TIMEOUT_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "clickbourse-client-"));
const client = join(folder, "client");
const tools = join(ROOT, "test", "client", "node_modules", ".bin");
let stack: Stack;

/** What the client's function gives, called in a process of its own. */
function call(name: string, ...given: unknown[]): unknown {
	const script = `import * as client from "./earnings.ts"; console.log(JSON.stringify(await client[${JSON.stringify(name)}](...${JSON.stringify(given)})));`;
	return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: client, encoding: "utf8" }));
}

/** The messages of the compiler; none where all is well. */
function compile(compiler: string): string {
	try {
		return execFileSync(compiler, ["-p", "."], { cwd: client, encoding: "utf8" });
	} catch (error) {
		if (error instanceof Error && "stdout" in error) return String(error.stdout);
		throw error;
	}
}

beforeAll(async () => {
	cpSync(join(ROOT, "test", "client"), client, { recursive: true, filter: (path) => !path.includes("node_modules") });
	symlinkSync(join(ROOT, "node_modules"), join(client, "node_modules"));
	const state = join(folder, "one");
	stack = await startStack({ topology: "one", bundles: await buildBundles("one", state), folder: state });
	const network = {
		...example,
		platforms: example.platforms.map((platform) => ({ ...platform, access_key: PLATFORM_KEY })),
		publishers: example.publishers.map((publisher) => ({ ...publisher, access_key: ACCESS_KEY, callback_url: null })),
	};
	const headers = { OperatorKey: stack.operatorKey };
	const imported = await fetch(`${stack.origin}/operator/network`, { method: "POST", headers, body: JSON.stringify(network) });
	expect(imported.status).toBe(200);
}, START_TIMEOUT_MS);

afterAll(async () => {
	await stack[Symbol.asyncDispose]();
	rmSync(folder, { recursive: true, force: true });
});

describe("e2e: a client made from /openapi.json", () => {
	test("compiles as it stands, by the TypeScript of today and of before", () => {
		execFileSync(join(tools, "openapi-typescript"), [`${stack.origin}/openapi.json`, "--output", "paths.ts"], { cwd: client });
		for (const compiler of [join(tools, "tsc"), join(ROOT, "node_modules", ".bin", "tsc")]) expect(compile(compiler)).toBe("");
	});

	test("reads bids, and what a sale has earned, as JSON and as CSV", async () => {
		expect(call("readBid", stack.edge, "2001", "kettles.example")).toBe("0.2700");
		expect(call("readBid", stack.edge, "2001", "unknown.example")).toBeNull();
		expect(call("readPrice", stack.edge, "kitchen_notes", "kettles.example")).toBe(0.27);

		const query = new URLSearchParams({ pubi: "2001", bd: "kettles.example", cc: "US", clickid: "click-1" });
		const { redirect_url } = (await (await fetch(`${stack.edge}/serving-engine?${query}`)).json()) as { redirect_url: string };
		const { pathname, search } = new URL(redirect_url);
		const hash = (await clickLink(`${stack.edge}${pathname}${search}`))?.searchParams.get("sub") ?? "";
		const today = new Date().toISOString().slice(0, 10);
		const sale = new URLSearchParams({ txnid: "T-1", cid: hash, edate: today, payout: "10" });
		// The click has to be stored first; until then the sale waits for it, and is looked at again by the minute.
		const clicks = async () => (await (await stack.database()).prepare("SELECT id FROM clicks").all()).results.length;
		await expect.poll(clicks, { timeout: 60_000 }).toBe(1);
		expect((await fetch(`${stack.origin}/api/postback/${PLATFORM_KEY}?${sale}`)).status).toBe(200);

		const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
		const period = { start_date: yesterday, end_date: new Date().toISOString().slice(0, 10) };
		await expect
			.poll(() => call("readEarnings", stack.origin, ACCESS_KEY, period), { timeout: 60_000, interval: 500 })
			.toEqual({
				days: [{ date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/), revenue: "7.5000" }],
				total: 1,
				clickIds: ["click-1"],
				lines: ["click_id,revenue,click_date", expect.stringMatching(/^click-1,7\.5000,\d{4}-\d{2}-\d{2}$/)],
				domains: ["kettles.example"],
			});
		expect(call("readConversions", stack.origin, ACCESS_KEY, { from: yesterday, to: period.end_date })).toEqual({
			conversions: [["T-1", "7.5000", 1]],
			brands: [["kettles.example", "7.5000"]],
			total: "7.5000",
			endpoints: { openrtb: true, serving_engine: true },
		});
		expect(call("makeLinks", stack.origin, ACCESS_KEY, ["https://kettles.example/p/1", "https://unknown.example/"])).toEqual([
			"0.2700",
			"unknown_brand",
		]);
	});
});
