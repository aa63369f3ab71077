/**
 * Erasing what names a user's click by the publisher's own id, in capitals, or while the database was away, or whose click is in the
 * archive or nowhere: nothing of it is left, nothing of others is lost, and what is replayed later settles as it would have.
 */

import { env, exports } from "cloudflare:workers";
import { createHash, createHmac } from "node:crypto";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ledgerAnswerSchema } from "../../src/ledger-check/ledger-answers.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { type Erased, erasedSchema } from "../../src/operator/erase/erase-answer.ts";
import { postVerb } from "../support/adjustments.ts";
import { rowsOf } from "../support/click-messages.ts";
import {
	clickRow,
	consume,
	importConversionNetwork,
	platformEntry,
	postbackMessage,
	storeClicks,
	WEST_KEY,
} from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { importUnpublished, OPERATOR_HEADERS } from "../support/network-import.ts";
import "../support/worker-env.ts";

const UID = "buyer-51cc";
const OWN = "own-id-77";
const SECRET = "a-secret-of-16-or-more";
const TABLES = [
	"clicks",
	"conversions",
	"conversion_events",
	"conversion_history",
	"postback_intake",
	"callbacks",
	"dead_letters",
	"claims",
];

beforeAll(async () => {
	await importConversionNetwork();
	await importUnpublished({ platforms: [platformEntry("west", { match_by_publisher_click_id: true, postback_secret: SECRET })] });
});
beforeEach(async () => {
	await forgetTraffic("day_digests", "claims");
	const { objects } = await env.ARCHIVE.list();
	await env.ARCHIVE.delete(objects.map(({ key }) => key));
});

async function post(path: string, body: object): Promise<unknown> {
	const init = { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify(body) };
	const response = await exports.default.fetch(`https://base.example/operator/${path}`, init);
	expect([response.status, response.ok ? "" : await response.text()]).toEqual([200, ""]);
	return response.json();
}

const erase = async (body: object): Promise<Erased> => v.parse(erasedSchema, await post("erase", body));

/** Everything that is stored, as one text. */
async function stored(): Promise<string> {
	const answers = await env.DB.batch(TABLES.map((table) => env.DB.prepare(`SELECT * FROM ${table}`)));
	const tables = answers.map(({ results }) => results);
	const { objects } = await env.ARCHIVE.list();
	return JSON.stringify([tables, await Promise.all(objects.map(async ({ key }) => (await env.ARCHIVE.get(key))?.text()))]);
}

async function expectErased(): Promise<void> {
	const left = await stored();
	for (const trace of [OWN, "secret-page", "s2-mark"]) expect(left, trace).not.toContain(trace);
	expect(v.parse(ledgerAnswerSchema, await post("check-ledger", {})).differences).toEqual([]);
}

/** A postback with all that may be personal. */
function personal(txnid: string, cid: string) {
	const message = postbackMessage("west", { txnid, cid, status: "approved", s2: "s2-mark", surl: "https://shop.example/secret-page" });
	message.intake.query = `txnid=${txnid}&cid=${cid}&payout=10&edate=2026-11-10T12:00:00Z&status=approved&s2=s2-mark&surl=secret-page`;
	return message;
}

function refused(txnid: string, cid: string) {
	const { intake, ...message } = personal(txnid, cid);
	return { ...message, intake: { ...intake, outcome: "rejected", answer: '{"errors":{"payout":["x"]}}' }, postback: null };
}

/** A signed postback that came while no key could be looked up. */
function unclaimed(txnid: string, cid: string) {
	const { intake, postback } = personal(txnid, cid);
	const sent = intake.query;
	const signature = createHmac("sha256", SECRET).update(sent).digest("hex");
	const keyHash = createHash("sha256").update(WEST_KEY).digest("hex");
	return { format: 1, kind: "unclaimed", keyHash, sent, signature, address: null, intake: { ...intake, platform: null }, postback };
}

async function keepDead(body: object): Promise<void> {
	await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d', 'postbacks', ?, 1)")
		.bind(JSON.stringify(body))
		.run();
}

const readDead = async () => JSON.parse(String((await rowsOf("SELECT body FROM dead_letters"))[0]?.body)) as object;
const conversions = () => rowsOf("SELECT txnid, stage, click_id, revenue_micros FROM conversions ORDER BY txnid");
const click = () => clickRow({ uid: UID, publisher_click_id: OWN });

describe("worker: erasing what names the publisher's own click id", () => {
	it("of a conversion that is attached to no click; its money, and that it is nobody's, stay", async () => {
		await storeClicks(click(), click());
		await consume(personal("t", OWN));
		const before = await conversions();
		expect(before).toEqual([{ txnid: "t", stage: "waiting", click_id: null, revenue_micros: null }]);
		expect((await erase({ uid: UID })).counts).toMatchObject({ clicks: 2, conversions: 1, conversion_events: 1, postbacks: 1 });
		await expectErased();
		await consume({ format: 1, kind: "look_again", platform: "west", txnid: "t" });
		expect(await conversions()).toEqual(before);
	});

	it("of a sale that an operator attaches to an erased click, once that is erased again", async () => {
		const mine = click();
		await storeClicks(mine);
		await erase({ click: mine.click_hash });
		await consume(personal("t", OWN));
		await post("conversions/west/t/attach", { click: mine.id, text: "order mail" });
		expect((await erase({ click: mine.click_hash })).counts).toMatchObject({ clicks: 0, conversions: 1, postbacks: 1 });
		await expectErased();
		expect(await conversions()).toEqual([{ txnid: "t", stage: "settled", click_id: mine.id, revenue_micros: 8_000_000 }]);
	});

	it("of a sale that an operator attached: once that is undone, it is nobody's again, or whose its platform has named", async () => {
		const [mine, others] = [click(), clickRow({ uid: "somebody" })];
		await storeClicks(mine);
		const sales = [personal("mangled", `${OWN}-and-more`), personal("others", String(others.click_hash))];
		await consume(...sales);
		const attach = async (txnid: string) => {
			return (await post(`conversions/west/${txnid}/attach`, { click: mine.click_hash, text: "order mail" })) as { id: string };
		};
		const attached = [await attach("mangled"), await attach("others")];
		await storeClicks(others);
		await erase({ uid: UID });
		await expectErased();
		await consume(personal("mangled", `${OWN}-and-more`), personal("others", String(others.click_hash)));
		await expectErased();
		expect((await erase({ click: mine.click_hash })).counts).toMatchObject({ conversions: 0, conversion_events: 0, postbacks: 0 });
		for (const { id } of attached) await post("adjustments", { kind: "undo", adjustment: id, text: "another user's" });
		for (const txnid of ["mangled", "others"]) await consume({ format: 1, kind: "look_again", platform: "west", txnid });
		await expectErased();
		expect(await conversions()).toEqual([
			{ txnid: "mangled", stage: "waiting", click_id: null, revenue_micros: null },
			{ txnid: "others", stage: "settled", click_id: others.id, revenue_micros: 8_000_000 },
		]);
	});

	it("of a sale that an operator attached and took away again before: what it told of the click", async () => {
		await storeClicks(click());
		const sale = { txnid: "t-1", cid: "mangled", s2: "of-others" };
		await consume(postbackMessage("west", sale));
		const { id } = (await post("conversions/west/t-1/attach", { click: OWN, text: "order mail" })) as { id: string };
		await post("adjustments", { kind: "undo", adjustment: id, text: "another user's" });
		expect(await rowsOf("SELECT count(*) AS n FROM callbacks WHERE cid = 'own-id-77'")).toEqual([{ n: 2 }]);
		const before = await rowsOf("SELECT * FROM conversions");
		const dry = v.parse(erasedSchema, await post("erase?dry_run=1", { uid: UID }));
		const { counts } = await erase({ uid: UID });
		expect([dry.counts, counts]).toEqual([counts, expect.objectContaining({ conversions: 0, conversion_events: 1, callbacks: 2 })]);
		await expectErased();
		// The sale itself is not the user's.
		expect(await rowsOf("SELECT * FROM conversions")).toEqual(before);
	});

	it("of such a sale, what was answered to callbacks that told sub ids alone, and nothing of those of its next click", async () => {
		const clickOf = (uid: string) => clickRow({ uid, publisher_id: "quiet", publisher_click_id: null, subid1: `sub-${uid}` });
		const [mine, others] = [clickOf(UID), clickOf("somebody")];
		await storeClicks(mine, others);
		await consume(postbackMessage("west", { txnid: "t-1", cid: "mangled" }));
		const attach = async (hash: unknown) => ((await post("conversions/west/t-1/attach", { click: hash, text: "x" })) as { id: string }).id;
		await post("adjustments", { kind: "undo", adjustment: await attach(mine.click_hash), text: "another user's" });
		// A later moment than that of the undoing.
		await new Promise((resolve) => setTimeout(resolve, 5));
		await attach(others.click_hash);
		await env.DB.prepare(
			"INSERT INTO callback_attempts (id, callback_id, started_at, http_status, latency_ms, answer) SELECT 'a-' || seq, id, 0, 200, 1, 'answer ' || seq FROM callbacks",
		).run();
		const told = await rowsOf<{ id: string }>("SELECT id FROM callbacks ORDER BY seq");
		const lines = told.map(({ id }) => `${JSON.stringify({ id: "1", callback_id: id, answer: "thanks" })}\n`);
		await env.ARCHIVE.put("callback_attempts/2026-01-01/a.ndjson", lines.join(""));
		expect((await erase({ uid: UID })).counts).toMatchObject({ conversions: 0, callbacks: 2, archived: 2 });
		expect(await rowsOf("SELECT id, answer FROM callback_attempts ORDER BY id")).toEqual([
			{ id: "a-1", answer: "" },
			{ id: "a-2", answer: "" },
			{ id: "a-3", answer: "answer 3" },
		]);
		const archived = (await (await env.ARCHIVE.get("callback_attempts/2026-01-01/a.ndjson"))?.text())?.trim().split("\n") ?? [];
		expect(archived.map((line) => (JSON.parse(line) as { answer: string }).answer)).toEqual(["", "", "thanks"]);
		expect((await erase({ click: mine.click_hash })).counts).toMatchObject({ callbacks: 0 });
	});

	it("but nothing of sales of nobody, where the click was called by a word for none", async () => {
		await storeClicks(clickRow({ publisher_click_id: "none", uid: UID }));
		await consume(postbackMessage("west", { txnid: "t-1", cid: "none", s2: "of-others" }));
		await erase({ uid: UID });
		expect(await rowsOf("SELECT cid, s2 FROM conversions")).toEqual([{ cid: "none", s2: "of-others" }]);
	});

	it("of a refused postback", async () => {
		const mine = click();
		await storeClicks(mine);
		await consume(refused("t", OWN));
		expect((await erase({ uid: UID })).counts).toMatchObject({ postbacks: 1 });
		await expectErased();
		expect(await rowsOf("SELECT cid FROM postback_intake")).toEqual([{ cid: mine.click_hash }]);
	});

	it("of a dead letter, which then settles for the click that it named", async () => {
		const mine = click();
		await storeClicks(mine);
		await keepDead(personal("t", OWN));
		expect((await erase({ uid: UID })).counts).toMatchObject({ dead_letters: 1 });
		await expectErased();
		await consume(await readDead());
		expect(await conversions()).toEqual([{ txnid: "t", stage: "settled", click_id: mine.id, revenue_micros: 8_000_000 }]);
		await expectErased();
	});

	it("of a dead letter that names two clicks' id, which then settles for neither", async () => {
		await storeClicks(click(), click());
		await keepDead(personal("t", OWN));
		await erase({ uid: UID });
		await expectErased();
		await consume(await readDead());
		expect(await conversions()).toMatchObject([{ stage: "waiting", click_id: null }]);
	});

	it.each([
		["a conversion", (told: object) => consume(told)],
		["a dead letter", keepDead],
	])("of %s that was told of before the click was made: it stays nobody's, and the click of it is not named", async (_, keep) => {
		const told = personal("t", OWN);
		const mine = clickRow({ uid: UID, publisher_click_id: OWN, clicked_at: told.intake.receivedAt + 3_600_000 });
		await storeClicks(mine);
		await keep(told);
		await erase({ uid: UID });
		await expectErased();
		const dead = await rowsOf("SELECT body FROM dead_letters");
		await consume(dead.length > 0 ? await readDead() : { format: 1, kind: "look_again", platform: "west", txnid: "t" });
		expect(await conversions()).toEqual([{ txnid: "t", stage: "waiting", click_id: null, revenue_micros: null }]);
		expect(JSON.stringify(await rowsOf("SELECT cid FROM conversions UNION SELECT cid FROM postback_intake"))).not.toContain(
			mine.click_hash,
		);
	});

	it.each([
		["conversions", (told: object) => consume(told)],
		["a dead letter", keepDead],
		[
			"a refused postback, replayed",
			async (told: ReturnType<typeof personal>) => {
				const { intake, ...message } = told;
				await consume({ ...message, intake: { ...intake, outcome: "rejected", answer: '{"errors":{"payout":["x"]}}' }, postback: null });
			},
		],
	])(
		"of %s by a word that the platform had told of before the click: to have it erased does not make its sales the click's",
		async (what, keep) => {
			const first = personal("first", OWN);
			await consume(first);
			const HOUR = 3_600_000;
			const mine = clickRow({ uid: UID, publisher_click_id: OWN, clicked_at: first.intake.receivedAt + HOUR });
			await storeClicks(mine);
			const later = personal("later", OWN);
			later.intake.receivedAt += 2 * HOUR;
			later.intake.id = `${later.intake.id.slice(0, -1)}f`;
			await keep(later);
			await erase({ uid: UID });
			await expectErased();
			if (what === "a dead letter") await consume(await readDead());
			if (what === "a refused postback, replayed") {
				const [{ cid } = { cid: "" }] = await rowsOf<{ cid: string }>("SELECT cid FROM postback_intake WHERE txnid = 'later'");
				await consume(personal("later", cid));
			}
			for (const txnid of ["first", "later"]) await consume({ format: 1, kind: "look_again", platform: "west", txnid });
			expect(await conversions()).toMatchObject([
				{ txnid: "first", stage: "waiting", click_id: null },
				{ txnid: "later", stage: "waiting", click_id: null },
			]);
		},
	);

	it("but not where it is another click's hash: a sale that names that is not of whoever calls a click so", async () => {
		const theirs = clickRow({ platform: "east" });
		const hash = String(theirs.click_hash);
		await storeClicks(theirs, clickRow({ uid: UID, publisher_click_id: hash }));
		await consume(personal("t", hash));
		expect(await conversions()).toMatchObject([{ stage: "waiting", click_id: null }]);
		await erase({ uid: UID });
		await consume({ format: 1, kind: "look_again", platform: "west", txnid: "t" });
		expect(await conversions()).toMatchObject([{ stage: "waiting", click_id: null }]);
	});

	it("of rows of the archive", async () => {
		await storeClicks(click());
		const row = { platform: "west", txnid: "t", cid: OWN, query: `cid=${OWN}&s2=s2-mark` };
		await env.ARCHIVE.put("postback_intake/2025-01-01/a.ndjson", `${JSON.stringify(row)}\n`);
		expect((await erase({ uid: UID })).counts).toMatchObject({ archived: 1 });
		await expectErased();
	});

	it("leaves what has the click of somebody else with the same id", async () => {
		const theirs = clickRow({ uid: "somebody", publisher_click_id: OWN });
		await storeClicks(theirs);
		await consume(personal("theirs", OWN));
		await consume(refused("theirs", OWN));
		await storeClicks(click());
		const row = { platform: "west", txnid: "theirs", cid: OWN, query: `cid=${OWN}&s2=s2-mark` };
		await env.ARCHIVE.put("postback_intake/2025-01-01/a.ndjson", `${JSON.stringify(row)}\n`);
		await keepDead(personal("theirs", OWN));
		const counts = { clicks: 1, conversions: 0, postbacks: 0, callbacks: 0, dead_letters: 0, archived: 0 };
		expect((await erase({ uid: UID })).counts).toMatchObject(counts);
		expect(await rowsOf("SELECT cid, s2, publisher_click_id, click_id FROM conversions")).toEqual([
			{ cid: OWN, s2: "s2-mark", publisher_click_id: OWN, click_id: theirs.id },
		]);
	});
});

describe("worker: a click that alone has the publisher's own id once another is erased", () => {
	const saleOf = async (txnid: string) => {
		await consume(personal(txnid, OWN));
		return (await rowsOf(`SELECT click_id, publisher_id, revenue_micros FROM conversions WHERE txnid = '${txnid}'`))[0];
	};
	const NOBODYS = { click_id: null, publisher_id: null, revenue_micros: null };

	it.each([
		["paid as the other was", {}, {}],
		["unpaid, as the other was", { reason: "repeat" }, { reason: "bot" }],
		["unpaid, where the sales were the other's", {}, { reason: "repeat" }],
		["another publisher's", {}, { publisher_id: "quiet" }],
		["another publisher's, of another platform", { platform: "east" }, { publisher_id: "quiet" }],
		["of no platform", {}, { platform: null }],
	])("earns no sale by it: %s", async (_, mine, theirs) => {
		const left = clickRow({ uid: "somebody", publisher_click_id: OWN, ...theirs });
		await storeClicks(clickRow({ uid: UID, publisher_click_id: OWN, ...mine }), left);
		expect((await saleOf("before"))?.click_id).not.toBe(left.id);
		await erase({ uid: UID });
		expect(await saleOf("after")).toEqual(NOBODYS);
		expect(v.parse(ledgerAnswerSchema, await post("check-ledger", {})).differences).toEqual([]);
		await storeClicks(clickRow({ publisher_click_id: OWN, publisher_id: left.publisher_id ?? "cpa" }));
		expect(await saleOf("later")).toEqual(NOBODYS);
	});

	it.each([
		["its sales were found before", { reason: "repeat" }, {}],
		["only another platform told of the other", { platform: "east" }, {}],
	])("earns it, where %s", async (_, mine, theirs) => {
		const left = clickRow({ uid: "somebody", publisher_click_id: OWN, ...theirs });
		await storeClicks(clickRow({ uid: UID, publisher_click_id: OWN, ...mine }), left);
		expect(await saleOf("before")).toMatchObject({ click_id: left.id });
		await erase({ uid: UID });
		expect(await saleOf("after")).toMatchObject({ click_id: left.id, revenue_micros: 8_000_000 });
	});

	it("earns no sale by it, of however many the id was", async () => {
		const left = { ...clickRow({ uid: "somebody", publisher_click_id: OWN }), id: "ffffffff-ffff-7fff-8fff-ffffffffffff" };
		await storeClicks(...Array.from({ length: 80 }, () => clickRow({ uid: UID, publisher_click_id: OWN })), left);
		await erase({ uid: UID });
		expect(await saleOf("after")).toEqual(NOBODYS);
	});

	it("is attached by its hash, not by that id", async () => {
		const left = clickRow({ uid: "somebody", publisher_click_id: OWN });
		await storeClicks(click(), left);
		await erase({ uid: UID });
		await saleOf("t-1");
		const attach = (name: unknown) => postVerb("west", "t-1", "attach", { click: name });
		expect((await attach(OWN)).status).toBe(422);
		expect((await attach(left.click_hash)).status).toBe(200);
	});

	it("is then erased as any other", async () => {
		await storeClicks(click(), clickRow({ uid: "somebody", publisher_click_id: OWN }));
		await erase({ uid: UID });
		expect(await rowsOf("SELECT uid, written_by FROM clicks ORDER BY uid IS NULL")).toEqual([
			{ uid: "somebody", written_by: "shared_id" },
			{ uid: null, written_by: "erased" },
		]);
		await erase({ uid: "somebody" });
		expect(await rowsOf("SELECT DISTINCT uid, publisher_click_id, written_by FROM clicks")).toEqual([
			{ uid: null, publisher_click_id: null, written_by: "erased" },
		]);
	});
});

describe("worker: erasing postbacks that came while the database was away", () => {
	it.each(["click hash", "publisher's own id"])("with what was signed; they settle as ever by the %s", async (by) => {
		const mine = click();
		await storeClicks(mine);
		await keepDead(unclaimed("t", by === "click hash" ? String(mine.click_hash) : OWN));
		expect((await erase({ uid: UID })).counts).toMatchObject({ dead_letters: 1 });
		await expectErased();
		await consume(await readDead());
		expect(await conversions()).toEqual([{ txnid: "t", stage: "settled", click_id: mine.id, revenue_micros: 8_000_000 }]);
	});

	it("leaves to a later import whose an unsigned one is", async () => {
		const mine = click();
		await storeClicks(mine);
		await keepDead({ ...unclaimed("t", String(mine.click_hash)), keyHash: "ab", sent: "", signature: null });
		await erase({ uid: UID });
		await expectErased();
		expect(await readDead()).toMatchObject({ kind: "unclaimed", postback: { cid: mine.click_hash, payoutMicros: 10_000_000 } });
	});
});

describe("worker: erasing what came of clicks without a row", () => {
	it("by the click's hash", async () => {
		const hash = "d".repeat(32);
		await consume(personal("t", hash), refused("t-2", hash.toUpperCase()));
		const receipt = await erase({ click: hash.toUpperCase() });
		expect(receipt.counts).toMatchObject({ clicks: 0, conversions: 1, conversion_events: 1, postbacks: 2 });
		// Over what was asked for, letter by letter: whoever asked can verify it.
		expect(receipt.hash).toBe(await sha256Hex(`${receipt.id}\n${hash.toUpperCase()}`));
		await expectErased();
	});

	it("by the uid that the archive alone has", async () => {
		const archived = { ...click(), click_hash: "e".repeat(32) };
		await env.ARCHIVE.put("clicks/2025-01-01/a.ndjson", `${JSON.stringify(archived)}\n`);
		const row = { platform: "west", txnid: "t-0", cid: archived.click_hash, query: "s2=s2-mark" };
		await env.ARCHIVE.put("postback_intake/2025-01-01/a.ndjson", `${JSON.stringify(row)}\n`);
		await consume(personal("t", archived.click_hash), personal("t-2", OWN));
		await keepDead(personal("t-3", archived.click_hash));
		expect((await erase({ uid: UID })).counts).toMatchObject({ clicks: 0, conversions: 2, postbacks: 2, dead_letters: 1, archived: 2 });
		await expectErased();
	});

	it("a part of the archive a request: what came of the clicks of each part", async () => {
		const hash = "e".repeat(32);
		await env.ARCHIVE.put("clicks/2025-01-01/a.ndjson", `${JSON.stringify({ ...click(), click_hash: hash })}\n`);
		for (let at = 100; at < 300; at++) await env.ARCHIVE.put(`clicks/2025-01-02/${at}.ndjson`, "{}\n");
		await consume(personal("t", hash));
		await keepDead(personal("t-2", hash));
		const first = await erase({ uid: UID });
		expect(first).toMatchObject({ complete: false, counts: { conversions: 1, dead_letters: 1, archived: 1 } });
		expect(await erase({ uid: UID, cursor: first.next_cursor })).toMatchObject({ complete: true });
		await expectErased();
	});
});

/** A postback that was refused for what it lacks, as it came. */
function misnamed(fields: Record<string, string>, lacks: string) {
	const { intake, ...message } = postbackMessage("west", { txnid: fields.txnid ?? "", cid: fields.cid ?? "" });
	const answer = JSON.stringify({ errors: { [lacks]: [`The ${lacks} field is required.`] } });
	const named = { query: new URLSearchParams(fields).toString(), txnid: fields.txnid ?? null, cid: fields.cid ?? null };
	return { ...message, intake: { ...intake, ...named, outcome: "rejected", answer }, postback: null };
}

const replay = (mapping: object) => post("problems/postbacks/replay", { platform: "west", mapping });
const RIGHT = { payout: "10", edate: "2026-11-10T12:00:00Z", s2: "s2-mark", surl: "https://shop.example/secret-page" };

describe("worker: erasing what names a click in another way", () => {
	it("a refused postback with the hash in capitals", async () => {
		const mine = click();
		await storeClicks(mine);
		await consume(refused("t", String(mine.click_hash).toUpperCase()));
		expect((await erase({ uid: UID })).counts).toMatchObject({ postbacks: 1 });
		await expectErased();
	});

	it.each<[string, Record<string, string>, string, object]>([
		["transaction", { order_id: "T-9" }, "txnid", { txnid: "order_id" }],
		["date", { txnid: "T-9", "Event-Date": RIGHT.edate, edate: "" }, "edate", { edate: "Event-Date" }],
		["payout", { txnid: "T-9", Commission: "10", payout: "" }, "payout", { payout: "Commission" }],
	])("a refused postback whose %s came under another name: a replay by it settles as ever", async (_, fields, lacks, mapping) => {
		await importUnpublished({ platforms: [platformEntry("west", { match_by_publisher_click_id: true })] });
		const mine = click();
		await storeClicks(mine);
		await consume(misnamed({ ...RIGHT, cid: String(mine.click_hash), ...fields, transaction: OWN, sum: String(mine.click_hash) }, lacks));
		expect((await erase({ uid: UID })).counts).toMatchObject({ postbacks: 1 });
		await expectErased();
		const [{ query } = { query: "" }] = await rowsOf("SELECT query FROM postback_intake");
		expect([...new URLSearchParams(String(query)).keys()]).not.toContain("sum");
		await replay(mapping);
		expect(await conversions()).toEqual([{ txnid: "T-9", stage: "settled", click_id: mine.id, revenue_micros: 8_000_000 }]);
		await expectErased();
		await importUnpublished({ platforms: [platformEntry("west", { match_by_publisher_click_id: true, postback_secret: SECRET })] });
	});

	const NAMED: [string, Record<string, string> | ((hash: string) => Record<string, string>)][] = [
		["our hash under another name", (hash) => ({ sid: hash })],
		["our hash in capitals", (hash) => ({ SubId: hash.toUpperCase() })],
		["the publisher's own id under another name", { epi: OWN }],
	];
	it.each(NAMED)("a refused postback that has %s: a replay by it settles for the click, and brings nothing back", async (_, fields) => {
		await importUnpublished({ platforms: [platformEntry("west", { match_by_publisher_click_id: true })] });
		const mine = click();
		await storeClicks(mine);
		const named = typeof fields === "function" ? fields(String(mine.click_hash)) : fields;
		await consume(misnamed({ txnid: "T-1", ...RIGHT, ...named }, "cid"));
		const counts = { clicks: 1, postbacks: 1 };
		expect((await erase({ uid: UID })).counts).toMatchObject(counts);
		await expectErased();
		const [{ query } = { query: "" }] = await rowsOf("SELECT query FROM postback_intake");
		const [name = ""] = Object.keys(named);
		expect(Object.fromEntries(new URLSearchParams(String(query)))).toEqual({
			...{ txnid: "T-1", payout: RIGHT.payout, edate: RIGHT.edate },
			[name]: mine.click_hash,
		});
		await replay({ cid: name });
		expect(await conversions()).toEqual([{ txnid: "T-1", stage: "settled", click_id: mine.id, revenue_micros: 8_000_000 }]);
		await expectErased();
		await importUnpublished({ platforms: [platformEntry("west", { match_by_publisher_click_id: true, postback_secret: SECRET })] });
	});

	it("a refused postback with an id within another value, or escaped, of no platform, too; by the click alone, and not twice", async () => {
		const hash = "d".repeat(32);
		const within = (txnid: string, query: string, platform: string | null = "west") => {
			const { intake, ...message } = misnamed({ txnid }, "cid");
			return { ...message, intake: { ...intake, platform, query: `txnid=${txnid}&s2=s2-mark&${query}` } };
		};
		const escaped = [...hash].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
		const queries = [`x=${escaped}`, `x=${encodeURIComponent(escaped)}`, `page=https://a.example/?c=${hash}`, `tid=${hash}`];
		await consume(...queries.map((query, at) => within(`t-${at}`, query)), within("t-n", `x=${hash}`, null));
		await consume(within("t-other", `x=${"e".repeat(32)}`));
		expect((await erase({ click: hash })).counts).toMatchObject({ postbacks: 5 });
		const left = await rowsOf("SELECT txnid FROM postback_intake WHERE query LIKE '%s2-mark%'");
		expect(left).toEqual([{ txnid: "t-other" }]);
		expect((await erase({ click: hash })).counts).toMatchObject({ postbacks: 0 });
	});

	it("nothing of a refused postback that has the own id of somebody's attached click, or as an amount", async () => {
		const mine = clickRow({ uid: UID, publisher_click_id: "10" });
		const theirs = clickRow({ uid: "somebody", publisher_click_id: "10" });
		await storeClicks(theirs);
		await consume(personal("t-theirs", String(theirs.click_hash)));
		await storeClicks(mine);
		await consume(misnamed({ txnid: "t-amount", payout: "10", sum: "10", s2: "s2-mark" }, "cid"));
		expect((await erase({ uid: UID })).counts).toMatchObject({ clicks: 1, postbacks: 0 });
		expect(await rowsOf("SELECT query FROM postback_intake WHERE outcome <> 'accepted'")).toEqual([
			{ query: "txnid=t-amount&payout=10&sum=10&s2=s2-mark" },
		]);
	});

	it("refused postbacks that wait as dead letters, or are in the archive", async () => {
		const mine = click();
		await storeClicks(mine);
		const waiting = misnamed({ txnid: "T-1", ...RIGHT, sid: String(mine.click_hash) }, "cid");
		await keepDead(waiting);
		const row = { ...waiting.intake, query: `${waiting.intake.query}&epi=${OWN}` };
		await env.ARCHIVE.put("postback_intake/2025-01-01/a.ndjson", `${JSON.stringify(row)}\n`);
		expect((await erase({ uid: UID })).counts).toMatchObject({ dead_letters: 1, archived: 1 });
		await expectErased();
	});

	it("a bounded part of refused postbacks a request, and each counts once", async () => {
		const mine = click();
		await storeClicks(mine);
		const id = String(mine.id).slice(0, 13);
		const insert = (platform: string, from: number) =>
			env.DB.prepare(
				`INSERT INTO postback_intake (id, received_at, platform, method, query, txnid, cid, outcome, answer)
				WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + 6_999})
				SELECT '${id}-' || i, ${Date.now()}, ${platform}, 'GET', 'payout=1&s2=s2-mark&sid=' || CASE WHEN i % 1000 = 0 THEN '${mine.click_hash}' ELSE 'x' END,
					NULL, NULL, 'rejected', '{}' FROM n`,
			).run();
		await insert("'west'", 10_000);
		await insert("NULL", 20_000);
		const receipts: Erased[] = [];
		for (let cursor: string | null = null; receipts.at(-1)?.complete !== true; cursor = receipts.at(-1)?.next_cursor ?? null)
			receipts.push(await erase({ uid: UID, ...(cursor !== null && { cursor }) }));
		expect(receipts.map(({ counts }) => [counts.postbacks, counts.clicks])).toEqual([
			[10, 0],
			[4, 1],
		]);
		expect(await rowsOf(`SELECT count(*) AS n FROM postback_intake WHERE query = 'payout=1&sid=${mine.click_hash}'`)).toEqual([{ n: 14 }]);
		expect(await rowsOf("SELECT count(*) AS n FROM audit WHERE verb = 'eraseUser' AND counts LIKE '%\"postbacks\":10%'")).toEqual([
			{ n: 1 },
		]);
	});

	it("answers to callbacks in the archive", async () => {
		const mine = click();
		await storeClicks(mine);
		await consume(personal("t", String(mine.click_hash)));
		const [callback] = await rowsOf("SELECT id FROM callbacks");
		const rows = [
			{ id: "1", callback_id: callback?.id, answer: `thanks for ${OWN}` },
			{ id: "2", callback_id: "another", answer: "thanks" },
		];
		await env.ARCHIVE.put("callback_attempts/2026-01-01/a.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
		expect((await erase({ uid: UID })).counts).toMatchObject({ archived: 1 });
		await expectErased();
		expect(await stored()).toContain("thanks");
	});
});
