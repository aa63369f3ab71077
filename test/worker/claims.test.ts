/** Claims against who would be paid twice, or be paid for another's: granted in one transaction, of one publisher, once a sale, and bounded. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { answerClaim, declineClaim } from "../../src/claims/settle-claims.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { ACTOR } from "../support/actor.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { get, post, signIn } from "../support/console.ts";
import { consume, importConversionNetwork, postbackMessage } from "../support/conversions.ts";
import { setNow } from "../support/load-network.ts";

const AT = Date.parse("2026-11-17T10:00:00Z");
const AMOUNT = { kind: "amount", date: "2026-11-17", amount: "7.00" };
const HASH = "b".repeat(32);

type Answer = { outcome: string; claim: { id: string } };

function call(path: string, body: object = {}, key = "access-key-cpa"): Promise<Response> {
	return exports.default.fetch(`http://localhost:8787/api/claims${path}`, {
		method: "POST",
		headers: { AccessKey: key },
		body: JSON.stringify(body),
	});
}
const claim = async (id: string, body: object = {}) =>
	(await call("", { kind: "missing", id, text: "It was bought.", ...body })).json<Answer>();
const idOf = async (id: string, body?: object) => (await claim(id, body)).claim.id;
const operate = (path: string, body: object) =>
	exports.default.fetch(`http://localhost:8787/operator/claims/${path}`, {
		method: "POST",
		headers: { OperatorKey: env.OPERATOR_KEY },
		body: JSON.stringify(body),
	});
const grant = (id: string, by: object) => operate(`${id}/grant`, { text: "Yes.", by });
const endAll = () => env.DB.prepare("UPDATE claims SET state = 'withdrawn'").run();

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importConversionNetwork();
	const click = (fields: object) => clickMessage({ at: AT, campaignId: 11, kind: "link", publisher: "identity-cpa", ...fields });
	await consumeClicks(
		capDeps(() => AT),
		letters(
			click({ hash: "a".repeat(32), texts: { clickid: "sold" } }),
			click({ hash: HASH, texts: { clickid: "order-78" } }),
			click({ publisher: "identity-quiet", hash: "d".repeat(32), texts: { clickid: "order-78" } }),
			click({ hash: "e".repeat(32), texts: { clickid: "same" } }),
			click({ hash: "f".repeat(32), texts: { clickid: "same" } }),
		),
	);
	await consume(
		postbackMessage("west", { cid: "a".repeat(32), txnid: "held-1", eventAt: AT }, AT),
		postbackMessage("west", { cid: "0".repeat(32), txnid: "lost-1", eventAt: AT, payoutMicros: 5_000_000 }, AT),
	);
});

describe("worker: claims and money", () => {
	it("a grant that another change overtakes books nothing, as it says", async () => {
		await env.DB.prepare("UPDATE conversions SET verdict = 'voided' WHERE txnid = 'held-1'").run();
		for (const [about, kind, by] of [
			["order-78", "missing", AMOUNT],
			["held-1", "wrong", { kind: "restore_conversion", platform: "west", txnid: "held-1" }],
			["order-78", "missing", { kind: "attach_conversion", platform: "west", txnid: "lost-1", click: "order-78" }],
		] as const) {
			const id = await idOf(about, { kind });
			// The publisher withdraws once the operator's request has read the claim.
			await env.DB.prepare(
				`CREATE TRIGGER withdraw_meanwhile BEFORE INSERT ON adjustments BEGIN
					UPDATE claims SET state = 'withdrawn', version = version + 1; END`,
			).run();
			const granted = await grant(id, by);
			await env.DB.prepare("DROP TRIGGER withdraw_meanwhile").run();
			expect([by.kind, granted.status, await rowsOf("SELECT id FROM adjustments")]).toEqual([by.kind, 412, []]);
			expect(await rowsOf("SELECT verdict, click_id FROM conversions ORDER BY txnid")).toEqual([
				{ verdict: "voided", click_id: expect.any(String) },
				{ verdict: null, click_id: null },
			]);
			expect(await rowsOf("SELECT verb FROM audit WHERE verb = 'grantClaim'")).toEqual([]);
			await endAll();
		}
	});

	it("is settled as it was read: where more was written since, nothing is", async () => {
		const id = await idOf("order-78");
		const deps = { db: openDatabase(env.DB), now: () => AT, actor: ACTOR };
		expect((await call(`/${id}/reply`, { text: "It came twice." })).status).toBe(200);
		for (const settle of [answerClaim, declineClaim])
			await expect(settle(deps, id, "Which?", { seen: 1 })).rejects.toMatchObject({
				status: 412,
				body: { message: expect.stringMatching(/^Something/) },
			});
		const finance = await signIn({ staff: "fin", role: "finance" });
		const form = { text: "Yes.", ...AMOUNT, seen: "1" };
		expect((await post(`/console/operator/claims/${id}/grant`, finance, form)).status).toBe(412);
		expect(await rowsOf("SELECT state, version FROM claims WHERE id = ?", id)).toEqual([{ state: "open", version: 2 }]);
		expect((await post(`/console/operator/claims/${id}/grant`, finance, { ...form, seen: "2" })).status).toBe(303);
		expect(await rowsOf("SELECT state FROM claims WHERE id = ?", id)).toEqual([{ state: "granted" }]);
	});

	it("an unmatched conversion goes to the claim's publisher, whoever else calls a click alike", async () => {
		// The platform has no campaign of the claimant's brand any more: the other's click would be the only one that fits.
		const id = await idOf("order-78");
		const theirs = { kind: "attach_conversion", platform: "west", txnid: "lost-1", click: "order-78" };
		await env.DB.prepare("UPDATE clicks SET platform = 'other', brand_id = 4711 WHERE click_hash = ?").bind(HASH).run();
		expect((await grant(id, theirs)).status).toBe(422);
		await env.DB.prepare("UPDATE clicks SET platform = 'west', brand_id = 1 WHERE click_hash = ?").bind(HASH).run();
		expect((await grant(id, theirs)).status).toBe(200);
		expect(await rowsOf("SELECT publisher_id FROM conversions WHERE txnid = 'lost-1'")).toEqual([{ publisher_id: "cpa" }]);
		await endAll();
	});

	it("of a sale that nobody can have made yet, or in another age, is refused; of today, wherever that is, it is not", async () => {
		for (const at of ["2026-11-20", "2026-11-19T15:00:01Z", "1999-12-31"]) {
			const response = await call("", { kind: "missing", id: "same", at, text: "It was bought." });
			expect([at, response.status, await response.json()]).toEqual([
				at,
				422,
				expect.objectContaining({ faults: [{ path: "at", message: "must not be before 2000, nor more than a day ahead" }] }),
			]);
		}
		expect((await claim("same", { at: "2026-11-19" })).outcome).toBe("opened");
		await endAll();
	});

	it("one sale has one claim under way, whichever of its names is claimed", async () => {
		const [click] = await rowsOf<{ id: string }>("SELECT id FROM clicks WHERE click_hash = ?", "e".repeat(32));
		await env.DB.prepare("DELETE FROM conversions WHERE txnid = 'lost-1'").run();
		// As libraries write what there is none of.
		const first = await claim("order-78", { brand: null, at: null, amount: null });
		expect(first.outcome).toBe("opened");
		for (const name of [HASH, HASH.toUpperCase(), "order-78"]) {
			expect([name, await claim(name)]).toEqual([
				name,
				expect.objectContaining({ outcome: "under_way", claim: expect.objectContaining({ id: first.claim.id }) }),
			]);
		}
		// An id that many clicks share says nothing of one of them.
		expect((await claim("same")).outcome).toBe("opened");
		expect((await claim("f".repeat(32))).outcome).toBe("opened");
		const opened = await claim("e".repeat(32));
		expect([opened.outcome, (await claim(click?.id ?? "")).claim.id]).toEqual(["opened", opened.claim.id]);
		await endAll();
	});

	it("a sale that is there has one claim under way, too: by its transaction, its click, or either spelled otherwise", async () => {
		const [click] = await rowsOf<{ id: string }>("SELECT id FROM clicks WHERE click_hash = ?", "a".repeat(32));
		const names = ["sold", "held-1", "a".repeat(32), click?.id ?? "", "so\u0001ld", "\u0002SOLD".toLowerCase()];
		for (const first of names) {
			const opened = await claim(first, { kind: "wrong" });
			expect([first, opened.outcome]).toEqual([first, "opened"]);
			for (const name of names) {
				const again = await claim(name, { kind: "wrong" });
				expect([first, name, again.outcome, again.claim.id]).toEqual([first, name, "under_way", opened.claim.id]);
			}
			await endAll();
		}
		const opened = await claim("order-78");
		expect([opened.outcome, (await claim("order\u0001-78")).claim.id]).toEqual(["opened", opened.claim.id]);
		await endAll();
	});

	it("another sale of the same click has its own, and so has one of a click whose id is spelled in capitals", async () => {
		const named = (clickid: string, digit: string) =>
			clickMessage({ at: AT, campaignId: 11, kind: "link", publisher: "identity-cpa", hash: digit.repeat(32), texts: { clickid } });
		await consumeClicks(
			capDeps(() => AT),
			letters(named("twice", "1"), named("TWICE", "2")),
		);
		const report = (txnid: string, digit: string) => postbackMessage("west", { cid: digit.repeat(32), txnid, eventAt: AT }, AT);
		await consume(report("twice-1", "1"), report("capitals-1", "2"));
		const wrong = async (id: string) => (await claim(id, { kind: "wrong" })).outcome;
		expect([await wrong("twice"), await wrong("twice-1"), await wrong("capitals-1")]).toEqual(["opened", "under_way", "opened"]);
		await consume(report("twice-2", "1"));
		expect(await wrong("twice-2")).toBe("opened");
		await endAll();
		// Of two sales nobody can tell which is meant.
		expect([await wrong("1".repeat(32)), await wrong("twice-1"), await wrong("twice-2")]).toEqual(["opened", "opened", "opened"]);
		await endAll();
		await env.DB.prepare("DELETE FROM conversions WHERE txnid GLOB 'twice-*' OR txnid = 'capitals-1'").run();
	});

	it("who settles one is shown all others that may be of its sale, those from before it was reported too", async () => {
		const finance = await signIn({ staff: "fin-2", role: "finance" });
		const seen = async (id: string) => (await get(`/console/operator/claims/${id}`, finance)).text();
		const insert = (id: string, kind: string, about: string) =>
			env.DB.prepare(
				`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
				VALUES (?, 'cpa', ?, ?, 'withdrawn', '[]', 1, 0, 0)`,
			)
				.bind(id, kind, about)
				.run();
		const [{ id: like } = { id: "" }] = await rowsOf<{ id: string }>("SELECT max(id) AS id FROM claims");
		const [missing, byClick, bySale] = [`${like}-1`, `${like}-2`, `${like}-3`];
		await insert(missing, "missing", "sold");
		await insert(byClick, "wrong", "sold");
		await insert(bySale, "wrong", "held-1");
		for (const id of [missing, byClick, bySale]) {
			const page = await seen(id);
			for (const other of [missing, byClick, bySale].filter((each) => each !== id))
				expect([id, page.includes(`/claims/${other}"`)]).toEqual([id, true]);
		}
	});

	it("are bounded: those of a day, and what is written while nobody answers", async () => {
		const id = await idOf("order-78");
		for (let n = 1; n < 5; n++) expect((await call(`/${id}/reply`, { text: `${n}` })).status).toBe(200);
		expect((await call(`/${id}/reply`, { text: "5" })).status).toBe(422);
		expect((await operate(`${id}/answer`, { text: "Which shop?" })).status).toBe(200);
		expect((await call(`/${id}/reply`, { text: "shoes.example" })).status).toBe(200);
		expect((await call(`/${id}/withdraw`)).status).toBe(200);
		const opened = (await rowsOf("SELECT id FROM claims")).length;
		await env.DB.prepare(
			`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
			SELECT ? || '-' || atom, 'cpa', 'missing', 'order-78', 'withdrawn', '[]', 1, 0, 0 FROM json_each(?)`,
		)
			.bind(id, JSON.stringify(Array.from({ length: 99 - opened }, (_, n) => n)))
			.run();
		expect((await call(`/${await idOf("order-78")}/withdraw`)).status).toBe(200);
		expect((await call("", { kind: "missing", id: "order-78", text: "One more." })).status).toBe(422);
		setNow("2026-11-19T15:00:01Z");
		expect((await claim("order-78")).outcome).toBe("opened");
	});

	it("a list is cut where much was written, and goes on behind it", async () => {
		const thread = JSON.stringify(
			Array.from({ length: 40 }, () => ({ at: "2026-11-18T15:00:00.000Z", by: "publisher", state: "open", text: "銀".repeat(1_000) })),
		);
		await env.DB.prepare(
			`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
			SELECT 'long-' || (10 + value), 'cpa', 'missing', 'long', 'withdrawn', ?, 1, 0, 0 FROM json_each(?)`,
		)
			.bind(thread, JSON.stringify(Array.from({ length: 20 }, (_, n) => n)))
			.run();
		const all = (await rowsOf<{ id: string }>("SELECT id FROM claims ORDER BY id DESC")).map(({ id }) => id);
		const listed: string[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const query = `limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
			const response = await exports.default.fetch(`http://localhost:8787/operator/claims?${query}`, {
				headers: { OperatorKey: env.OPERATOR_KEY },
			});
			const text = await response.text();
			expect(text.length).toBeLessThan(400_000);
			const { data, next_cursor } = JSON.parse(text) as { data: { id: string }[]; next_cursor: string | null };
			listed.push(...data.map(({ id }) => id));
			cursor = next_cursor;
		}
		expect(listed).toEqual(all);
	});

	it("are an owner's to make: an analyst looks", async () => {
		const analyst = await signIn({ publisher: "cpa", name: "Ann", role: "analyst" });
		const [open] = await rowsOf<{ id: string }>("SELECT id FROM claims WHERE state = 'open'");
		expect((await post("/console/claims", analyst, { kind: "missing", id: "order-78", text: "t" })).status).toBe(403);
		for (const verb of ["reply", "withdraw"])
			expect((await post(`/console/claims/${open?.id}/${verb}`, analyst, { text: "t" })).status).toBe(403);
	});
});
