import { DrizzleQueryError } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { AwayError, boundCalls, inTime, isAwayError } from "../../../src/lib/away.ts";
import { HttpError } from "../../../src/lib/http.ts";

/** As D1 throws it: what it says after the prefix is the cause. */
const d1 = (text: string) => new Error(`D1_ERROR: ${text}`, { cause: new Error(text) });
const ofStatement = (cause: Error) => new DrizzleQueryError("SELECT ?", ["Network connection lost"], cause);

const AWAY: readonly Error[] = [
	...[
		"Network connection lost.",
		"Network connection lost",
		"D1 DB storage operation exceeded timeout which caused object to be reset.",
		"D1 DB is overloaded. Requests queued for too long.",
		"D1 DB is overloaded. Too many requests queued.",
		"Cannot resolve D1 DB due to transient issue on remote node.",
		"Internal error while starting up D1 DB storage caused object to be reset.",
		"D1 DB reset because its code was updated.",
		"D1 DB's isolate exceeded its memory limit and was reset.",
		"D1 DB exceeded its CPU time limit and was reset.",
		"internal error; reference = 0123456789abcdef",
		"Exceeded maximum DB size",
		"database or disk is full: SQLITE_FULL",
		"database is locked: SQLITE_BUSY",
		"the network database is being moved: SQLITE_CONSTRAINT_TRIGGER",
	].map(d1),
	// A call that has failed on its way has no prefix of D1's.
	new Error("Network connection lost."),
	new Error("internal error; reference = 0123456789abcdef"),
	Object.assign(new Error("The Durable Object was moved."), { retryable: true }),
	new Error("KV GET failed: 500 Internal Server Error"),
	new Error("KV GET_BULK failed: 503 Service Unavailable"),
	new Error("KV PUT failed: 429 Too Many Requests"),
	new Error("Queue send failed: Internal Server Error"),
	new Error("Queue sendBatch failed: Too Many Requests"),
	new Error("put: We encountered an internal error. Please try again. (10001)"),
	new AwayError("08006: the line was lost"),
];

const DEFECTS: readonly unknown[] = [
	...[
		"no such table: clicks: SQLITE_ERROR",
		"UNIQUE constraint failed: clicks.id: SQLITE_CONSTRAINT",
		"too many SQL variables at offset 9: SQLITE_ERROR",
		"string or blob too big: SQLITE_TOOBIG",
		"database disk image is malformed: SQLITE_CORRUPT",
		"Wrong number of parameter bindings for SQL query.",
		"No SQL statements detected.",
	].map(d1),
	new Error("D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'"),
	new Error("D1_COLUMN_NOTFOUND: Column not found (x)"),
	new Error("KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400."),
	new Error("Queue send failed: Payload Too Large"),
	new Error("the message said D1_ERROR: Network connection lost."),
	new TypeError("x is not a function"),
	new HttpError(409, { error: "Network connection lost" }),
	"D1_ERROR: Network connection lost.",
	null,
];

describe("what is away, told from a defect", () => {
	it.each(AWAY.map((error) => [error.message, error] as const))("away: %s", (_, error) => {
		expect([isAwayError(error), isAwayError(ofStatement(error))]).toEqual([true, true]);
	});

	it.each(DEFECTS.map((error) => [error instanceof Error ? error.message : String(error), error] as const))(
		"no absence: %s",
		(_, error) => {
			expect(isAwayError(error)).toBe(false);
			if (error instanceof Error) expect(isAwayError(ofStatement(error))).toBe(false);
		},
	);
});

describe("what is waited for no longer than a time", () => {
	const forEver = new Promise<never>(() => {});

	it("is away when that is over", async () => {
		await expect(inTime(forEver, 5, "KV")).rejects.toEqual(new AwayError("KV did not answer in time"));
		await expect(inTime(Promise.resolve(null), 5, "KV")).resolves.toBe(null);
		await expect(inTime(Promise.reject(new TypeError("x")), 5, "KV")).rejects.toThrow(TypeError);
	});

	it("is each call of a binding, as it was made", async () => {
		const kv = { name: "kv", get: (key: string) => (key === "lost" ? forEver : Promise.resolve([kv.name, key])), size: () => 1 };
		const bound = boundCalls(kv, 5, "KV");
		await expect(bound.get("lost")).rejects.toThrow("KV did not answer in time");
		expect([await bound.get("a"), bound.size(), bound.name]).toEqual([["kv", "a"], 1, "kv"]);
	});
});
