/** Clicks that share a timer over requests of their own: what a promise of one does in another, only the runtime itself tells. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, it } from "vitest";

let script: string;
const running: Miniflare[] = [];

beforeAll(async () => {
	const { outputFiles } = await build({
		entryPoints: [join(import.meta.dirname, "..", "support", "send-click-worker.ts")],
		bundle: true,
		format: "esm",
		target: "esnext",
		write: false,
	});
	script = outputFiles[0]?.text ?? "";
});
afterAll(() => Promise.all(running.map((miniflare) => miniflare.dispose())));

/** An isolate of its own, asked by requests. */
async function isolate() {
	const miniflare = new Miniflare(
		convertV4MiniflareOptions({
			host: "127.0.0.1",
			log: new Log(LogLevel.NONE),
			cf: false,
			handleStructuredLogs: () => undefined,
			workers: [
				{
					name: "clicks",
					modules: [{ type: "ESModule", path: "worker.js", contents: script }],
					compatibilityDate: "2026-11-01",
					kvNamespaces: ["BOOK"],
				},
			],
		}),
	);
	running.push(miniflare);
	const origin = await miniflare.ready;
	const kv = await miniflare.getKVNamespace("BOOK", "clicks");
	return {
		click: async (id: string, mode: string, lives?: number) => {
			const response = await fetch(new URL(`/?id=${id}&mode=${mode}${lives === undefined ? "" : `&lives=${lives}`}`, origin));
			if (!response.ok) throw new Error(`HTTP ${response.status}`);
		},
		ended: async () => ((await (await fetch(new URL("/ended", origin))).json()) as string[]).sort(),
		/** The ids that KV has, as often as it has them. */
		async kept(): Promise<string[]> {
			const { keys } = await kv.list();
			const values = await Promise.all(keys.map(async ({ name }) => JSON.parse((await kv.get(name, "text")) ?? "null") as unknown));
			return (values.flat() as { id: string }[]).map(({ id }) => id).sort();
		},
	};
}

describe.concurrent("e2e: clicks that share a timer over requests of their own", () => {
	it("are kept where they hang, each once, and all their requests end", async ({ expect }) => {
		const { click, ended, kept } = await isolate();
		for (const [id, mode] of Object.entries({ a: "takes", b: "hangs", c: "refuses", d: "takes", e: "hangs" })) await click(id, mode);
		await expect.poll(ended, { timeout: 20_000 }).toEqual(["a", "b", "c", "d", "e"]);
		expect(await kept()).toEqual(["b", "c", "e"]);
	});

	it("are kept where the first one's request has ended, once another click comes", async ({ expect }) => {
		const { click, ended, kept } = await isolate();
		await click("first", "takes", 0);
		await click("b", "hangs");
		await click("c", "hangs");
		await sleep(6_000);
		expect(await kept()).toEqual([]);
		await click("next", "takes");
		await expect.poll(ended, { timeout: 20_000 }).toEqual(["b", "c", "next"]);
		expect(await kept()).toEqual(["b", "c"]);
	});

	it("are kept where the first one's request ends while they are", async ({ expect }) => {
		const { click, ended, kept } = await isolate();
		// It lives until they are given up, and not until KV has them.
		await click("first", "hangs", 3_700);
		await click("b", "hangs");
		await click("c", "hangs");
		await expect.poll(ended, { timeout: 20_000 }).toEqual(["b", "c"]);
		expect(await kept()).toEqual(expect.arrayContaining(["b", "c"]));
	});
});
