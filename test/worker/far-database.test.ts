/** The database far away: every call takes a while, an invocation may end between any two, and the next one goes on from there. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { newTimeOrderedId } from "../../src/lib/ids.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { LOOKED_AT_A_STEP, removeOld } from "../../src/retention/remove-old.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { farDatabase } from "../support/far-database.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const countOf = async (table: string) => Number((await rowsOf(`SELECT count(*) AS count FROM ${table}`))[0]?.count);

beforeAll(() =>
	importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: Array.from({ length: 300 }, (_, at) => brandEntry(`far-${at}.example`, 5001 + at)),
	}),
);

describe("worker: 100 ms from the database", () => {
	it("a batch of clicks takes the same few calls, whether it is of one click or of a hundred", async () => {
		const one = farDatabase();
		await consumeClicks({ ...capDeps(), db: one.db }, letters(clickMessage()));
		const many = farDatabase();
		await consumeClicks({ ...capDeps(), db: many.db }, letters(...Array.from({ length: 100 }, () => clickMessage())));
		expect(many.calls()).toBeLessThanOrEqual(one.calls());
		expect(many.calls()).toBeLessThan(8);
		expect(await checkCounters()).toBe(101);
	});

	it("removal that is cut off keeps each step that it has made", async () => {
		const now = CLICKED_AT + 500 * DAY_MS;
		const rows = Array.from({ length: 2 * LOOKED_AT_A_STEP + 10 }, (_, at) => newTimeOrderedId(CLICKED_AT + at));
		await env.DB.prepare(
			`INSERT INTO postback_intake (id, received_at, method, query, outcome, answer)
			SELECT value, 0, 'GET', '', 'accepted', '{}' FROM json_each(?)`,
		)
			.bind(JSON.stringify(rows))
			.run();
		// Each ends long before it could have removed them all; what it keeps is how far it came.
		let runs = 0;
		for (; runs < 10 && (await countOf("postback_intake")) > 0; runs++) {
			await removeOld({ db: farDatabase(8).db, now: () => now, clickDays: 1_000, archive: undefined }).catch(() => {});
		}
		expect(await countOf("postback_intake")).toBe(0);
		expect(runs).toBeGreaterThan(1);
	});

	it("a publish that is cut off leaves its marks, and the next one ends it", async () => {
		await env.DB.batch([
			env.DB.prepare("UPDATE campaigns SET epc_micros = 654300"),
			env.DB.prepare(
				"INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT (slot) DO NOTHING",
			),
		]);
		const now = () => Date.now();
		await expect(publishBook({ db: farDatabase(6).db, kv: env.BOOK, now })).rejects.toThrow();
		expect(await countOf("book_dirty_slots")).toBeGreaterThan(0);
		// The lease of the one that ended runs out.
		await env.DB.prepare("UPDATE book_state SET lease_until = 0").run();
		const far = farDatabase();
		expect(await publishBook({ db: far.db, kv: env.BOOK, now })).toMatchObject({ complete: true });
		expect(await countOf("book_dirty_slots")).toBe(0);
	});
});
