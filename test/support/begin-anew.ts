/**
 * Setup of every test file that runs in workerd: files share a process, as starting one and loading the Worker into it takes
 * seconds, but each begins as in a new one, with modules evaluated anew, no storage and no rate counted. What waits in queues outlives
 * this: see tested-worker.ts.
 */
// Not cloudflare:test, which loads the whole Worker: that would be for nothing, as all modules are evaluated anew after this.
import { reset } from "cloudflare:test-internal";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import "./worker-env.ts";

vi.useRealTimers();
vi.unstubAllGlobals();
vi.resetModules();
await wakeStores();
await reset();
await import("./file-start.ts");

/** `reset()` empties only stores that are awake, and workerd lets one sleep after ten seconds. */
async function wakeStores(): Promise<void> {
	const { databases, lists, rates } = env.STORES;
	await Promise.all([
		...databases.map((name) => env[name as "DB"].prepare("SELECT 1").run()),
		...lists.map((name) => env[name as "BOOK" | "ARCHIVE"].list({ limit: 1 })),
		...rates.map((name) => (Reflect.get(env, name) as RateLimit).limit({ key: "" })),
		caches.default.match("https://cache.example/"),
	]);
}
