/**
 * First setup of every test file of the `worker` project: with modules and storage as in a new process, which takes many times as long.
 * Every store is asked for something first, as `reset()` empties only those that are awake, and workerd lets one sleep after ten seconds.
 */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import "./worker-env.ts";

const RATE_LIMITS = ["UNKNOWN_KEYS", "FAILED_KEYS", "CLICK_ADDRESSES", "CLICK_TOKENS", "CLICK_STRIPPED", "PUBLISHERS"] as const;

vi.useRealTimers();
vi.unstubAllGlobals();
vi.resetModules();
await Promise.all([
	...[env.D1 ?? env.DB, env.PRODUCTS].map((database) => database.prepare("SELECT 1").run()),
	...[env.BOOK, env.ARCHIVE].map((store) => store.list({ limit: 1 })),
	...RATE_LIMITS.map((name) => env[name].limit({ key: "" })),
	caches.default.match("https://cache.example/"),
]);
await reset();
await import("./file-start.ts");
