/** Erasing a user: nothing of them is left in any table, message, key or object, and all the money is as it was. */
import { env, exports } from "cloudflare:workers";
import type { SQL } from "drizzle-orm";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deliverCallback } from "../../src/callbacks/deliver-callback.ts";
import { CLICK_TEXTS } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { keepDeadLettersSafely } from "../../src/dead-letters/dead-letters-in-kv.ts";
import { answerHttpError } from "../../src/http/errors.ts";
import { CURSOR_FAULT, writeCursor } from "../../src/http/pages.ts";
import { KeyOwners } from "../../src/keys/key-owners.ts";
import { ledgerAnswerSchema } from "../../src/ledger-check/ledger-answers.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import type { QueueName } from "../../src/lib/enums.ts";
import { KEPT_DEAD_LETTERS_PREFIX } from "../../src/lib/kept-keys.ts";
import { utf8 } from "../../src/lib/utf8.ts";
import { type Erased, erasedSchema } from "../../src/operator/erase/erase-answer.ts";
import { eraseDeadLetters } from "../../src/operator/erase/erase-kept.ts";
import { eraseRoutes } from "../../src/operator/erase/erase-routes.ts";
import { readOwnIds } from "../../src/operator/erase/own-ids.ts";
import { actedBy } from "../support/actor.ts";
import { Outbox } from "../support/callback-outbox.ts";
import { clickMessage, rowsOf } from "../support/click-messages.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, storeClicks } from "../support/conversions.ts";
import { failWrites, stopFailing } from "../support/fail-writes.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import "../support/worker-env.ts";

const UID = "buyer-51cc";
/** Every text of a click that is neither one of its sources nor given below: one that is added to them is erased, too. */
const TEXTS = Object.fromEntries(
	CLICK_TEXTS.filter((name) => !["uid", "clickid", "subi", "psorc", "pcat", "atag"].includes(name)).map((name) => [
		name,
		`mark-of-${name}`,
	]),
);
/** What the user's rows have, each a trace of its own; nobody else has it. */
const TRACES = [
	...Object.values(TEXTS),
	"buyer-51cc",
	"own-click-77",
	"203.0.113.0",
	"feedc0ffee",
	"jogging socks",
	"asked-net",
	"secret-page",
	"s2-mark",
	"told-of-them",
];
const USER_CLICK = {
	uid: UID,
	publisher_click_id: "own-click-77",
	...TEXTS,
	ip_prefix: "203.0.113.0/24",
	user_agent_hash: "feedc0ffee000000",
	keyword: "jogging socks",
	asked_from: "asked-net",
	source_id: "news",
	subi: "news",
};
const TABLES = [
	"clicks",
	"paid_visits",
	"conversions",
	"conversion_events",
	"conversion_history",
	"postback_intake",
	"callbacks",
	"callback_attempts",
	"claims",
	"dead_letters",
	"audit",
	"day_digests",
];
/** What reports and payments are made of. */
const MONEY = [
	"SELECT id, click_hash, clicked_at, publisher_id, source_id, bid_micros, revenue_micros, gross_micros, reason, sequence FROM clicks ORDER BY id",
	"SELECT platform, txnid, stage, status, payout_micros, sales_micros, revenue_micros, gross_micros, event_at, click_id, publisher_id, source_id, credited FROM conversions ORDER BY txnid",
	"SELECT id, txnid, status, payout_micros, state FROM callbacks ORDER BY id",
	"SELECT * FROM daily_publishers ORDER BY publisher_id, date",
	"SELECT * FROM daily_sources ORDER BY publisher_id, date, source_id",
];

/** Rows of several queries, in one call. */
async function rowsOfAll(queries: readonly string[]) {
	return (await env.DB.batch(queries.map((query) => env.DB.prepare(query)))).map(({ results }) => results);
}

const money = () => rowsOfAll(MONEY);

/** Everything that is stored, as one text. */
async function stored(): Promise<string> {
	const tables = await rowsOfAll(TABLES.map((table) => `SELECT * FROM ${table}`));
	const { keys } = await env.BOOK.list({ prefix: "click:" });
	const names = keys.map(({ name }) => name);
	const kept: (string | null)[] = [];
	// As many as KV reads at once.
	for (let at = 0; at < names.length; at += 100) kept.push(...(await env.BOOK.get(names.slice(at, at + 100))).values());
	const { objects } = await env.ARCHIVE.list();
	const archived = await Promise.all(objects.map(async ({ key }) => (await env.ARCHIVE.get(key))?.text()));
	return JSON.stringify([tables, kept, archived]);
}

async function ask(body: object, query = "", headers: Record<string, string> = OPERATOR_HEADERS): Promise<Response> {
	return exports.default.fetch(`https://base.example/operator/erase${query}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function erase(asked: object, query = ""): Promise<Erased> {
	const response = await ask(asked, query);
	const body: unknown = await response.json();
	expect({ status: response.status, ...(response.status !== 200 && { body }) }).toEqual({ status: 200 });
	return v.parse(erasedSchema, body);
}

const mine = clickRow(USER_CLICK);
const mineToo = clickRow({ ...USER_CLICK, reason: "bot" });
const others = clickRow({ uid: "somebody", publisher_click_id: "theirs", ip_prefix: "198.51.100.0/24" });
const archivedClick = { ...clickRow(USER_CLICK), id: "0000-archived" };

beforeAll(importConversionNetwork);

beforeEach(async () => {
	await forgetTraffic("day_digests", "claims");
	await storeClicks(mine, mineToo, others);
	for (const [txnid, click] of [
		["t-mine", mine],
		["t-theirs", others],
	] as const) {
		const message = postbackMessage("west", {
			txnid,
			cid: String(click.click_hash),
			status: "approved",
			s2: `s2-mark${txnid === "t-mine" ? "" : "-no"}`,
		});
		if (message.postback !== null)
			message.postback.surl = txnid === "t-mine" ? "https://shop.example/secret-page" : "https://shop.example/page";
		message.intake.query = `txnid=${txnid}&cid=${click.click_hash}&payout=10&edate=2026-11-10&s2=${txnid === "t-mine" ? "s2-mark" : "other"}&surl=secret-page`;
		if (txnid !== "t-mine") {
			message.intake.query = `txnid=${txnid}&cid=${click.click_hash}&payout=10&surl=page`;
			if (message.postback !== null) message.postback.s2 = "other";
		}
		await consume(message);
	}
	await env.DB.batch([
		env.DB.prepare(
			"INSERT INTO paid_visits (click_id, publisher_id, connection, user_agent_hash, brand_id, clicked_at) VALUES (?, 'cpa', 'abc', 'feedc0ffee000000', 1, 1)",
		).bind(mine.id),
		env.DB.prepare(
			"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, answer) SELECT 'attempt-1', id, 1, 1, 'thanks for own-click-77' FROM callbacks WHERE txnid = 't-mine'",
		),
		env.DB.prepare(
			"INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at) VALUES " +
				[
					"('c-1', 'cpa', 'missing', 'own-click-77', 'open'",
					"('c-2', 'cpa', 'wrong', 't-mine', 'declined'",
					"('c-3', 'cpa', 'missing', 'theirs', 'open'",
				]
					.map((values, at) => `${values}, '[{"by":"publisher","text":"${at === 2 ? "their sale" : "told-of-them"}"}]', 1, 1, 1)`)
					.join(", "),
		),
		env.DB.prepare("INSERT INTO day_digests (publisher_id, day, due) VALUES ('cpa', '2026-11-10', 0)"),
		env.DB.prepare(
			"INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d-1', 'clicks', ?, 1), ('d-2', 'clicks', ?, 1), ('d-3', 'postbacks', ?, 1)",
		).bind(
			JSON.stringify(clickMessage({ texts: { ...TEXTS, uid: UID, clickid: "own-click-77" }, ipPrefix: "203.0.113.0/24" })),
			JSON.stringify(clickMessage({ texts: { uid: "somebody", clickid: "theirs" } })),
			JSON.stringify(postbackMessage("west", { txnid: "t-late", cid: String(mine.click_hash), surl: "secret-page" })),
		),
	]);
	await env.BOOK.put(
		"click:batch:1",
		JSON.stringify([
			clickMessage({ texts: { ...TEXTS, uid: UID }, keyword: "jogging socks" }),
			clickMessage({ texts: { uid: "somebody" } }),
		]),
		{ metadata: { count: 2 } },
	);
	const rows = [
		archivedClick,
		{
			...archivedClick,
			uid: "somebody",
			publisher_click_id: "theirs",
			...Object.fromEntries(Object.keys(TEXTS).map((name) => [name, null])),
			ip_prefix: null,
			user_agent_hash: null,
			keyword: null,
			asked_from: null,
			id: "0000-other",
		},
	];
	await env.ARCHIVE.put("clicks/2025-01-01/a.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
});

describe("worker: erasing a user", () => {
	it("by uid leaves no trace of them anywhere, nothing of others, and all the money", async () => {
		const before = await money();
		const all = await stored();
		for (const trace of TRACES) expect(all, trace).toContain(trace);
		const counts = {
			clicks: 2,
			visits: 1,
			conversions: 1,
			conversion_events: 2,
			postbacks: 1,
			callbacks: 1,
			claims: 2,
			dead_letters: 2,
			kept_in_kv: 1,
			archived: 1,
		};
		const previewed = await erase({ uid: UID }, "?dry_run=1");
		expect(previewed).toMatchObject({ dry_run: true, complete: true, id: null, hash: null, counts });
		expect(await stored()).toBe(all);

		const receipt = await erase({ uid: UID });
		expect(receipt).toMatchObject({ dry_run: false, complete: true, next_cursor: null, counts });
		expect(receipt.hash).toBe(await sha256Hex(`${receipt.id}\n${UID}`));
		const left = await stored();
		for (const trace of TRACES) expect(left, trace).not.toContain(trace);
		for (const kept of ["somebody", "theirs", "their sale", "198.51.100.0/24", "shop.example/page"]) expect(left).toContain(kept);
		expect(await money()).toEqual(before);
		expect(await rowsOf("SELECT verb, subject_kind, subject_id, before, after FROM audit WHERE verb = 'eraseUser'")).toEqual([
			{ verb: "eraseUser", subject_kind: "erasure", subject_id: receipt.id, before: null, after: null },
		]);
		expect(await rowsOf("SELECT due FROM day_digests")).toEqual([{ due: 1 }]);
		expect(await rowsOf("SELECT about_id, state FROM claims ORDER BY id")).toEqual([
			{ about_id: mineToo.click_hash, state: "open" },
			{ about_id: "t-mine", state: "declined" },
			{ about_id: "theirs", state: "open" },
		]);
		expect((await env.BOOK.getWithMetadata("click:batch:1")).metadata).toEqual({ count: 2 });
		expect(await erase({ uid: UID })).toMatchObject({ complete: true, counts: { clicks: 0, dead_letters: 0, archived: 0 } });
	});

	it("leaves a ledger in which nothing differs, and a later postback settles as ever", async () => {
		await erase({ uid: UID });
		const check = async () => {
			const response = await exports.default.fetch("https://base.example/operator/check-ledger", {
				method: "POST",
				headers: OPERATOR_HEADERS,
				body: "{}",
			});
			return v.parse(ledgerAnswerSchema, await response.json()).differences;
		};
		expect(await check()).toEqual([]);
		await consume(postbackMessage("west", { txnid: "t-mine", cid: String(mine.click_hash), status: "approved", payoutMicros: 20_000_000 }));
		expect(await rowsOf("SELECT payout_micros, publisher_click_id FROM conversions WHERE txnid = 't-mine'")).toEqual([
			{ payout_micros: 20_000_000, publisher_click_id: null },
		]);
		expect(await check()).toEqual([]);
	});

	it("by a UUID finds it in capitals, too, wherever it waits; by any other id only what has it so", async () => {
		const uuid = "6f9d2c1e-8a47-4b35-9c0d-2e1f7a6b5c4d";
		const archived = { ...archivedClick, id: "0000-capitals", uid: uuid.toUpperCase() };
		await storeClicks(clickRow({ ...USER_CLICK, uid: uuid.toUpperCase() }), clickRow({ ...USER_CLICK, uid: uuid }));
		await env.BOOK.put("click:batch:2", JSON.stringify([clickMessage({ texts: { uid: uuid.toUpperCase() } })]), { metadata: { count: 1 } });
		await env.ARCHIVE.put("clicks/2025-01-01/b.ndjson", `${JSON.stringify(archived)}\n`);
		expect((await erase({ uid: `${uuid}\n` })).counts).toMatchObject({ clicks: 2, kept_in_kv: 1, archived: 1 });
		expect((await stored()).toLowerCase()).not.toContain(uuid);
		expect((await erase({ uid: UID.toUpperCase() })).counts).toMatchObject({ clicks: 0, kept_in_kv: 0, archived: 0 });
		await env.BOOK.delete("click:batch:2");
		await env.ARCHIVE.delete("clicks/2025-01-01/b.ndjson");
	});

	it("finds dead letters that KV keeps while the database takes none, too", async () => {
		const clicks = [{ texts: { ...TEXTS, uid: UID } }, { texts: { uid: "somebody" } }].map(clickMessage);
		const postback = postbackMessage("west", { txnid: "t-late", cid: String(mine.click_hash), surl: "secret-page" });
		const letters = (queue: QueueName, bodies: readonly unknown[]) =>
			keepDeadLettersSafely(
				{ db: openDatabase(env.DB), kv: env.BOOK, now: Date.now },
				queue,
				bodies.map((body, at) => ({ id: `letter-${at}`, body })),
			);
		await failWrites("INSERT ON dead_letters");
		await letters("clicks", clicks);
		await letters("postbacks", [postback]);
		await stopFailing();
		const kept = async () => {
			const { keys } = await env.BOOK.list({ prefix: KEPT_DEAD_LETTERS_PREFIX });
			return [keys.length, JSON.stringify(await Promise.all(keys.map(({ name }) => env.BOOK.get(name))))] as const;
		};
		expect(await kept()).toEqual([2, expect.stringContaining("secret-page")]);
		expect((await erase({ uid: UID })).counts).toMatchObject({ kept_in_kv: 3 });
		const [count, left] = await kept();
		for (const trace of TRACES) expect(left, trace).not.toContain(trace);
		expect([count, left]).toEqual([2, expect.stringContaining("somebody")]);
		for (const { name } of (await env.BOOK.list({ prefix: KEPT_DEAD_LETTERS_PREFIX })).keys) await env.BOOK.delete(name);
	});

	it("by a click erases that click alone", async () => {
		const receipt = await erase({ click: String(mine.click_hash).toUpperCase() });
		expect(receipt.counts).toMatchObject({ clicks: 1, conversions: 1, postbacks: 1, dead_letters: 1, kept_in_kv: 0, archived: 0 });
		expect(await rowsOf("SELECT uid FROM clicks ORDER BY id")).toEqual([{ uid: null }, { uid: UID }, { uid: "somebody" }]);
		// Once more there is nothing of the user, and the receipt says so.
		const again = await erase({ click: String(mine.click_hash) });
		expect(new Set(Object.values(again.counts)), JSON.stringify(again.counts)).toEqual(new Set([0]));
	});

	it("by a click's id leaves its hash in the place of its ids, as by its hash", async () => {
		const click = clickRow({ ...USER_CLICK, id: "01a226cd-42c2-79a1-9bd0-27359bbe6972", publisher_click_id: "own-click-78" });
		const hash = String(click.click_hash);
		await storeClicks(click);
		await consume(postbackMessage("west", { txnid: "t-by-id", cid: hash, status: "approved", s2: "s2-mark" }));
		expect((await erase({ click: String(click.id) })).counts).toMatchObject({ clicks: 1, conversions: 1, postbacks: 1 });
		const cids = ["conversions", "postback_intake"].map((table) => `SELECT cid FROM ${table} WHERE txnid = 't-by-id'`);
		expect(await rowsOfAll(cids)).toEqual([[{ cid: hash }], [{ cid: hash }]]);
		const [told] = await rowsOf<{ details: string }>("SELECT details FROM conversion_events WHERE txnid = 't-by-id' AND seq = 1");
		expect(JSON.parse(told?.details ?? "{}")).toMatchObject({ set: { cid: hash } });
		const again = await erase({ click: hash });
		expect(new Set(Object.values(again.counts)), JSON.stringify(again.counts)).toEqual(new Set([0]));
	});

	it.each([
		["its click id, and is confirmed", "own-click-77", 200],
		["its click id, and fails", "own-click-77", 500],
		["sub ids alone", null, 200],
	])("leaves no answer to a callback that is under way, which told %s", async (_, ownId, status) => {
		const click = clickRow({ ...USER_CLICK, publisher_click_id: ownId });
		await storeClicks(click);
		await consume(postbackMessage("west", { txnid: "t-under-way", cid: String(click.click_hash), status: "approved" }));
		const [row] = await rowsOf<{ id: string; cid: string }>("SELECT id, cid FROM callbacks WHERE txnid = 't-under-way'");
		const { id, cid } = row ?? expect.fail("no callback");
		expect(cid).toBe(ownId ?? "");
		const answered = async (isErasing: boolean) => {
			const fetch = async (url: string) => {
				if (isErasing) await erase({ uid: UID });
				return new Response(`thanks for ${url}`, { status });
			};
			await env.DB.prepare("UPDATE callbacks SET state = 'due', held_for = NULL, next_attempt_at = 1 WHERE id = ?").bind(id).run();
			await deliverCallback({ ...new Outbox().deps, now: Date.now, fetch }, id);
			const attempts = await rowsOf<{ answer: string; http_status: number }>(
				`SELECT answer, http_status FROM callback_attempts WHERE callback_id = '${id}' ORDER BY started_at, id`,
			);
			return attempts.at(-1);
		};
		await env.DB.prepare("UPDATE publishers SET callback_url = 'http://pub.example/s2s?sub={subid1}' WHERE id = 'cpa'").run();
		expect((await answered(false))?.answer).toContain("mark-of-subid1");
		expect(await answered(true)).toEqual({ answer: "", http_status: status });
		expect(await stored()).not.toContain("mark-of-subid1");
		// Later answers have nothing of the user, and are kept.
		expect((await answered(false))?.answer).toMatch(/^thanks for .*txnid=t-under-way/);
	});

	it("empties claims that name the click in capitals, too: so they found it", async () => {
		const names = [String(mine.click_hash), String(mine.id)];
		const insert = env.DB.prepare(
			`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
			VALUES (?, 'cpa', 'missing', ?, 'withdrawn', '[{"by":"publisher","text":"told-of-them"}]', 1, 1, 1)`,
		);
		await env.DB.batch(names.map((name, at) => insert.bind(`capitals-${at}`, name.toUpperCase())));
		expect((await erase({ click: String(mine.click_hash) })).counts).toMatchObject({ claims: 4 });
		expect(await rowsOf("SELECT thread FROM claims WHERE thread LIKE '%told-of-them%'")).toEqual([]);
	});

	it("of a user with hundreds of clicks finds what waits of the last as of the first", async () => {
		const many = Array.from({ length: 450 }, () => clickRow(USER_CLICK));
		await storeClicks(...many);
		const last = many.map(({ id, click_hash }) => [String(id), String(click_hash)] as const).sort(([a], [b]) => (a < b ? 1 : -1))[0];
		const [, hash] = last ?? expect.fail("no clicks");
		const waiting = postbackMessage("west", { txnid: "t-last", cid: hash, s2: "s2-mark" });
		waiting.intake.query = `txnid=t-last&cid=${hash}&s2=s2-mark`;
		await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d-4', 'postbacks', ?, 1)")
			.bind(JSON.stringify(waiting))
			.run();
		await env.ARCHIVE.put("postback_intake/2025-01-01/a.ndjson", `${JSON.stringify({ cid: hash, query: `cid=${hash}&s2=s2-mark` })}\n`);
		const receipt = await erase({ uid: UID });
		expect(receipt).toMatchObject({ complete: true, counts: { clicks: 452, dead_letters: 3, archived: 2 } });
		const left = await stored();
		for (const trace of TRACES) expect(left, trace).not.toContain(trace);
		await env.ARCHIVE.delete("postback_intake/2025-01-01/a.ndjson");
	});

	it("of many large dead letters writes no more at once than a database takes, and asks it seldom", async () => {
		const body = JSON.stringify(clickMessage({ texts: { uid: UID, subi: "n".repeat(50_000) } }));
		const ids = Array.from({ length: 50 }, (_, at) => `large-${at}`);
		await env.DB.batch(
			ids.map((id) => env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES (?, 'clicks', ?, 1)").bind(id, body)),
		);
		const lengths: number[] = [];
		let reads = 0;
		const db = openDatabase(env.DB);
		const measured: typeof db = Object.assign(Object.create(db), {
			run(statement: SQL) {
				const { params } = new SQLiteAsyncDialect().sqlToQuery(statement);
				lengths.push(...params.map((value) => utf8(String(value)).length));
				return db.run(statement);
			},
			all(statement: SQL) {
				reads++;
				return db.all(statement);
			},
		});
		const none = new Set<string>();
		const erased = { uids: new Set([UID]), ids: none, hashes: none, own: await readOwnIds(db, []), callbacks: none };
		const keys = new KeyOwners({ db, now: Date.now });
		expect(await eraseDeadLetters({ db: measured, kv: env.BOOK, keys }, erased, false)).toBe(51);
		expect(await rowsOf("SELECT count(*) AS left FROM dead_letters WHERE body LIKE '%buyer-51cc%'")).toEqual([{ left: 0 }]);
		expect(Math.max(...lengths)).toBeLessThan(2_000_000);
		// An invocation may ask a thousand times, of thousands of them.
		expect([reads, lengths.length]).toEqual([2, 3]);
	});

	it("refuses what names nobody, or is no admin's", async () => {
		for (const body of [
			{},
			{ uid: "" },
			{ uid: UID, click: mine.click_hash },
			{ click: "own-click-77" },
			{ uid: 1 },
			{ uid: "x".repeat(256) },
			{ user: UID },
			{ uid: UID, cursor: "clicks/2025-01-01/a.ndjson" },
			...[["", 1], ["", "refused", "west"], ["", "refused_of_nobody"], ["x".repeat(1_025)], ["clicks/é"]].map((key) => ({
				uid: UID,
				cursor: writeCursor(key),
			})),
			[],
		])
			expect((await ask(body)).status, JSON.stringify(body)).toBe(422);
		expect((await ask({ uid: UID }, "", {})).status).toBe(401);
		expect((await ask({ uid: UID }, "?dryrun=1")).status).toBe(422);
	});

	it("refuses a cursor that KV does not know, and tells of KV's own faults as such", async () => {
		const ask = async (fault: string, cursor?: string) => {
			const kv = new Proxy(env.BOOK, {
				get: (target, name) => (name === "list" ? () => Promise.reject(new Error(fault)) : Reflect.get(target, name)),
			});
			const keys = new KeyOwners({ db: openDatabase(env.DB), now: Date.now });
			const routes = actedBy(eraseRoutes({ db: openDatabase(env.DB), kv, archive: env.ARCHIVE, keys, now: Date.now }));
			routes.onError(answerHttpError);
			const response = await routes.request("/?dry_run=1", { method: "POST", body: JSON.stringify({ uid: UID, cursor }) });
			return [response.status, await response.json()];
		};
		const forged = writeCursor(["", "kept", 0, "forged"]);
		const refused = { error: "Validation failed", faults: [{ path: "cursor", message: CURSOR_FAULT }], fault_count: 1 };
		expect(await ask("KV GET failed: 400 Bad Request", forged)).toEqual([422, refused]);
		for (const [fault, cursor] of [
			["KV GET failed: 400 Bad Request", undefined],
			["KV GET failed: 429 Too Many Requests", forged],
			["KV GET failed: 500 Internal Server Error", forged],
		] as const)
			await expect(ask(fault, cursor), fault).rejects.toThrow(fault);
	});

	// The last one: what it leaves in KV is in nobody's way.
	it("looks through a bounded part of what KV keeps a request, and knows whose it is until all is done", async () => {
		// A request looks through 500.
		const KEYS = 520;
		const message = JSON.stringify([clickMessage({ texts: { ...TEXTS, uid: UID } }), clickMessage({ texts: { uid: "somebody" } })]);
		for (let at = 0; at < KEYS; at++)
			await env.BOOK.put(`click:batch:many-${at}`, at % 2 === 0 ? message : "[]", { metadata: { count: 2 } });
		let calls = 0;
		const kv = new Proxy(env.BOOK, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				return (...given: unknown[]) => {
					calls++;
					return value.apply(target, given);
				};
			},
		});
		const keys = new KeyOwners({ db: openDatabase(env.DB), now: Date.now });
		const routes = actedBy(eraseRoutes({ db: openDatabase(env.DB), kv, archive: env.ARCHIVE, keys, now: Date.now }));
		const run = async (query: string) => {
			const receipts: Erased[] = [];
			for (let cursor: string | null = null; receipts.at(-1)?.complete !== true; cursor = receipts.at(-1)?.next_cursor ?? null) {
				calls = 0;
				const body = JSON.stringify({ uid: UID, ...(cursor !== null && { cursor }) });
				receipts.push(v.parse(erasedSchema, await (await routes.request(`/${query}`, { method: "POST", body })).json()));
				expect(calls).toBeLessThan(600);
			}
			const sum = (name: "kept_in_kv" | "archived" | "clicks") => receipts.reduce((total, { counts }) => total + counts[name], 0);
			return { requests: receipts.length, kept: sum("kept_in_kv"), archived: sum("archived"), clicks: sum("clicks") };
		};
		const counts = { kept: KEYS / 2 + 1, archived: 1, clicks: 2 };
		expect(await run("?dry_run=1")).toEqual({ requests: 2, ...counts });
		expect(await run("")).toEqual({ requests: 2, ...counts });
		const left = await stored();
		for (const trace of TRACES) expect(left, trace).not.toContain(trace);
	}, 60_000);
});
