import { expect, test } from "vitest";
import { hashConnection } from "../../src/clicks/hash-connection.ts";

test("worker: the hash of a connection is the same for the same secret, the first time and later, and another for any other", async () => {
	const first = await hashConnection("secret-1", "203.0.113.7");
	expect(first).toMatch(/^[0-9a-f]{16}$/);
	expect(hashConnection("secret-1", "203.0.113.7")).toBe(first);
	const others = await Promise.all([
		hashConnection("secret-1", "203.0.113.8"),
		hashConnection("secret-2", "203.0.113.7"),
		hashConnection("secret-1", "2001:db8::/64"),
	]);
	expect(new Set([first, ...others]).size).toBe(4);
});

test("worker: the hash of a connection is what it has always been: those of yesterday are compared with those of today", async () => {
	const connections = ["203.0.113.7", "203.0.113.15", "2001:db8::/64"];
	const hashes = await Promise.all(connections.map((connection) => hashConnection("secret-1", connection)));
	expect(hashes).toEqual(["ee1c9e87e9f00bf6", "38578f4cdf4650ec", "86548a8344caf67e"]);
});
