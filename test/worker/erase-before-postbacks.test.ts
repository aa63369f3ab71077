/** What a platform tells of a click after its user was erased: it settles as ever, and nothing of the user is kept again. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { ledgerAnswerSchema } from "../../src/ledger-check/ledger-answers.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, storeClicks } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import "../support/worker-env.ts";

const PERSONAL = { s2: "s2-mark", s3: "s3-mark", surl: "https://shop.example/secret" };

beforeAll(importConversionNetwork);
beforeEach(() => forgetTraffic("day_digests", "claims"));

const mine = clickRow({ uid: "u", publisher_click_id: "own-click-77", platform: "west" });
const others = clickRow({ uid: "v", publisher_click_id: "theirs", platform: "west" });

async function erase(): Promise<void> {
	const request = { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify({ uid: "u" }) };
	expect((await exports.default.fetch("https://base.example/operator/erase", request)).status).toBe(200);
}

function told(txnid: string, click: typeof mine, fields: Parameters<typeof postbackMessage>[1] = {}) {
	const cid = String(click.click_hash);
	const message = postbackMessage("west", { txnid, cid, status: "approved", ...PERSONAL, ...fields });
	message.intake.query = `txnid=${txnid}&cid=${cid}&payout=10&edate=2026-11-10&s2=s2-mark&s3=s3-mark&surl=secret&email=secret`;
	return message;
}

async function expectNothing(): Promise<void> {
	const tables = ["clicks", "conversions", "conversion_events", "conversion_history", "postback_intake", "callbacks"];
	const left = JSON.stringify(await Promise.all(tables.map((table) => rowsOf(`SELECT * FROM ${table}`))));
	for (const trace of ["own-click-77", "s2-mark", "s3-mark", "secret"]) expect(left).not.toContain(trace);
	const request = { method: "POST", headers: OPERATOR_HEADERS, body: "{}" };
	const response = await exports.default.fetch("https://base.example/operator/check-ledger", request);
	expect(v.parse(ledgerAnswerSchema, await response.json()).differences).toEqual([]);
}

describe("worker: a postback that comes after the erasure", () => {
	it("of a conversion that is new leaves nothing of the user", async () => {
		await storeClicks(mine);
		await erase();
		await consume(told("t", mine));
		await expectNothing();
		expect(await rowsOf("SELECT stage, status, click_id, payout_micros FROM conversions")).toEqual([
			{ stage: "settled", status: "approved", click_id: mine.id, payout_micros: 10_000_000 },
		]);
		expect(await rowsOf("SELECT query FROM postback_intake")).toEqual([
			{ query: `txnid=t&payout=10&edate=2026-11-10&cid=${mine.click_hash}` },
		]);
	});

	it("of a conversion that was erased with it leaves nothing, whether or not it changes anything", async () => {
		await storeClicks(mine);
		await consume(told("t", mine, { status: "pending" }));
		await erase();
		await consume(told("t", mine, { status: "approved", payoutMicros: 20_000_000 }));
		await consume(told("t", mine, { status: "approved", payoutMicros: 20_000_000 }));
		await expectNothing();
		expect(await rowsOf("SELECT status, payout_micros FROM conversions")).toEqual([{ status: "approved", payout_micros: 20_000_000 }]);
		expect(await rowsOf("SELECT count(*) AS n FROM postback_intake")).toEqual([{ n: 3 }]);
	});

	it("names the click of a sale no earlier than its platform did, though one batch has both", async () => {
		await storeClicks(mine);
		await erase();
		const unknown = told("t", mine, { cid: "own-click-77" });
		// Held for its amount: nothing is credited before.
		await consume(unknown, told("t", mine, { payoutMicros: 900_000_000_000 }));
		await expectNothing();
		const [held] = await rowsOf("SELECT stage, held_for, click_id, cid FROM conversions");
		expect(held).toEqual({ stage: "quarantined", held_for: "amount", click_id: mine.id, cid: mine.click_hash });
		expect(await rowsOf("SELECT status, payout_micros FROM callbacks")).toEqual([]);
	});

	it("leaves nothing in capitals, and of others all", async () => {
		await storeClicks(mine, others);
		await erase();
		const cid = String(mine.click_hash).toUpperCase();
		const message = told("t", mine, { cid });
		await consume({ ...message, intake: { ...message.intake, cid } });
		await expectNothing();
		await consume(told("t-theirs", others));
		expect(await rowsOf("SELECT s2, s3, surl, publisher_click_id FROM conversions WHERE txnid = 't-theirs'")).toEqual([
			{ ...PERSONAL, publisher_click_id: "theirs" },
		]);
		expect(await rowsOf("SELECT query FROM postback_intake WHERE txnid = 't-theirs'")).toEqual([
			{ query: expect.stringContaining("email=secret") },
		]);
	});

	it("and is refused leaves what it may be replayed by", async () => {
		await storeClicks(mine, others);
		await erase();
		for (const [click, cid] of [
			[mine, String(mine.click_hash).toUpperCase()],
			[others, String(others.click_hash)],
		] as const) {
			const { intake } = told(`t-${click.uid}`, click);
			const query = `tid=t-9&cid=${cid}&payout=10&s2=s2-mark&surl=secret`;
			await consume({ format: 1, kind: "postback", intake: { ...intake, txnid: null, cid, query, outcome: "rejected" }, postback: null });
		}
		expect(await rowsOf("SELECT cid, query FROM postback_intake ORDER BY id")).toEqual([
			{ cid: mine.click_hash, query: `tid=t-9&cid=${mine.click_hash}&payout=10` },
			{ cid: others.click_hash, query: `tid=t-9&cid=${others.click_hash}&payout=10&s2=s2-mark&surl=secret` },
		]);
	});

	it("and is refused leaves nothing where it names the click otherwise, and settles by that name once", async () => {
		await storeClicks(mine, others);
		await erase();
		const hash = String(mine.click_hash);
		for (const [cid, query] of [
			[null, `txnid=t-9&click_id=${hash.toUpperCase()}&payout=10&edate=2026-11-10&s2=s2-mark&surl=secret&tid=x-${hash}-secret`],
			["other", `txnid=t-10&cid=other&ref=s2-mark%20${hash}&payout=10&edate=2026-11-10&surl=secret`],
			[null, `txnid=t-11&click_id=${others.click_hash}&payout=10&s2=of-others`],
		] as const) {
			const { intake } = told("t", mine);
			const answer = '{"errors":{"cid":["is missing"]}}';
			await consume({
				format: 1,
				kind: "postback",
				intake: { ...intake, txnid: null, cid, query, outcome: "rejected", answer },
				postback: null,
			});
		}
		const { intake } = told("t", mine);
		const cut = { ...intake, platform: null, txnid: null, cid: hash, query: "s2=s2-mark&s3=", outcome: "unknown_key" };
		await consume({ format: 1, kind: "postback", intake: cut, postback: null });
		await expectNothing();
		expect(await rowsOf("SELECT cid, query FROM postback_intake WHERE platform IS NOT NULL ORDER BY id")).toEqual([
			{ cid: null, query: `txnid=t-9&click_id=${hash}&payout=10&edate=2026-11-10` },
			{ cid: "other", query: "txnid=t-10&cid=other&payout=10&edate=2026-11-10" },
			{ cid: null, query: `txnid=t-11&click_id=${others.click_hash}&payout=10&s2=of-others` },
		]);
		const replay = async () => {
			const body = JSON.stringify({ platform: "west", mapping: { cid: "click_id" }, from: "2026-11-01", until: "2026-11-30" });
			const request = { method: "POST", headers: OPERATOR_HEADERS, body };
			const response = await exports.default.fetch("https://base.example/operator/problems/postbacks/replay", request);
			return response.json<{ accepted: number }>();
		};
		expect(await replay()).toMatchObject({ accepted: 2, conversions: 2 });
		expect(await replay()).toMatchObject({ accepted: 0, conversions: 0 });
		expect(await rowsOf("SELECT txnid, click_id FROM conversions ORDER BY txnid")).toContainEqual({ txnid: "t-9", click_id: mine.id });
	});

	it("of a conversion that finds no click, since another platform tells of it, leaves nothing", async () => {
		await storeClicks(mine);
		await erase();
		const message = told("t", mine);
		await consume({ ...message, intake: { ...message.intake, platform: "east" } });
		await expectNothing();
		expect(await rowsOf("SELECT platform, click_id, cid FROM conversions")).toEqual([
			{ platform: "east", click_id: null, cid: mine.click_hash },
		]);
	});

	it("and says what was said before it changes nothing, and lifts no cancellation", async () => {
		await storeClicks(mine);
		const cid = String(mine.click_hash).toUpperCase();
		await consume(told("t", mine, { cid }));
		await consume(told("t-cancelled", mine));
		await consume(told("t-cancelled", mine, { status: "cancelled" }));
		await erase();
		const history = () => rowsOf("SELECT txnid, seq, kind FROM conversion_events ORDER BY txnid, seq");
		const before = await history();
		await consume(told("t", mine, { cid }));
		expect(await history()).toEqual(before);
		await consume(told("t-cancelled", mine));
		expect(await history()).toEqual([...before, { txnid: "t-cancelled", seq: expect.any(Number), kind: "late" }]);
		expect(await rowsOf("SELECT txnid, status FROM conversions ORDER BY txnid")).toEqual([
			{ txnid: "t", status: "approved" },
			{ txnid: "t-cancelled", status: "cancelled" },
		]);
		await expectNothing();
	});

	it.each(["KV", "dead letters"])(
		"before its click, which waits in %s when its user is erased, leaves nothing, and settles",
		async (where) => {
			const waiting = clickMessage({ brandId: 1, campaignId: 11, platformId: 1, publisher: "identity-cpa", texts: { uid: "u" } });
			await consume(told("t", { click_hash: waiting.hash }));
			const refused = told("t-refused", { click_hash: waiting.hash });
			await consume({ ...refused, intake: { ...refused.intake, outcome: "failed" }, postback: null });
			if (where === "KV") await env.BOOK.put("click:batch:waiting", JSON.stringify([waiting]), { metadata: { count: 1 } });
			else {
				const add = "INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d', 'clicks', ?, 1)";
				await env.DB.prepare(add).bind(JSON.stringify(waiting)).run();
			}
			await erase();
			await expectNothing();
			const [{ body = "" } = {}] = await rowsOf<{ body: string }>("SELECT body FROM dead_letters");
			const [kept] = where === "KV" ? JSON.parse((await env.BOOK.get("click:batch:waiting")) ?? "[]") : [JSON.parse(body)];
			await env.BOOK.delete("click:batch:waiting");
			await consumeClicks(capDeps(), letters(kept));
			await consume({ format: 1, kind: "look_again", platform: "west", txnid: "t" });
			await expectNothing();
			expect(await rowsOf("SELECT txnid, click_id, payout_micros FROM conversions")).toEqual([
				{ txnid: "t", click_id: waiting.id, payout_micros: 10_000_000 },
			]);
		},
	);

	it("of a click that was erased while it waited in KV leaves nothing", async () => {
		const waiting = clickMessage({ texts: { uid: "u", clickid: "own-click-77" } });
		await env.BOOK.put("click:batch:waiting", JSON.stringify([waiting]), { metadata: { count: 1 } });
		await erase();
		const [kept] = JSON.parse((await env.BOOK.get("click:batch:waiting")) ?? "[]");
		await env.BOOK.delete("click:batch:waiting");
		await consumeClicks(capDeps(), letters(kept));
		const stored = await rowsOf("SELECT * FROM clicks");
		expect(stored).toMatchObject([{ id: waiting.id, uid: null, publisher_click_id: null, written_by: "erased" }]);
	});
});
