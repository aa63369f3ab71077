/** Postbacks that need a person: each cause is told, with what mends it, and what can be mended is replayed. */

import { env, exports } from "cloudflare:workers";
import { createHash, createHmac } from "node:crypto";
import * as v from "valibot";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/db/client.ts";
import { insertRows } from "../../../src/db/json-rows.ts";
import { postbackIntake } from "../../../src/db/schema/conversions.ts";
import { newTimeOrderedId } from "../../../src/lib/ids.ts";
import { MAX_VALID } from "../../../src/operator/keys/require-room.ts";
import {
	type Problem,
	postbackUrlSchema,
	problemsSchema,
	replayedPostbacksSchema,
} from "../../../src/operator/postback-problems/problems-answers.ts";
import { unknownStatusQuery } from "../../../src/operator/postback-problems/read-problems.ts";
import {
	callPostback,
	clickRow,
	consume,
	importConversionNetwork,
	platformEntry,
	postbackMessage,
	readAll,
	storeClicks,
	WEST_KEY,
} from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { importFile, OPERATOR_HEADERS } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";

const ORIGIN = "http://origin.example/operator";
const DAY_MS = 86_400_000;
const get = (path: string) => exports.default.fetch(`${ORIGIN}${path}`, { headers: OPERATOR_HEADERS });
const post = (path: string, body: unknown) =>
	exports.default.fetch(`${ORIGIN}${path}`, { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify(body) });

async function problems(query = ""): Promise<Problem[]> {
	const response = await get(`/problems/postbacks${query}`);
	expect(response.status).toBe(200);
	const { data, complete } = v.parse(problemsSchema, await response.json());
	expect(complete).toBe(true);
	return data;
}

const find = async (cause: string, field: string | null = null) =>
	(await problems()).find((problem) => problem.cause === cause && problem.field === field);

async function replay(body: object, query = "") {
	const response = await post(`/problems/postbacks/replay${query}`, body);
	if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
	return v.parse(replayedPostbacksSchema, await response.json());
}

/** To the end, whatever the cursor. */
async function replayAll(body: object) {
	const first = await replay(body);
	for (let { next_cursor } = first; next_cursor !== null; ) ({ next_cursor } = await replay({ ...body, cursor: next_cursor }));
	return first;
}

/** A postback that is refused, and stands in the ledger. */
async function refuse(query: string, key = WEST_KEY): Promise<void> {
	const before = await readAll("SELECT count(*) AS n FROM postback_intake WHERE outcome <> 'accepted'");
	expect((await callPostback(key, query)).body.error_code).toBe(1);
	await vi.waitFor(
		async () => expect(await readAll("SELECT count(*) AS n FROM postback_intake WHERE outcome <> 'accepted'")).not.toEqual(before),
		{ timeout: 20_000 },
	);
}

/** Refused ones of west, as they stand in the ledger. */
async function insertIntake(rows: readonly { query: string; answer: string; platform?: string }[]): Promise<void> {
	const at = Date.now();
	const intakes = rows.map(({ platform = "west", ...row }) => ({
		...{ id: newTimeOrderedId(at), receivedAt: at, platform, method: "GET", txnid: null, cid: null, outcome: "rejected" as const },
		...row,
	}));
	await openDatabase(env.DB).run(insertRows(postbackIntake, intakes));
}

const GOOD = "cid=0123456789abcdef0123456789abcdef&edate=2026-11-10&payout=10";
const stateOf = async (txnid: string) =>
	(await readAll("SELECT stage, cid, event_at, payout_micros FROM conversions WHERE txnid = ?", txnid))[0];

/** Of what is not known to be the platform's, less is kept. */
const MAX_KEPT: Record<string, number> = { too_large: 1_000 };

beforeAll(importConversionNetwork);

describe("worker: causes of what was refused", () => {
	it.each<[string, string, string, string | null, string | null]>([
		["an unfilled macro", `txnid=p-1&cid={aff_sub}&edate=2026-11-10&payout=1`, "placeholder", "cid", "{aff_sub}"],
		["an unfilled macro of Awin's form", `txnid=!!!transactionId!!!&${GOOD}`, "placeholder", "txnid", "!!!transactionId!!!"],
		["an unfilled macro without its signs", `txnid=TRANSACTION_ID&${GOOD}`, "placeholder", "txnid", "TRANSACTION_ID"],
		["a field under another name", `order_id=p-2&${GOOD}`, "misnamed", "txnid", "order_id"],
		["a field under another name that nobody filled in", `order_id=ORDER_ID&${GOOD}`, "missing", "txnid", null],
		["a field that is not there", "txnid=p-3&cid=a&payout=1", "missing", "edate", null],
		["a transaction id that is too long", `txnid=${"t".repeat(300)}&${GOOD}`, "transaction_id_form", "txnid", "t".repeat(100)],
		[
			"a click id that is too long",
			`txnid=p-4&cid=${"c".repeat(1_100)}&edate=2026-11-10&payout=1`,
			"click_id_form",
			"cid",
			"c".repeat(100),
		],
		["a date of another form", "txnid=p-5&cid=a&edate=10.11.2026&payout=1", "date_form", "edate", "10.11.2026"],
		["a date to come", "txnid=p-6&cid=a&edate=2040-01-01&payout=1", "date_out_of_range", "edate", "2040-01-01"],
		["an amount with a comma", "txnid=p-7&cid=a&edate=2026-11-10&payout=1,50", "amount_form", "payout", "1,50"],
		[
			"an amount past all that is taken",
			"txnid=p-9&cid=a&edate=2026-11-10&payout=99999999999",
			"amount_out_of_range",
			"payout",
			"99999999999",
		],
		["too much", `txnid=p-8&${GOOD}&x=${"x".repeat(17_000)}`, "too_large", null, null],
	])("%s", async (_, query, cause, field, sent) => {
		await refuse(query);
		const found = (await problems("?platform=west")).filter((problem) => problem.cause === cause && problem.field === field);
		expect(found.find((problem) => problem.sent === sent)).toMatchObject({
			platform: "west",
			count: 1,
			examples: [{ query: query.slice(0, MAX_KEPT[cause] ?? 2_000) }],
		});
	});

	it("of a postback with several fields under other names each names all of them: one alone would be refused again", async () => {
		await refuse("orderid=p-10&clickref=a&date=2026-11-10&commission=1");
		const others = ["orderid", "clickref", "date", "commission"];
		const found = (await problems("?platform=west")).filter(({ cause, sent }) => cause === "misnamed" && others.includes(sent ?? ""));
		const command = "postback-problems replay west --map txnid=orderid --map cid=clickref --map edate=date --map payout=commission";
		expect(found.map(({ fix }) => fix.command)).toEqual(others.map(() => `npm run operator -- ${command}`));
	});

	it("a key that has ended is told with its platform, until the sale comes by another; nothing that came by it is ever replayed", async () => {
		const entry = { id: "ended", platform_id: 79, name: "Ended", currency: "USD" };
		await importFile({ platforms: [{ ...entry, access_key: "platform-key-ended-one" }] });
		await importFile({ platforms: [{ ...entry, access_key: "platform-key-ended-two" }] });
		await refuse(`txnid=e-1&${GOOD}`, "platform-key-ended-one");
		const [problem] = await problems("?platform=ended");
		expect(problem).toMatchObject({ cause: "unknown_key", count: 1, fix: { command: "npm run operator -- postback-url ended --issue" } });
		const status = await (await get("/status")).json<{ problems: { kind: string; count: number }[] }>();
		expect(status.problems.find(({ kind }) => kind === "postbacks_rejected")?.count).toBeGreaterThan(0);
		expect(await replay({ platform: "ended" })).toMatchObject({ accepted: 0, still_refused: 1, conversions: 0 });
		expect((await callPostback("platform-key-ended-two", `txnid=e-1&${GOOD}`)).body.error_code).toBeUndefined();
		await vi.waitFor(async () => expect(await problems("?platform=ended")).toEqual([]), { timeout: 20_000 });
	});

	it("few a minute of what comes by an ended key are told as the platform's: whoever has it must not push the others out", async () => {
		const entry = { id: "leaked", platform_id: 80, name: "Leaked", currency: "USD" };
		await importFile({ platforms: [{ ...entry, access_key: "platform-key-leaked-one" }] });
		await importFile({ platforms: [{ ...entry, access_key: "platform-key-leaked-two" }] });
		for (let at = 0; at < 20; at++) await callPostback("platform-key-leaked-one", `txnid=l-${at}&${GOOD}`);
		const kept = "SELECT platform FROM postback_intake WHERE outcome = 'unknown_key' AND txnid LIKE 'l-%'";
		await vi.waitFor(async () => expect((await readAll(kept)).length).toBeGreaterThanOrEqual(20), { timeout: 20_000 });
		const told = (await readAll(kept)).filter(({ platform }) => platform === "leaked").length;
		expect(told).toBeGreaterThanOrEqual(5);
		// Two minutes at most.
		expect(told).toBeLessThanOrEqual(10);
	});

	it("an unknown key, a missing signature, an unknown address", async () => {
		await refuse(`txnid=k-1&${GOOD}`, "no-such-key-0000000000000000");
		await importFile({
			platforms: [
				{ id: "signed", platform_id: 8, name: "Signed", access_key: "platform-key-signed", postback_secret: "a-secret-of-16-or-more" },
				{ id: "placed", platform_id: 9, name: "Placed", access_key: "platform-key-placed", source_ranges: ["203.0.113.0/24"] },
			],
		});
		await refuse(`txnid=k-2&${GOOD}`, "platform-key-signed");
		await refuse(`txnid=k-3&${GOOD}`, "platform-key-placed");
		expect((await find("unknown_key"))?.platform).toBe(null);
		expect((await find("signature"))?.platform).toBe("signed");
		expect((await find("sender_address"))?.platform).toBe("placed");
	});

	it("page by page as all at once", async () => {
		const paged: Problem[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const behind: string = cursor === "" ? "" : `&cursor=${cursor}`;
			const page: v.InferOutput<typeof problemsSchema> = v.parse(
				problemsSchema,
				await (await get(`/problems/postbacks?limit=2${behind}`)).json(),
			);
			expect([page.limit, page.data.length <= 2]).toEqual([2, true]);
			paged.push(...page.data);
			cursor = page.next_cursor;
		}
		expect(paged.length).toBeGreaterThan(10);
		expect(paged).toEqual(await problems());
	});

	it("is no problem any more once the platform has sent it in order", async () => {
		await refuse("txnid=again&cid=a&edate=soon&payout=1");
		const count = async () => (await problems("?platform=west")).filter(({ sent }) => sent === "soon").length;
		expect(await count()).toBe(1);
		await consume(postbackMessage("west", { txnid: "again" }, Date.now() + 1_000));
		expect(await count()).toBe(0);
	});
});

describe("worker: causes of what was accepted", () => {
	const old = Date.now() - 2 * DAY_MS;
	const accept = (fields: object, platform = "west", at = old) => consume(postbackMessage(platform, fields, at));

	it.each<[string, () => Promise<unknown>, string, string | null]>([
		["a click that nobody made", () => accept({ txnid: "a-1", cid: "d".repeat(32), eventAt: Date.now() - DAY_MS }), "no_click", "cid"],
		["a click id of another form", () => accept({ txnid: "a-2", cid: "12345" }), "click_id_form", "cid"],
		[
			"older than clicks are kept",
			() => accept({ txnid: "a-3", cid: "e".repeat(32), eventAt: Date.parse("2020-01-01") }),
			"older_than_retention",
			"cid",
		],
		["a status of no map", () => accept({ txnid: "a-4", cid: "x", status: "lead" }), "unknown_status", "status"],
		["a status that nobody filled in", () => accept({ txnid: "a-5", cid: "x", status: "{status}" }), "placeholder", "status"],
	])("%s", async (_, send, cause, field) => {
		await send();
		expect(await find(cause, field)).toMatchObject({ platform: "west" });
	});

	it("ours but another platform's; ambiguous; no rate; no currency; an amount; for review; a suspended publisher", async () => {
		const hash = (digit: string) => digit.repeat(32);
		await storeClicks(
			clickRow({ click_hash: hash("1") }),
			clickRow({ click_hash: hash("2"), publisher_click_id: "twice" }),
			clickRow({ click_hash: hash("3"), publisher_click_id: "twice" }),
			clickRow({ click_hash: hash("4"), reason: "embedded" }),
			clickRow({ click_hash: hash("5"), publisher_id: "gone" }),
		);
		await accept({ txnid: "b-1", cid: hash("1") }, "east");
		await accept({ txnid: "b-2", cid: "twice" });
		await accept({ txnid: "b-3", cid: hash("1"), currency: "EUR", eventAt: Date.parse("2026-11-09") });
		await accept({ txnid: "b-4", cid: hash("1"), currency: "EURO" });
		await accept({ txnid: "b-4b", cid: hash("1"), currency: "ISK" });
		await accept({ txnid: "b-4c", cid: hash("1"), currency: "ISK", status: "cancelled" });
		await accept({ txnid: "b-2b", cid: "twice", status: "cancelled" });
		await accept({ txnid: "b-5", cid: hash("1"), payoutMicros: 20_000_000_000 });
		await accept({ txnid: "b-6", cid: hash("4") });
		await accept({ txnid: "b-7", cid: hash("5") });
		expect((await find("other_platform", "cid"))?.platform).toBe("east");
		for (const [cause, field, sent] of [
			["ambiguous", "cid", null],
			["no_publisher", "cid", null],
			["no_rate", "currency", "EUR"],
			["no_rate", "currency", "ISK"],
			["unknown_currency", "currency", "EURO"],
			["amount", null, null],
			["review", null, null],
		] as const) {
			const found = (await problems()).filter((problem) => problem.cause === cause && problem.field === field);
			expect([cause, found]).toMatchObject([
				cause,
				expect.arrayContaining([expect.objectContaining({ platform: "west", count: 1, sent })]),
			]);
		}
		// A currency of which no rate was ever imported is one all the same: it is not the platform that is to be asked.
		const isk = (await problems()).find(({ sent }) => sent === "ISK");
		expect(isk?.fix).toMatchObject({ text: expect.stringContaining("Import the exchange rate of ISK"), macro: null });
	});

	it("those that only wait for their click are none", async () => {
		const before = await find("no_click", "cid");
		await accept({ txnid: "w-1", cid: "f".repeat(32) }, "west", Date.now());
		expect((await find("no_click", "cid"))?.count).toBe(before?.count);
	});
});

describe("worker: the fix", () => {
	it("names the network's macro, and where it was found, by the platform's name", async () => {
		await importFile({ platforms: [{ id: "p77", platform_id: 77, name: "Affise (Example Offers)", access_key: "platform-key-affise" }] });
		await refuse("txnid=m-1&edate=2026-11-10&payout=1&cid={clickid}", "platform-key-affise");
		const [problem] = await problems("?platform=p77");
		expect(problem?.fix).toMatchObject({
			macro: "{sub1}",
			source: expect.stringContaining("affise.com"),
			command: "npm run operator -- postback-url p77",
		});
	});

	it("the whole address, without a key, or with a new one", async () => {
		const shown = v.parse(postbackUrlSchema, await (await get("/postback-url?platform=p77")).json());
		expect(shown).toMatchObject({ network: "Affise", unknown: [], key_id: null });
		expect(shown.url).toBe(
			"http://localhost:8787/api/postback/{access_key}?txnid={transactionid}&cid={sub1}&edate={timestamp}&payout={sum}&sales={order_sum}&currency={currency}&status={status}",
		);
		const dry = await (await post("/postback-url?dry_run=1", { platform: "p77" })).json();
		expect(dry).toEqual(shown);
		expect(await readAll("SELECT verb FROM audit WHERE subject_id = 'p77' AND verb = 'issuePostbackUrl'")).toEqual([]);
		const issued = v.parse(postbackUrlSchema, await (await post("/postback-url", { platform: "p77", network: "everflow" })).json());
		expect([issued.unknown, issued.key_id === null]).toEqual([["edate"], false]);
		const key = /\/api\/postback\/([^?]+)\?/.exec(issued.url)?.[1] ?? "";
		expect((await callPostback(key, `txnid=m-2&${GOOD}`)).body).toEqual({ message: "Postback received successfully" });
		expect((await callPostback("platform-key-affise", `txnid=m-3&${GOOD}`)).body).toEqual({ message: "Postback received successfully" });
		expect((await readAll("SELECT verb FROM audit WHERE subject_id = 'p77' AND verb = 'issuePostbackUrl'")).length).toBe(1);
	});

	it("says of a platform that signs that the address alone is refused", async () => {
		await importFile({
			platforms: [{ id: "signer", platform_id: 78, name: "Awin", currency: "USD", postback_secret: "a-secret-of-the-signer" }],
		});
		const shown = v.parse(postbackUrlSchema, await (await get("/postback-url?platform=signer")).json());
		expect(shown.note).toBe(
			"Awin notifies of new transactions, not of what becomes of them: reconcile its statements. It has a postback_secret: what comes without its signature, in the parameter sig, is refused.",
		);
		expect(v.parse(postbackUrlSchema, await (await get("/postback-url?platform=west")).json()).note).toBeNull();
	});

	it("has no more keys than a platform may have", async () => {
		const ask = async (query = "") => (await post(`/postback-url${query}`, { platform: "p77" })).status;
		const statuses: number[] = [];
		for (let at = 0; at < MAX_VALID; at++) statuses.push(await ask());
		expect([statuses.filter((status) => status === 200).length, statuses.at(-1), await ask("?dry_run=1")]).toEqual([18, 422, 422]);
	});
});

describe("worker: what was refused is replayed", () => {
	it("with the names that its fields came under: told first, then once, in its place", async () => {
		const hash = "6".repeat(32);
		await storeClicks(clickRow({ click_hash: hash }));
		await refuse(`order_id=r-1&cid=${hash}&edate=2026-11-10&payout=10`);
		await refuse(`order_id=ORDER_ID&cid=${hash}&edate=2026-11-10&payout=10`);
		const body = { platform: "west", mapping: { txnid: "order_id" } };
		const told = await replay(body, "?dry_run=1");
		// A date is included.
		const today = new Date().toISOString().slice(0, 10);
		expect((await replay({ ...body, until: today }, "?dry_run=1")).accepted).toBe(told.accepted);
		expect(await replay({ ...body, until: `${today}T00:00` }, "?dry_run=1")).toMatchObject({ accepted: 0 });
		expect(told).toMatchObject({ dry_run: true, publisher_revenue: "8.0000", gross_revenue: "10.0000" });
		expect(await stateOf("r-1")).toBeUndefined();
		// What came later counts, whenever the earlier one is replayed.
		await consume(postbackMessage("west", { txnid: "r-1", cid: hash, payoutMicros: 3_000_000 }, Date.now() + 1_000));
		expect((await replayAll(body)).accepted).toBeGreaterThan(0);
		expect(await stateOf("r-1")).toMatchObject({ stage: "settled", payout_micros: 3_000_000 });
		expect(await stateOf("ORDER_ID")).toBeUndefined();
		const ledger = await readAll("SELECT id, method, txnid, query FROM postback_intake WHERE method = 'REPLAY' AND txnid = 'r-1'");
		expect(ledger).toMatchObject([{ id: expect.stringMatching(/~001$/), query: `txnid=r-1&cid=${hash}&edate=2026-11-10&payout=10` }]);
		expect((await problems("?platform=west")).filter(({ cause, sent }) => cause === "misnamed" && sent === "order_id")).toEqual([]);
		expect(await replayAll(body)).toMatchObject({ accepted: 0 });
		expect(await readAll("SELECT id FROM postback_intake WHERE method = 'REPLAY' AND txnid = 'r-1'")).toHaveLength(1);
		const audits = await readAll("SELECT actor, counts FROM audit WHERE verb = 'replayPostbacks' AND subject_id = 'west'");
		expect(audits.length).toBeGreaterThan(0);
	});

	it("all of one conversion together: a dry run of however many tells what they come to", async () => {
		const hash = "9".repeat(32);
		await storeClicks(clickRow({ click_hash: hash }));
		const from = new Date().toISOString();
		const answer = JSON.stringify({ errors: { txnid: ["The txnid field is required."] } });
		await insertIntake(
			Array.from({ length: 60 }, (_, at) => ({
				query: `order_id=all-${at === 0 ? 2 : at % 2}&cid=${hash}&edate=2026-11-10&payout=10`,
				answer,
			})),
		);
		const body = { platform: "west", mapping: { txnid: "order_id" }, from };
		const worth = { accepted: 60, conversions: 3, publisher_revenue: "24.0000", gross_revenue: "30.0000" };
		expect(await replay(body, "?dry_run=1")).toMatchObject(worth);
		expect(await replay(body)).toMatchObject(worth);
	});

	it("with the time at which it came, where its date cannot be read", async () => {
		await refuse(`txnid=r-2&cid=${"7".repeat(32)}&edate=yesterday&payout=10`);
		await refuse(`order_id=r-2b&cid=${"7".repeat(32)}&edate=2026-11-10&payout=10`);
		await callPostback(WEST_KEY, `txnid=r-2c&cid=nobody-s&edate=2026-11-10&payout=10`);
		await vi.waitFor(async () => expect(await stateOf("r-2c")).toMatchObject({ stage: "waiting" }), { timeout: 20_000 });
		await replayAll({ platform: "west", mapping: { edate: "@received_at", txnid: "order_id" } });
		expect(Number((await stateOf("r-2"))?.event_at)).toBeGreaterThan(Date.now() - DAY_MS);
		// A date that can be read is the event's, whatever else was wrong.
		for (const txnid of ["r-2b", "r-2c"]) expect(await stateOf(txnid)).toMatchObject({ event_at: Date.UTC(2026, 10, 10) });
	});

	it("a click id that came in another parameter, though it was accepted", async () => {
		const hash = "8".repeat(32);
		await storeClicks(clickRow({ click_hash: hash }));
		expect((await callPostback(WEST_KEY, `txnid=r-3&cid=wrong&sub1=${hash}&edate=2026-11-10&payout=10`)).body).not.toHaveProperty("errors");
		await vi.waitFor(async () => expect(await stateOf("r-3")).toMatchObject({ cid: "wrong" }), { timeout: 20_000 });
		await replayAll({ platform: "west", mapping: { cid: "sub1" } });
		expect(await stateOf("r-3")).toMatchObject({ stage: "settled", cid: hash });
	});

	it("but nothing that was accepted and reads by the mapping as it did", async () => {
		await callPostback(WEST_KEY, "txnid=r-3b&cid=nobodys&edate=2026-11-10&payout=10");
		await vi.waitFor(async () => expect(await stateOf("r-3b")).toMatchObject({ cid: "nobodys" }), { timeout: 20_000 });
		await replayAll({ platform: "west", mapping: { cid: "sub1" } });
		expect(await readAll("SELECT method FROM postback_intake WHERE txnid = 'r-3b'")).toEqual([{ method: "GET" }]);
	});

	it("looks again at what found no click, as after an import", async () => {
		await importFile({ platforms: [platformEntry("west", { match_by_publisher_click_id: false })] });
		await storeClicks(clickRow({ publisher_click_id: "mine-only" }));
		await consume(postbackMessage("west", { txnid: "r-4", cid: "mine-only" }, Date.now() - 2 * DAY_MS));
		expect(await stateOf("r-4")).toMatchObject({ stage: "unmatched" });
		await importFile({ platforms: [platformEntry("west", { match_by_publisher_click_id: true })] });
		expect(await replayAll({ platform: "west" })).toMatchObject({ dry_run: false });
		expect(await stateOf("r-4")).toMatchObject({ stage: "settled" });
	});

	it("whose signature verifies by the secret of now, and never by an address that is not known", async () => {
		const [good, bad] = [`txnid=s-1&${GOOD}`, `txnid=s-2&${GOOD}`];
		const sign = (text: string, secret: string) => createHmac("sha256", secret).update(text).digest("hex");
		await refuse(`${good}&sig=${sign(good, "another-secret-of-theirs")}`, "platform-key-signed");
		await refuse(`${bad}&sig=${sign(bad, "nobody's")}`, "platform-key-signed");
		await importFile({
			platforms: [
				{ id: "signed", platform_id: 8, name: "Signed", postback_secret: "another-secret-of-theirs", access_key: "platform-key-signed" },
			],
		});
		await replayAll({ platform: "signed" });
		expect([await stateOf("s-1"), await stateOf("s-2")]).toMatchObject([{ payout_micros: 10_000_000 }, undefined]);
		await importFile({
			platforms: [{ id: "placed", platform_id: 9, name: "Placed", access_key: "platform-key-placed", source_ranges: null }],
		});
		await replayAll({ platform: "placed" });
		expect(await stateOf("k-3")).toBeUndefined();
	});

	it.each<[string, unknown]>([
		["/problems/postbacks/replay", {}],
		["/problems/postbacks/replay", { platform: "nobody" }],
		["/problems/postbacks/replay", { platform: "west", mapping: { txnid: "@received_at" } }],
		["/problems/postbacks/replay", { platform: "west", mapping: { s2: "x" } }],
		["/problems/postbacks/replay", { platform: "west", cursor: "junk" }],
		["/problems/postbacks/replay?dryrun=1", { platform: "west" }],
		["/problems/postbacks/replay", []],
		["/postback-url", { platform: "nobody" }],
		["/postback-url", { platform: "west", network: "none" }],
	])("POST %s %j is 422", async (path, body) => {
		expect((await post(path, body)).status).toBe(422);
	});

	it.each([
		"/problems/postbacks?from=soon",
		"/problems/postbacks?cause=x",
		"/problems/postbacks?limit=0",
		"/problems/postbacks?cursor=W10",
		"/postback-url",
		"/postback-url?platform=%00",
	])("GET %s is 422", async (path) => {
		expect((await get(path)).status).toBe(422);
	});
});

describe("worker: postbacks that came while keys could not be read", () => {
	const KEY = "platform-key-unread";
	const CID = "d".repeat(32);

	beforeAll(async () => {
		await importFile({
			platforms: [
				{
					id: "unread",
					platform_id: 8,
					name: "Unread",
					access_key: KEY,
					postback_secret: "a-secret-of-16-or-more",
					source_ranges: ["203.0.113.0/24"],
				},
			],
		});
		await storeClicks(clickRow({ click_hash: CID, platform: "unread" }));
	});

	it.each([
		["signature", "203.0.113.9"],
		["address", "198.51.100.7"],
	])("one whose %s is not its platform's is refused then, and no replay takes it", async (what, address) => {
		const signature = "0".repeat(64);
		const txnid = `forged-${what}`;
		const { intake, postback } = postbackMessage("unread", { txnid, cid: CID, payoutMicros: 500_000_000 });
		const query = `txnid=${txnid}&cid=${CID}&${GOOD}&payout=500&sig=${signature}`;
		await consume({
			format: 1,
			kind: "unclaimed",
			keyHash: createHash("sha256").update(KEY).digest("hex"),
			sent: query,
			signature,
			address,
			intake: { ...intake, platform: null, query },
			postback,
		});
		expect(await readAll("SELECT platform, outcome FROM postback_intake WHERE txnid = ?", txnid)).toEqual([
			{ platform: "unread", outcome: "rejected" },
		]);
		await replayAll({ platform: "unread" });
		expect(await readAll("SELECT txnid FROM conversions WHERE txnid = ?", txnid)).toEqual([]);
	});
});

describe("worker: a very large number of them", () => {
	it("of many platforms, the newest of all are looked at, and that there are more is said", async () => {
		const platforms = Array.from({ length: 11 }, (_, at) => `crowd-${at}`);
		await importFile({
			platforms: platforms.map((id, at) => ({ id, platform_id: 900 + at, name: id, access_key: `platform-key-${id}` })),
		});
		const answer = JSON.stringify({ errors: { payout: ["The payout must be a number."] } });
		for (const platform of platforms) {
			await insertIntake(Array.from({ length: 480 }, () => ({ platform, query: `txnid=x&${GOOD}&payout=1,50`, answer })));
		}
		const { data, complete } = v.parse(problemsSchema, await (await get("/problems/postbacks")).json());
		const ofCrowd = data.filter(({ platform }) => platform?.startsWith("crowd-"));
		expect([complete, ofCrowd.reduce((sum, { count }) => sum + count, 0)]).toEqual([false, 5_000]);
	});
});

it.runIf(ON_D1)("worker: of a platform's words that no map knows, no other conversion of it is looked at", async () => {
	const plan = await planOf(unknownStatusQuery({ platform: "west", fromAt: 1 }));
	expect(plan).toContain("SEARCH conversions USING INDEX conversions_unknown_words (updated_at>?)");
});
