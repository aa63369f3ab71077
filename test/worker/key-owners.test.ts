/** Keys on real D1: found by hash, cached shortly, so that a revocation holds within 30 seconds; last use to the day. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { KEY_KEPT_MS, KeyOwners, UNKNOWN_KEY_KEPT_MS } from "../../src/keys/key-owners.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import "../support/worker-env.ts";

const KEY = "ak_of-the-test";
const START = Date.parse("2026-11-18T23:59:50Z");
let clock = START;
const background: Promise<unknown>[] = [];
const waitUntil = (promise: Promise<unknown>) => void background.push(promise);

async function storeKey(key: string, fields: { kind?: string; ownerId?: string; expiresAt?: number | null } = {}): Promise<void> {
	const { kind = "access_key", ownerId = "acme", expiresAt = null } = fields;
	await env.DB.prepare("INSERT INTO access_keys (hash, kind, owner_id, created_at, expires_at) VALUES (?, ?, ?, 0, ?)")
		.bind(await sha256Hex(key), kind, ownerId, expiresAt)
		.run();
}

const newKeys = () => new KeyOwners({ db: openDatabase(env.DB), now: () => clock });

beforeEach(async () => {
	clock = START;
	await env.DB.prepare("DELETE FROM access_keys").run();
	await storeKey(KEY);
});

describe("worker: whose key it is", () => {
	it("finds the owner of a valid key of the kind asked for", async () => {
		const keys = newKeys();
		expect(await keys.find("access_key", KEY, waitUntil)).toBe("acme");
		expect(await keys.find("publisher_key", KEY, waitUntil)).toBeNull();
		expect(await keys.find("platform_key", KEY, waitUntil)).toBeNull();
	});

	it.each([
		["missing", undefined],
		["null", null],
		["empty", ""],
		["blank", "        "],
		["unknown", "ak_of-somebody-else"],
		["sent twice", `${KEY}, ${KEY}`],
		["oversized", "k".repeat(100_000)],
		["in another case", KEY.toUpperCase()],
		["not ASCII", `${KEY}é`],
		["with a hash's text", "a".repeat(64)],
	])("%s: belongs to no one", async (_name, presented) => {
		expect(await newKeys().find("access_key", presented, waitUntil)).toBeNull();
	});

	it("a key that was valid a moment ago makes no other one valid, and is not valid for another kind", async () => {
		const keys = newKeys();
		expect(await keys.find("access_key", KEY, waitUntil)).toBe("acme");
		expect(await keys.find("access_key", KEY, waitUntil)).toBe("acme");
		for (const other of [`${KEY.slice(0, -1)}x`, `x${KEY.slice(1)}`, KEY.slice(0, -1), `${KEY}x`]) {
			expect(await keys.find("access_key", other, waitUntil)).toBeNull();
		}
		expect(await keys.find("publisher_key", KEY, waitUntil)).toBeNull();
	});

	it("of more keys than are recognised at once, each is still found", async () => {
		const keys = newKeys();
		const many = Array.from({ length: 20 }, (_, i) => `ak_key-number-${String(i).padStart(2, "0")}`);
		for (const [i, key] of many.entries()) await storeKey(key, { ownerId: `owner-${i}` });
		for (let round = 0; round < 2; round++) {
			for (const [i, key] of many.entries()) expect(await keys.find("access_key", key, waitUntil)).toBe(`owner-${i}`);
		}
	});

	it("while the database cannot be read, a platform's key that was good within the hour stays good, and no other key does", async () => {
		await storeKey("plk_of-the-test", { kind: "platform_key", ownerId: "northwind", expiresAt: START + 7_200_000 });
		let away = false;
		const prepare: D1Database["prepare"] = (query) => {
			if (away) throw new Error("D1_ERROR: the database is away");
			return env.DB.prepare(query);
		};
		const keys = new KeyOwners({
			db: openDatabase({ prepare, batch: (all: D1PreparedStatement[]) => env.DB.batch(all) } as D1Database),
			now: () => clock,
		});
		expect(await keys.find("platform_key", "plk_of-the-test", waitUntil)).toBe("northwind");
		expect(await keys.find("access_key", KEY, waitUntil)).toBe("acme");
		await Promise.all(background.splice(0));
		away = true;
		for (const minutes of [10, 30, 59]) {
			clock = START + minutes * 60_000;
			expect(await keys.find("platform_key", "plk_of-the-test", waitUntil)).toBe("northwind");
			await expect(keys.find("access_key", KEY, waitUntil)).rejects.toThrow("away");
		}
		clock = START + 61 * 60_000;
		await expect(keys.find("platform_key", "plk_of-the-test", waitUntil)).rejects.toThrow("away");
		// What cannot be told is not said to be unknown.
		expect(await keys.mayBeValid("any-other-key")).toBe(true);
	});

	it("a database that takes long to fail is asked no more often for a platform's key than one that fails at once", async () => {
		await storeKey("plk_of-the-test", { kind: "platform_key", ownerId: "northwind" });
		let asked: number | null = null;
		const prepare: D1Database["prepare"] = (query) => {
			if (asked === null) return env.DB.prepare(query);
			asked++;
			clock += KEY_KEPT_MS;
			throw new Error("D1_ERROR: the database is away");
		};
		const keys = new KeyOwners({ db: openDatabase({ prepare } as D1Database), now: () => clock });
		clock = START + 60_000;
		await keys.find("platform_key", "plk_of-the-test", waitUntil);
		await Promise.all(background.splice(0));
		asked = 0;
		clock += KEY_KEPT_MS;
		const owners = [];
		for (let i = 0; i < 3; i++) owners.push(await keys.find("platform_key", "plk_of-the-test", waitUntil));
		expect(owners).toEqual(["northwind", "northwind", "northwind"]);
		expect(asked).toBe(1);
	});

	describe.each([
		["revoked", "UPDATE access_keys SET expires_at = 1"],
		["removed", "DELETE FROM access_keys"],
	])("while the database is slow to say of a platform's key, it is %s, and another read says so", (_name, change) => {
		const PLATFORM_KEY = "plk_of-the-test";

		/** Starts a read that has its rows and keeps them until `held` settles; then the change, and a read that sees it. */
		async function startRead() {
			await storeKey(PLATFORM_KEY, { kind: "platform_key", ownerId: "northwind" });
			const held = Promise.withResolvers<void>();
			const asked = Promise.withResolvers<void>();
			let isHeld = false;
			const prepare: D1Database["prepare"] = (query) => {
				const statement = env.DB.prepare(query);
				if (!isHeld) return statement;
				isHeld = false;
				const raw = async (bound: D1PreparedStatement) => {
					const rows = await bound.raw();
					asked.resolve();
					await held.promise;
					return rows;
				};
				return { bind: (...values: unknown[]) => ({ raw: () => raw(statement.bind(...values)) }) } as unknown as D1PreparedStatement;
			};
			const keys = new KeyOwners({ db: openDatabase({ prepare } as D1Database), now: () => clock });
			const find = () => keys.find("platform_key", PLATFORM_KEY, waitUntil);
			clock = START + 60_000;
			expect(await find()).toBe("northwind");
			await Promise.all(background.splice(0));
			clock += KEY_KEPT_MS;
			isHeld = true;
			const first = find();
			await asked.promise;
			await env.DB.prepare(change).run();
			clock += 1_000;
			expect(await find()).toBeNull();
			clock += 1_000;
			return { first, held, find };
		}

		it("the slow read fails then: the key does not come back", async () => {
			const { first, held, find } = await startRead();
			held.reject(new Error("D1_ERROR: the database is away"));
			expect(await first).toBeNull();
			clock += 10_000;
			expect(await find()).toBeNull();
		});

		it("the slow read brings what was stored before: the key does not come back", async () => {
			const { first, held, find } = await startRead();
			held.resolve();
			expect(await first).toBeNull();
			clock += 1_000;
			expect(await find()).toBeNull();
		});
	});

	it("an expired key belongs to no one from the moment it expires, cached or not", async () => {
		await storeKey("ak_expiring", { expiresAt: START + 1_000 });
		const keys = newKeys();
		expect(await keys.find("access_key", "ak_expiring", waitUntil)).toBe("acme");
		clock = START + 999;
		expect(await keys.find("access_key", "ak_expiring", waitUntil)).toBe("acme");
		clock = START + 1_000;
		expect(await keys.find("access_key", "ak_expiring", waitUntil)).toBeNull();
	});
});

describe("worker: what may be a valid key", () => {
	it("is any key that is valid, of whatever kind and whether it was seen or not, and no other", async () => {
		await storeKey("plk_of-the-test", { kind: "platform_key", ownerId: "northwind" });
		await storeKey("ak_revoked", { expiresAt: START });
		const keys = newKeys();
		await keys.find("access_key", KEY, waitUntil);
		const presented = [KEY, "plk_of-the-test", "ak_revoked", "ak_unknown", "", "é".repeat(9), `ak_${"a".repeat(38)}`];
		expect(await Promise.all(presented.map((key) => keys.mayBeValid(key)))).toEqual([true, true, false, false, false, false, false]);
	});

	it("is told without asking for each: one that is issued meanwhile is known soon after, and at once where it was issued", async () => {
		const keys = newKeys();
		expect(await keys.mayBeValid("ak_issued-later")).toBe(false);
		await storeKey("ak_issued-later");
		expect(await keys.mayBeValid("ak_issued-later")).toBe(false);
		clock = START + UNKNOWN_KEY_KEPT_MS;
		expect(await keys.mayBeValid("ak_issued-later")).toBe(true);
		expect(await keys.mayBeValid("ak_issued-here")).toBe(false);
		await storeKey("ak_issued-here");
		keys.forget();
		expect(await keys.mayBeValid("ak_issued-here")).toBe(true);
	});
});

describe("worker: how long a key is remembered", () => {
	it("a revocation holds within 30 seconds, and at once where it was made", async () => {
		expect(KEY_KEPT_MS).toBeLessThanOrEqual(20_000);
		const [elsewhere, here] = [newKeys(), newKeys()];
		expect(await elsewhere.find("access_key", KEY, waitUntil)).toBe("acme");
		expect(await here.find("access_key", KEY, waitUntil)).toBe("acme");
		await env.DB.prepare("UPDATE access_keys SET expires_at = ?").bind(START).run();
		here.forget();
		expect(await here.find("access_key", KEY, waitUntil)).toBeNull();
		clock = START + KEY_KEPT_MS - 1;
		expect(await elsewhere.find("access_key", KEY, waitUntil)).toBe("acme");
		clock = START + KEY_KEPT_MS;
		expect(await elsewhere.find("access_key", KEY, waitUntil)).toBeNull();
	});

	it("steady use does not stretch it", async () => {
		const keys = newKeys();
		await keys.find("access_key", KEY, waitUntil);
		await env.DB.prepare("UPDATE access_keys SET expires_at = ?").bind(START).run();
		const seen: (string | null)[] = [];
		for (clock = START; clock <= START + 30_000; clock += 1_000) seen.push(await keys.find("access_key", KEY, waitUntil));
		expect(seen.indexOf(null)).toBe(KEY_KEPT_MS / 1_000);
		expect(seen.slice(KEY_KEPT_MS / 1_000).every((owner) => owner === null)).toBe(true);
	});

	it("a key tried before it was issued works soon after", async () => {
		const keys = newKeys();
		expect(await keys.find("access_key", "ak_issued-later", waitUntil)).toBeNull();
		await storeKey("ak_issued-later");
		clock = START + UNKNOWN_KEY_KEPT_MS;
		expect(await keys.find("access_key", "ak_issued-later", waitUntil)).toBe("acme");
	});
});

describe("worker: last use", () => {
	it("is written to the day, once a day", async () => {
		const keys = newKeys();
		background.length = 0;
		await keys.find("access_key", KEY, waitUntil);
		await keys.find("access_key", KEY, waitUntil);
		expect(background).toHaveLength(1);
		await Promise.all(background);
		expect(await env.DB.prepare("SELECT last_used_on FROM access_keys").first("last_used_on")).toBe("2026-11-18");
		clock = START + 10_000;
		await keys.find("access_key", KEY, waitUntil);
		expect(background).toHaveLength(2);
		await Promise.all(background);
		expect(await env.DB.prepare("SELECT last_used_on FROM access_keys").first("last_used_on")).toBe("2026-11-19");
	});

	it("is not written for a key that is refused", async () => {
		background.length = 0;
		await newKeys().find("publisher_key", KEY, waitUntil);
		expect(background).toHaveLength(0);
	});
});
