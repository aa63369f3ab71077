/** Marks of what KV has kept and the ledger has: without them each run would write the oldest clicks again, and come to no others. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { markWritten, readWrittenKeys } from "../../src/db/written-keys.ts";

it("worker: a key that was marked is known, and no other", async () => {
	const db = openDatabase(env.DB);
	await markWritten(db, ["kept:1", 'kept:"2"'], 0);
	await markWritten(db, ["kept:1"], 0);
	expect(await readWrittenKeys(db, ["kept:1", 'kept:"2"', "kept:3"])).toEqual(new Set(["kept:1", 'kept:"2"']));
});
