/** Conversions against their events, and callbacks against reports, on real D1: sound ones are found sound, tampered ones are found. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { type LedgerAnswer, ledgerAnswerSchema } from "../../src/ledger-check/ledger-answers.ts";
import { sweepLedger } from "../../src/ledger-check/sweep-ledger.ts";
import { DAY_MS, MINUTE_MS } from "../../src/lib/time.ts";
import { statusSchema } from "../../src/operator/status/status-answer.ts";
import { adjust, postVerb } from "../support/adjustments.ts";
import { rowsOf } from "../support/click-messages.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, storeClicks } from "../support/conversions.ts";
import { TRAFFIC_TABLES } from "../support/forget-traffic.ts";
import { keepRows } from "../support/kept-rows.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";

const db = openDatabase(env.DB);
const run = (query: string) => env.DB.prepare(query).run();

async function post(body: object): Promise<Response> {
	return exports.default.fetch("https://base.example/operator/check-ledger", {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify(body),
	});
}

async function check(cursor?: string): Promise<LedgerAnswer> {
	const response = await post(cursor === undefined ? {} : { cursor });
	expect(response.status).toBe(200);
	return v.parse(ledgerAnswerSchema, await response.json());
}

const NO_REASONS = { pending: 0, held: 0, amount_changed: 0, not_delivered: 0, paused: 0, exhausted: 0, no_url: 0 };

async function readLedger() {
	const response = await exports.default.fetch("https://base.example/operator/status", { headers: OPERATOR_HEADERS });
	return v.parse(statusSchema, await response.json()).ledger;
}

/** A conversion of a click of this publisher, told so often. */
async function convert(txnid: string, publisher: string, ...statuses: string[]): Promise<void> {
	const click = clickRow({ publisher_id: publisher });
	await storeClicks(click);
	for (const status of statuses) {
		await consume(postbackMessage("west", { txnid, cid: String(click.click_hash), status, payoutMicros: 10_000_000 }));
	}
}

const deliver = () => run("UPDATE callbacks SET state = 'delivered', next_attempt_at = NULL, exposures = 1 WHERE state = 'due'");
const setAmendments = (amendments: string) => run(`UPDATE publishers SET amendments = '${amendments}' WHERE id = 'cpa'`);

let restore = async () => {};

beforeAll(async () => {
	await importConversionNetwork();
	await run("DELETE FROM ledger_check");
	await run("INSERT INTO ledger_check (id) VALUES (1)");
	await convert("approved", "cpa", "approved");
	await convert("back", "cpa", "approved", "cancelled");
	await convert("quiet", "quiet", "approved");
	await convert("pending", "cpa", "pending");
	await convert("clicks", "cpc", "approved");
	await consume(postbackMessage("west", { txnid: "waits", cid: "f".repeat(32) }));
	await adjust({ kind: "void_conversion", platform: "west", txnid: "quiet" });
	await adjust({ kind: "restore_conversion", platform: "west", txnid: "quiet" });
	await deliver();
	restore = await keepRows([...TRAFFIC_TABLES, "ledger_differences", "ledger_check"]);
});

beforeEach(() => restore());

describe("worker: checking the ledger", () => {
	it("what settling wrote differs in nothing, and each amount that was not confirmed has a reason", async () => {
		expect(await check()).toEqual({
			conversions: 6,
			difference_count: 0,
			differences: [],
			reasons: { ...NO_REASONS, pending: 1, no_url: 1 },
			next_cursor: null,
		});
	});

	it.each([
		["exhausted", "UPDATE callbacks SET state = 'exhausted' WHERE txnid = 'approved'"],
		["not_delivered", "UPDATE callbacks SET state = 'due' WHERE txnid = 'approved'"],
		["paused", "UPDATE callbacks SET state = 'due', held_for = 'pause' WHERE txnid = 'approved'"],
	])("%s is a reason", async (reason, query) => {
		await run(query);
		expect((await check()).reasons).toMatchObject({ [reason]: 1 });
	});

	it("an amount that changed after the credit is a reason, and so is a hold", async () => {
		const [{ cid } = { cid: "" }] = await rowsOf("SELECT cid FROM conversions WHERE txnid = 'approved'");
		await consume(postbackMessage("west", { txnid: "approved", cid: String(cid), status: "approved", payoutMicros: 20_000_000 }));
		expect((await check()).reasons).toMatchObject({ amount_changed: 1, held: 0 });
		await consume(postbackMessage("west", { txnid: "approved", cid: String(cid), status: "approved", payoutMicros: 20_000_000_000 }));
		const { reasons, difference_count } = await check();
		expect([reasons.held, reasons.amount_changed, difference_count]).toEqual([1, 0, 0]);
	});

	it.each([
		["no_rate", "no_rate", { currency: "SEK" }],
		["amount", "too_large", { payoutMicros: 20_000_000_000 }],
	])("what an early version held, whose events tell why in words alone, differs in nothing: %s", async (why, word, facts) => {
		const click = clickRow({ publisher_id: "cpa" });
		await storeClicks(click);
		await consume(postbackMessage("west", { txnid: "held", cid: String(click.click_hash), ...facts }));
		await run(`UPDATE conversion_events SET details = replace(details, ',"heldFor":"${why}"', '') WHERE txnid = 'held'`);
		await run(`UPDATE conversion_events SET details = replace(details, '"why":"${why}"', '"why":"${word}"') WHERE txnid = 'held'`);
		// A migration noted it in what was held then, and not in what the early version held after it.
		for (const stored of [`'${why}'`, "NULL"]) {
			await run(`UPDATE conversions SET held_for = ${stored} WHERE txnid = 'held'`);
			expect((await check()).differences).toEqual([]);
		}
		await run("UPDATE conversions SET held_for = 'review' WHERE txnid = 'held'");
		expect((await check()).differences).toMatchObject([{ kind: "history", field: "held_for", stored: "review", expected: why }]);
	});

	it("what the first version settled beside this one, though it is held or voided, is told", async () => {
		const settle = (txnid: string, set: object) =>
			env.DB.batch([
				env.DB.prepare("UPDATE conversions SET stage = 'settled', status = 'approved', event_count = event_count + 1 WHERE txnid = ?").bind(
					txnid,
				),
				env.DB.prepare(`INSERT INTO conversion_events (platform, txnid, seq, at, kind, intake_id, details)
					SELECT platform, txnid, event_count, 0, 'released', NULL, ? FROM conversions WHERE txnid = ?`).bind(
					JSON.stringify({ set }),
					txnid,
				),
			]);
		const click = clickRow({ publisher_id: "quiet" });
		await storeClicks(click);
		await consume(postbackMessage("west", { txnid: "held", cid: String(click.click_hash), payoutMicros: 20_000_000_000 }));
		await settle("held", { stage: "settled" });
		await adjust({ kind: "void_conversion", platform: "west", txnid: "quiet" });
		await settle("quiet", { status: "approved" });
		const ofHistory = async () => (await check()).differences.filter(({ kind }) => kind === "history");
		expect(await ofHistory()).toMatchObject([
			{ txnid: "held", field: "held_for", stored: "amount", expected: null },
			{ txnid: "quiet", field: "status", stored: "approved", expected: "cancelled" },
		]);
		for (const kind of ["void_conversion", "restore_conversion"]) await adjust({ kind, platform: "west", txnid: "held" });
		for (const kind of ["restore_conversion", "void_conversion"]) await adjust({ kind, platform: "west", txnid: "quiet" });
		expect(await ofHistory()).toEqual([]);
		expect(await rowsOf("SELECT stage, status FROM conversions WHERE txnid IN ('held', 'quiet') ORDER BY txnid")).toEqual([
			{ stage: "quarantined", status: "approved" },
			{ stage: "settled", status: "cancelled" },
		]);
	});

	it("a click that was taken back again leaves a credit and its cancellation: no difference, whoever's the conversion is then", async () => {
		const attach = async (publisher: string) => {
			const click = clickRow({ publisher_id: publisher });
			await storeClicks(click);
			const response = await postVerb("west", "waits", "attach", { click: String(click.click_hash) });
			expect(response.status).toBe(200);
			return (await response.json<{ id: string }>()).id;
		};
		await adjust({ kind: "undo", adjustment: await attach("cpa") });
		expect((await check()).differences).toEqual([]);
		await adjust({ kind: "undo", adjustment: await attach("cpc") });
		const ofQuiet = await attach("quiet");
		expect((await check()).differences).toEqual([]);
		await adjust({ kind: "undo", adjustment: ofQuiet });
		await run("DELETE FROM callbacks WHERE txnid = 'waits' AND seq = 4");
		expect((await check()).differences).toMatchObject([{ txnid: "waits", kind: "callbacks", field: "not_owed", stored: "3" }]);
	});

	it("what an operator attached, took away and attached to another publisher's click is right at every step", async () => {
		await consume(postbackMessage("west", { txnid: "by-hand", cid: "lost", status: "approved" }));
		const [one, clicks, other] = ["cpa", "cpc", "quiet"].map((publisher_id) => clickRow({ publisher_id }));
		for (const click of [one, clicks, other]) await storeClicks(click ?? expect.fail("no click"));
		let attached: unknown;
		const attach = async (click: typeof one) => {
			const response = await postVerb("west", "by-hand", "attach", { click: click?.click_hash });
			expect(response.status).toBe(200);
			attached = ((await response.json()) as { id: string }).id;
		};
		const differences = async () => {
			await deliver();
			return (await check()).differences.filter(({ txnid }) => txnid === "by-hand");
		};
		for (const click of [one, clicks, one, other]) {
			await attach(click);
			expect(await differences()).toEqual([]);
			if (click === other) break;
			await adjust({ kind: "undo", adjustment: String(attached) });
			expect(await differences()).toEqual([]);
		}
		expect(await rowsOf("SELECT seq, publisher_id, status FROM callbacks WHERE txnid = 'by-hand' ORDER BY seq")).toEqual(
			["cpa", "cpa", "cpa", "cpa", "quiet"].map((publisher_id, at) => ({
				...{ seq: at + 1, publisher_id },
				status: at % 2 === 0 ? "approved" : "cancelled",
			})),
		);
	});

	const tampered: [what: string, query: string, difference: object][] = [
		[
			"a row that was changed by hand",
			"UPDATE conversions SET payout_micros = 11000000 WHERE txnid = 'pending'",
			{ txnid: "pending", publisher: "cpa", kind: "history", field: "payout_micros", stored: "11000000", expected: "10000000" },
		],
		[
			"a field that no event set",
			"UPDATE conversions SET s2 = 'x' WHERE txnid = 'waits'",
			{ txnid: "waits", kind: "history", field: "s2", stored: "x", expected: null },
		],
		[
			"a boolean",
			"UPDATE conversions SET status_unknown = 1 WHERE txnid = 'waits'",
			{ kind: "history", field: "status_unknown", stored: "true", expected: "false" },
		],
		[
			"an event that is missing",
			"DELETE FROM conversion_events WHERE txnid = 'back' AND seq = 2",
			{ txnid: "back", kind: "history", field: "event_count" },
		],
		[
			"a credit that is missing",
			"DELETE FROM callbacks WHERE txnid = 'approved'",
			{ txnid: "approved", kind: "callbacks", field: "no_credit", expected: "8.0000" },
		],
		[
			"a cancellation that is missing",
			"DELETE FROM callbacks WHERE txnid = 'back' AND seq = 2",
			{ txnid: "back", kind: "callbacks", field: "credit_stands", stored: "8.0000" },
		],
		[
			"a cancellation of another amount",
			"UPDATE callbacks SET payout_micros = 7000000 WHERE txnid = 'back' AND seq = 2",
			{ txnid: "back", kind: "callbacks", field: "order", stored: "2: 7.0000", expected: "2: 8.0000" },
		],
		[
			"two credits",
			"UPDATE callbacks SET status = 'approved' WHERE txnid = 'back'",
			{ kind: "callbacks", field: "order", stored: "2: approved", expected: "2: cancelled" },
		],
		[
			"a gap",
			"UPDATE callbacks SET seq = 3 WHERE txnid = 'back' AND seq = 2",
			{ kind: "callbacks", field: "order", stored: "number 3", expected: "number 2" },
		],
		[
			"a callback that nobody owes",
			"UPDATE callbacks SET txnid = 'clicks' WHERE txnid = 'approved'",
			{ txnid: "clicks", publisher: "cpc", kind: "callbacks", field: "not_owed", stored: "1" },
		],
	];
	it.each(tampered)("finds %s, until it is right again", async (_, query, difference) => {
		await run(query);
		const { differences } = await check();
		expect(differences).toContainEqual(expect.objectContaining(difference));
		expect((await readLedger()).differences).toEqual(expect.arrayContaining(differences));
		await env.DB.batch(["conversions", "conversion_events", "callbacks"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await run("DELETE FROM ledger_differences WHERE txnid NOT IN (SELECT txnid FROM conversions)");
	});

	it.each([
		[{ cursor: "x" }, "cursor"],
		[{ mend: true }, "mend"],
	])("refuses %j", async (body, path) => {
		const response = await post(body);
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ faults: [{ path }] });
	});

	it("an amount that a publisher asks to hear of is told; where it is not, that is a difference", async () => {
		await setAmendments("pair");
		const [{ cid } = { cid: "" }] = await rowsOf("SELECT cid FROM conversions WHERE txnid = 'approved'");
		const again = { txnid: "approved", cid: String(cid), status: "approved" };
		await consume(postbackMessage("west", { ...again, payoutMicros: 20_000_000 }));
		expect(await check()).toMatchObject({ difference_count: 0, reasons: { not_delivered: 1 } });
		await setAmendments("none");
		await deliver();
		await consume(postbackMessage("west", { ...again, payoutMicros: 30_000_000 }));
		await setAmendments("pair");
		expect((await check()).differences).toMatchObject([
			{ txnid: "approved", kind: "callbacks", field: "credit_amount", stored: "16.0000", expected: "24.0000" },
		]);
		await adjust({ kind: "void_conversion", platform: "west", txnid: "approved" });
		await adjust({ kind: "restore_conversion", platform: "west", txnid: "approved" });
		expect((await check()).difference_count).toBe(0);
		await setAmendments("none");
	});

	it.each([
		["no_credit", "DELETE FROM callbacks WHERE txnid = 'approved'", "approved"],
		["credit_stands", "DELETE FROM callbacks WHERE txnid = 'back' AND seq = 2", "back"],
	])("%s is mended by a void and its restoring", async (field, query, txnid) => {
		await run(query);
		expect((await check()).differences).toMatchObject([{ txnid, kind: "callbacks", field }]);
		await adjust({ kind: "void_conversion", platform: "west", txnid });
		await adjust({ kind: "restore_conversion", platform: "west", txnid });
		expect((await check()).differences).toEqual([]);
	});

	it("goes on behind a cursor", async () => {
		const [platform, txnid] = ["west", "pending"].map((text) => new TextEncoder().encode(text).toHex());
		expect(await check(`${platform}.${txnid}`)).toMatchObject({ conversions: 2, next_cursor: null });
	});
});

describe("worker: the nightly check", () => {
	const NOW = Date.now() + 10 * MINUTE_MS;
	const sweep = (now = NOW) => sweepLedger({ db, now: () => now });
	const tamper = (txnid: string) => run(`UPDATE conversions SET s3 = 'x' WHERE txnid = '${txnid}'`);

	it("checks all once a day, and says when that was and what it found", async () => {
		const errors = vi.spyOn(console, "error").mockImplementation(() => {});
		expect(await readLedger()).toEqual({ checked_at: null, whole: null, difference_count: 0, differences: [] });
		await tamper("pending");
		await sweep();
		expect(await readLedger()).toMatchObject({
			checked_at: new Date(NOW).toISOString(),
			whole: { ended_at: new Date(NOW).toISOString(), conversions: 6, reasons: { ...NO_REASONS, pending: 1, no_url: 1 } },
			difference_count: 1,
			differences: [{ txnid: "pending", field: "s3", stored: "x", expected: null }],
		});
		expect(errors.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
			{ level: "error", event: "ledger.differs", txnid: "pending", kind: "history", field: "s3" },
		]);
		await run("UPDATE conversions SET s3 = NULL");
		await tamper("approved");
		await sweep(NOW + MINUTE_MS);
		expect((await readLedger()).differences).toMatchObject([{ txnid: "pending" }]);
		await sweep(NOW + DAY_MS);
		expect((await readLedger()).differences).toMatchObject([{ txnid: "approved" }]);
		errors.mockRestore();
	});

	it("what still differs has differed since it was first found", async () => {
		const errors = vi.spyOn(console, "error").mockImplementation(() => {});
		await tamper("pending");
		await sweep();
		await run("UPDATE conversions SET s3 = 'y', s2 = 'x' WHERE txnid = 'pending'");
		await sweep(NOW + DAY_MS);
		errors.mockRestore();
		expect(await rowsOf("SELECT field, stored, found_at FROM ledger_differences ORDER BY field")).toEqual([
			{ field: "s2", stored: "x", found_at: NOW + DAY_MS },
			{ field: "s3", stored: "y", found_at: NOW },
		]);
	});

	it("logs no click ids and URLs, and keeps them until the user is erased", async () => {
		const errors = vi.spyOn(console, "error").mockImplementation(() => {});
		const click = clickRow({ uid: "buyer", publisher_click_id: "own-77" });
		await storeClicks(click);
		const personal = { s2: "own-77-s2", surl: "https://shop.example/own-77" };
		await consume(postbackMessage("west", { txnid: "own", cid: String(click.click_hash), status: "approved", ...personal }));
		await run("UPDATE conversions SET publisher_click_id = 'own-78', s2 = NULL, surl = NULL, status = 'pending' WHERE txnid = 'own'");
		await sweep();
		const lines = errors.mock.calls.map(([line]) => JSON.parse(String(line)) as { field: string });
		errors.mockRestore();
		expect(lines.map(({ field }) => field).sort()).toEqual(["publisher_click_id", "s2", "status", "surl"]);
		expect(lines.find(({ field }) => field === "status")).toMatchObject({ stored: "pending", expected: "approved" });
		expect(JSON.stringify(lines)).not.toContain("own-7");
		const kept = async () => JSON.stringify(await rowsOf("SELECT * FROM ledger_differences"));
		expect(await kept()).toContain("own-77-s2");
		const erasing = { method: "POST", headers: OPERATOR_HEADERS, body: '{"uid":"buyer"}' };
		expect((await exports.default.fetch("https://base.example/operator/erase", erasing)).status).toBe(200);
		expect(await kept()).toBe("[]");
	});

	it("one that was written since is checked within minutes", async () => {
		const errors = vi.spyOn(console, "error").mockImplementation(() => {});
		await sweep();
		await tamper("waits");
		await run(`UPDATE conversions SET updated_at = ${NOW} WHERE txnid = 'waits'`);
		await sweep(NOW + MINUTE_MS);
		expect((await readLedger()).difference_count).toBe(0);
		await sweep(NOW + 3 * MINUTE_MS);
		expect((await readLedger()).differences).toMatchObject([{ txnid: "waits" }]);
		expect((await readLedger()).whole).toMatchObject({ ended_at: new Date(NOW).toISOString() });
		errors.mockRestore();
	});

	it("takes a bounded number a run, and goes on with the next", async () => {
		await run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, event_count, first_received_at, updated_at)
			SELECT 'east', 'bulk-' || i, '', 'waiting', 'pending', 0, 0, 0, 0, '', 1, 0, 0 FROM n`);
		const { stage, status, cid, currency } = { stage: "waiting", status: "pending", cid: "", currency: "" };
		const set = JSON.stringify({ set: { cid, stage, status, statusUnknown: false, test: false, eventAt: 0, payoutMicros: 0, currency } });
		await run(`INSERT INTO conversion_events (platform, txnid, seq, at, kind, details)
			SELECT platform, txnid, 1, 0, 'received', '${set}' FROM conversions WHERE platform = 'east'`);
		const ended = [];
		for (let runs = 0; runs < 4; runs++) {
			await sweep(NOW + runs * MINUTE_MS);
			ended.push((await readLedger()).whole?.conversions ?? null);
		}
		expect(ended).toEqual([null, null, 1206, 1206]);
		expect((await readLedger()).difference_count).toBe(0);
	});
});
