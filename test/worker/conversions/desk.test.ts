/** The operator's desk: conversions are listed, shown, and settled by hand. */
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { claimCallback } from "../../../src/callbacks/claim-callback.ts";
import { sweepConversions } from "../../../src/conversions/sweep-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import {
	candidatesSchema,
	conversionPageSchema,
	judgedSchema,
	shownConversionSchema,
} from "../../../src/operator/conversions/conversions-answers.ts";
import { lookAtConversions } from "../../../src/operator/conversions/list-conversions.ts";
import { readListQuery } from "../../../src/operator/conversions/list-request.ts";
import { adjust, listAdjustments } from "../../support/adjustments.ts";
import {
	clickRow,
	consume,
	importConversionNetwork,
	platformEntry,
	postbackMessage,
	readAll,
	storeClicks,
} from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { brandEntry, importFile, OPERATOR_HEADERS } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";

const URL_OF_ALL = "http://origin.example/operator/conversions";
const DAY = Date.parse("2026-11-10T00:00:00Z");

const NO_CONVERSION = { error: "Not found", message: "There is no such conversion." };

const get = (path: string) => exports.default.fetch(`${URL_OF_ALL}${path}`, { headers: OPERATOR_HEADERS });
const post = (path: string, body: unknown) =>
	exports.default.fetch(`${URL_OF_ALL}${path}`, { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify(body) });

async function list(query: string) {
	const response = await get(query);
	expect([query, response.status]).toEqual([query, 200]);
	return v.parse(conversionPageSchema, await response.json());
}

async function listIds(query: string): Promise<string[]> {
	const ids: string[] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const page = await list(`${query}&cursor=${cursor}`);
		ids.push(...page.data.map(({ txnid }) => txnid));
		cursor = page.next_cursor;
	}
	return ids;
}

async function judge(txnid: string, verb: string, body: object = {}, platform = "west") {
	const response = await post(`/${platform}/${encodeURIComponent(txnid)}/${verb}`, { text: "a test", ...body });
	if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
	return v.parse(judgedSchema, await response.json());
}

async function faultOf(response: Response) {
	const { faults } = await response.json<{ faults: { path: string; message: string }[] }>();
	expect(response.status).toBe(422);
	return faults[0];
}

async function show(txnid: string, platform = "west") {
	const response = await get(`/${platform}/${encodeURIComponent(txnid)}`);
	expect(response.status).toBe(200);
	return v.parse(shownConversionSchema, await response.json());
}

const sums = () =>
	readAll(
		"SELECT publisher_id, date, conversion_count, conversion_revenue_micros FROM daily_publishers WHERE conversion_count <> 0 ORDER BY 1, 2",
	);
const callbacksOf = (txnid: string) =>
	readAll("SELECT publisher_id, status, payout_micros FROM callbacks WHERE txnid = ? ORDER BY seq", txnid);

/** One conversion a minute of 10 November, in this order. */
const settled = clickRow({ click_hash: "a1".padEnd(32, "0") });
const stuffed = clickRow({ click_hash: "a2".padEnd(32, "0"), reason: "embedded" });

beforeAll(async () => {
	await importConversionNetwork();
	await storeClicks(settled, stuffed);
	const old = (minute: number) => DAY + minute * 60_000;
	await consume(
		postbackMessage("west", { txnid: "settled", cid: String(settled.click_hash) }, old(1)),
		postbackMessage("west", { txnid: "review", cid: String(stuffed.click_hash), payoutMicros: 20_000_000 }, old(2)),
		postbackMessage("west", { txnid: "lost", cid: "nowhere", payoutMicros: 30_000_000 }, old(3)),
		postbackMessage("east", { txnid: "lost", cid: "nowhere", eventAt: Date.parse("2026-10-31T23:59:59Z") }, old(4)),
		postbackMessage("east", { txnid: "foreign", cid: String(settled.click_hash) }, old(5)),
		postbackMessage("west", { txnid: "a/b c?d#é%2F..", cid: "odd", status: "pending" }, old(6)),
		postbackMessage("west", { txnid: "review", eventAt: Date.parse("2026-11-20T12:00:00Z"), payoutMicros: 20_000_000 }, old(7)),
	);
});

describe("worker: the operator's list of conversions", () => {
	it.each([
		["?", ["a/b c?d#é%2F..", "foreign", "lost", "lost", "review", "settled"]],
		["?stage=settled", ["settled"]],
		["?stage=unmatched", ["a/b c?d#é%2F..", "foreign", "lost", "lost"]],
		["?stage=quarantined&reason=review", ["review"]],
		["?reason=no_click", ["a/b c?d#é%2F..", "lost", "lost"]],
		["?reason=other_platform", ["foreign"]],
		["?reason=other_platform&stage=settled", []],
		["?reason=no_rate&stage=unmatched", []],
		["?status=pending&stage=unmatched", ["a/b c?d#é%2F.."]],
		["?platform=east", ["foreign", "lost"]],
		["?publisher=cpa", ["review", "settled"]],
		["?publisher=cpa&stage=quarantined", ["review"]],
		["?brand=Shoes.example", ["review", "settled"]],
		["?min_amount=20", ["lost", "review"]],
		["?from=2026-11-10T00:03:00Z&to=2026-11-10T00:05:00Z", ["lost", "lost"]],
		["?from=2026-11-10&to=2026-11-10&platform=east", ["foreign", "lost"]],
		["?to=2026-11-09", []],
		["?by=report&from=2026-11-10&to=2026-11-10&platform=east", ["foreign", "lost"]],
		["?by=event&from=2026-10-01&to=2026-10-31", ["lost"]],
		["?by=event&from=2026-11-01&platform=east", ["foreign"]],
		["?by=event&to=2026-10-31T23:59:59Z", []],
		["?by=event&from=2026-11-20&to=2026-11-20", ["review"]],
		["?platform=nobody", []],
		["?brand=%00&publisher=%F0%9F%92%A9", []],
	])("%s", async (query, ids) => {
		expect(await listIds(query)).toEqual(ids);
		expect(await listIds(`${query}&limit=1`)).toEqual(ids);
	});

	it("a page tells why each is where it is, and what it is worth", async () => {
		const { data } = await list("?platform=west");
		expect(data.find(({ txnid }) => txnid === "review")).toMatchObject({
			stage: "quarantined",
			why: "review",
			brand: "shoes.example",
			gross_usd: "20.0000",
		});
		expect(data.find(({ txnid }) => txnid === "lost")).toMatchObject({
			stage: "unmatched",
			why: "no_click",
			brand: null,
			gross_usd: null,
			payout: "30.0000",
		});
	});

	it.each([
		"?stage=lost",
		"?reason=why",
		"?status=done",
		"?limit=0",
		"?limit=1001",
		"?from=yesterday",
		"?to=2026-13-01",
		"?by=click",
		"?min_amount=much",
		"?cursor=junk",
		"?cursor=WyJ4Il0",
		`?cursor=${"a".repeat(20_000)}`,
		`?platform=${"p".repeat(300)}`,
		"?stages=settled",
		"/west/settled/clicks",
		"/west/settled/clicks?brand=shoes.example",
		"/west/settled/clicks?click=a&brand=b",
		"/west/settled/clicks?brand=nobody.example&from=2026-11-10&to=2026-11-11",
		"/west/settled/clicks?brand=shoes.example&from=2026-11-10&to=2026-11-20",
	])("GET %s is 422", async (path) => {
		const response = await get(path);
		expect([response.status, await response.json()]).toMatchObject([422, { error: "Validation failed" }]);
	});

	it.each(["/west/nothing", "/nobody/settled", "/west/%00", "/%F0%9F%92%A9/%ff%fe", "/west/nothing/clicks?click=odd"])(
		"GET %s, of which there is none, is 404",
		async (path) => {
			const response = await get(path);
			expect([response.status, await response.json()]).toEqual([404, NO_CONVERSION]);
		},
	);

	it("shows a conversion with its history under whatever its id is", async () => {
		const shown = await show("a/b c?d#é%2F..");
		expect(shown).toMatchObject({ conversion: { stage: "unmatched", why: "no_click" }, click: null, adjustments: [] });
		expect((await show("settled")).click).toMatchObject({ click_hash: settled.click_hash });
		expect((await show("settled")).postbacks).toHaveLength(1);
	});
});

describe.runIf(ON_D1)("worker: the list goes through one index, behind the cursor", () => {
	const after = "&cursor=WzE3OTQyNjg4MDAwMDAsIndlc3QiLCJ0Il0";
	it.each([
		["", "conversions_by_receipt"],
		["stage=settled&platform=west", "conversions_by_receipt"],
		["publisher=cpa", "conversions_by_publisher"],
		["publisher=cpa&status=approved&min_amount=5", "conversions_by_publisher"],
		["stage=unmatched", "conversions_open"],
		["stage=quarantined&publisher=cpa", "conversions_open"],
		["reason=amount&from=2026-11-01&to=2026-11-20", "conversions_open"],
	])("%s by %s", async (query, index) => {
		const wanted = readListQuery(Object.fromEntries(new URLSearchParams(`${query}${after}`)));
		const steps = (await planOf(lookAtConversions(wanted, 100))).join("\n");
		expect(steps).toMatch(new RegExp(`SEARCH conversions USING COVERING INDEX ${index} \\(.*first_received_at[^?]*[<>]`));
		expect(steps).not.toMatch(/SCAN conversions|TEMP B-TREE/);
	});
});

describe("worker: an operator's word", () => {
	it("release: told in money first, then done once, with who and why in the history", async () => {
		const preview = await post("/west/review/release?dry_run=1", { text: "seen" });
		const told = v.parse(judgedSchema, await preview.json());
		expect(told).toMatchObject({
			id: null,
			dry_run: true,
			publisher_revenue: "16.0000",
			gross_revenue: "20.0000",
			conversion: { stage: "settled", status: "approved" },
			callbacks: [{ publisher: "cpa", status: "approved", payout: "16.0000" }],
		});
		expect(await callbacksOf("review")).toEqual([]);
		const before = await sums();
		const done = await judge("review", "release", { id: "release-0001" });
		expect(done).toMatchObject({ ...told, id: "release-0001", dry_run: false });
		expect(await sums()).not.toEqual(before);
		const { adjustments } = await show("review");
		expect(adjustments).toMatchObject([{ id: "release-0001", kind: "release_conversion", actor: "operator", text: "a test" }]);
		expect(await judge("review", "release", { id: "release-0001" })).toMatchObject({ id: "release-0001", conversions: 1, callbacks: [] });
		expect(await callbacksOf("review")).toEqual([{ publisher_id: "cpa", status: "approved", payout_micros: 16_000_000 }]);
		expect(await faultOf(await post("/west/review/release", { text: "again" }))).toMatchObject({ message: "is released already" });
	});

	it("void takes back, restore gives back", async () => {
		expect(await judge("settled", "void")).toMatchObject({
			publisher_revenue: "-8.0000",
			conversion: { status: "cancelled", verdict: "voided" },
		});
		expect(await judge("settled", "restore")).toMatchObject({
			publisher_revenue: "8.0000",
			conversion: { status: "approved", verdict: null },
		});
		expect((await callbacksOf("settled")).map(({ status }) => status)).toEqual(["approved", "cancelled", "approved"]);
		expect(await readAll("SELECT verb FROM audit WHERE subject_id = 'west settled' ORDER BY id")).toEqual([
			{ verb: "voidConversion" },
			{ verb: "restoreConversion" },
		]);
	});

	it.each<[string, object, string]>([
		["/west/settled/void", {}, "text"],
		["/west/settled/void?dry=1", { text: "x" }, "dry"],
		["/west/settled/void", { text: "x", click: "y" }, "click"],
		["/west/lost/attach", { text: "x" }, ""],
		["/west/lost/attach", { text: "x", click: "nowhere" }, "click"],
		["/west/lost/attach", { text: "x", click: "\u0000" }, "click"],
		["/west/settled/attach", { text: "x", click: String(settled.click_hash) }, "txnid"],
		["/east/lost/attach", { text: "x", click: String(settled.click_hash) }, "click"],
		["/west/nothing/void", {}, "text"],
	])("POST %s %j is refused", async (path, body, fault) => {
		const before = await readAll("SELECT * FROM conversions ORDER BY platform, txnid");
		expect((await faultOf(await post(path, body)))?.path).toBe(fault);
		expect(await readAll("SELECT * FROM conversions ORDER BY platform, txnid")).toEqual(before);
	});

	it.each(["release", "void", "restore", "attach"])("%s of a conversion that there is none of is 404", async (verb) => {
		const click = verb === "attach" && { click: String(settled.click_hash) };
		for (const query of ["", "?dry_run=1"]) {
			const response = await post(`/west/nothing/${verb}${query}`, { text: "x", ...click });
			expect([response.status, await response.json()]).toEqual([404, NO_CONVERSION]);
		}
	});
});

describe("worker: a conversion without a click is attached to one", () => {
	let serial = 0;
	/** An unmatched conversion, and its transaction id. */
	async function lose(fields = {}): Promise<string> {
		const txnid = `u-${++serial}`;
		await consume(postbackMessage("west", { txnid, cid: `none-${serial}`, ...fields }, DAY));
		return txnid;
	}

	it("as if the postback had named it: the same conversion, sums and callbacks", async () => {
		const [named, attached] = [clickRow({ publisher_click_id: "p-1" }), clickRow({ publisher_click_id: "p-2" })];
		await storeClicks(named, attached);
		const byPostback = `n-${++serial}`;
		await consume(postbackMessage("west", { txnid: byPostback, cid: String(named.click_hash) }, DAY));
		const txnid = await lose();
		const done = await judge(txnid, "attach", { click: String(attached.click_hash).toUpperCase() });
		expect(done).toMatchObject({
			kind: "attach_conversion",
			conversions: 1,
			publisher_revenue: "8.0000",
			callbacks: [{ payout: "8.0000" }],
		});
		const [one, other] = [(await show(byPostback)).conversion, (await show(txnid)).conversion];
		expect(other.attribution).toBe("operator");
		const alike = (shown: typeof one) => [
			shown.stage,
			shown.status,
			shown.gross_usd,
			shown.publisher_revenue,
			shown.publisher,
			shown.pricing_model,
		];
		expect(alike(other)).toEqual(alike(one));
		expect(other.events.map(({ kind, adjustment }) => [kind, adjustment])).toEqual([
			["received", undefined],
			["unmatched", undefined],
			["attached", done.id],
		]);
		expect(await callbacksOf(txnid)).toEqual(await callbacksOf(byPostback));
	});

	it.each(["id", "publisher_click_id"] as const)("by its %s", async (field) => {
		const click = clickRow();
		await storeClicks(click);
		const txnid = await lose();
		expect(await judge(txnid, "attach", { click: String(click[field]) })).toMatchObject({ conversion: { click_id: click.id } });
	});

	it("by brand and time; where several may be meant they are listed, and none is taken", async () => {
		const at = DAY + 20 * 3_600_000;
		const click = clickRow({ clicked_at: at, id: "019a6f9c-9c00-7000-8000-000000000001" });
		const span = { brand: "shoes.example", from: new Date(at).toISOString(), to: new Date(at + 60_000).toISOString() };
		const idAt = (offset: number) => {
			const hex = (at + offset).toString(16).padStart(12, "0");
			return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${offset}`;
		};
		await storeClicks({ ...click, id: idAt(1) }, clickRow({ clicked_at: at, id: idAt(2), brand_id: 2, campaign_id: 12, platform: "east" }));
		const [first, second] = [await lose(), await lose()];
		expect(await judge(first, "attach", span)).toMatchObject({ conversion: { click_id: idAt(1) } });
		await storeClicks(clickRow({ clicked_at: at, id: idAt(3) }));
		expect(await faultOf(await post(`/west/${second}/attach`, { text: "x", ...span }))).toMatchObject({ path: "brand" });
		const response = await get(`/west/${second}/clicks?${new URLSearchParams(span)}`);
		const { data, complete } = v.parse(candidatesSchema, await response.json());
		expect([data.map(({ id, conversions }) => [id, conversions]), complete]).toEqual([
			[
				[idAt(1), 1],
				[idAt(3), 0],
			],
			true,
		]);
	});

	it("a hash is that click, whoever called a link with it as its click id", async () => {
		const [mine, foreign] = [clickRow(), clickRow({ brand_id: 2, campaign_id: 12, platform: "east" })];
		const posing = [mine, foreign].map(({ click_hash }) => clickRow({ publisher_id: "quiet", publisher_click_id: String(click_hash) }));
		await storeClicks(mine, foreign, ...posing);
		const txnid = await lose();
		expect(await faultOf(await post(`/west/${txnid}/attach`, { text: "x", click: foreign.click_hash }))).toMatchObject({
			message: "is of a brand without a campaign of this platform",
		});
		expect(await judge(txnid, "attach", { click: String(mine.click_hash) })).toMatchObject({ conversion: { click_id: mine.id } });
	});

	it("refuses a click of a brand without a campaign of its platform, and takes it once there is one", async () => {
		const click = clickRow({ brand_id: 2, campaign_id: 12, platform: "east" });
		await storeClicks(click);
		const txnid = await lose();
		expect(await faultOf(await post(`/west/${txnid}/attach`, { text: "x", click: click.click_hash }))).toEqual({
			path: "click",
			message: "is of a brand without a campaign of this platform",
		});
		await importFile({ brands: [brandEntry("hats.example", 13, {}, { platform: "west" })] });
		expect(await judge(txnid, "attach", { click: String(click.click_hash) })).toMatchObject({ conversion: { stage: "settled" } });
	});

	it("once, however often it is asked for at the same time", async () => {
		const click = clickRow();
		await storeClicks(click);
		const txnid = await lose();
		const before = await sums();
		const asked = await Promise.all(
			Array.from({ length: 4 }, () => post(`/west/${txnid}/attach`, { text: "x", id: "attach-once", click: click.click_hash })),
		);
		expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
		expect(await callbacksOf(txnid)).toHaveLength(1);
		expect((await readAll("SELECT id FROM adjustments WHERE id = 'attach-once'")).length).toBe(1);
		expect(await sums()).not.toEqual(before);
		expect((await show(txnid)).conversion.events.filter(({ kind }) => kind === "attached")).toHaveLength(1);
	});

	it("asked for again under its id it is the same, whatever clicks came since; another click under that id is refused", async () => {
		const [mine, other] = [clickRow({ publisher_click_id: "again-1" }), clickRow()];
		await storeClicks(mine, other);
		const txnid = await lose();
		const wanted = { click: "again-1", id: "attach-again" };
		const done = await judge(txnid, "attach", wanted);
		await storeClicks(clickRow({ publisher_click_id: "again-1" }));
		expect(await judge(txnid, "attach", wanted)).toMatchObject({ id: done.id, conversions: 1, conversion: { click_id: mine.id } });
		expect((await post(`/west/${txnid}/attach`, { text: "x", id: "attach-again", click: other.id })).status).toBe(412);
		expect(await callbacksOf(txnid)).toHaveLength(1);
	});

	it("undone it stands as before, the credit is taken back, and another publisher's click may have it", async () => {
		const [mine, theirs] = [clickRow(), clickRow({ publisher_id: "quiet" })];
		await storeClicks(mine, theirs);
		const txnid = await lose();
		const before = { sums: await sums(), conversion: (await show(txnid)).conversion };
		const { id } = await judge(txnid, "attach", { click: String(mine.click_hash) });
		await adjust({ kind: "undo", adjustment: String(id) });
		expect(await sums()).toEqual(before.sums);
		const { events: _, callbacks: _1, updated_at: _2, retry_at: _3, ...fields } = (await show(txnid)).conversion;
		expect(before.conversion).toMatchObject(fields);
		expect((await callbacksOf(txnid)).map(({ status }) => status)).toEqual(["approved", "cancelled"]);
		const again = await post("/../adjustments", { kind: "undo", adjustment: id, text: "x" });
		expect(again.status).toBe(422);
		await judge(txnid, "attach", { click: String(theirs.click_hash) });
		expect((await callbacksOf(txnid)).at(-1)).toMatchObject({ publisher_id: "quiet", status: "approved" });
		expect((await listAdjustments("?limit=1")).data[0]).toMatchObject({ kind: "attach_conversion" });
	});

	it("undone, and given another click of the same publisher's, nothing that is told of the first names the second", async () => {
		// Of one without an address: no queue delivers what is claimed here.
		const clickOf = (user: string) => clickRow({ publisher_id: "quiet", subid1: user, source_id: user, publisher_click_id: null });
		const [first, second] = [clickOf("user-1"), clickOf("user-2")];
		await storeClicks(first, second);
		const txnid = await lose();
		const { id } = await judge(txnid, "attach", { click: String(first.click_hash) });
		await adjust({ kind: "undo", adjustment: String(id) });
		await judge(txnid, "attach", { click: String(second.click_hash) });
		const db = openDatabase(env.DB);
		// Whoever attached the second has a clock that is an hour behind: what is later is told by the order of the events.
		const [{ at, seq } = { at: 0, seq: 0 }] = await readAll<{ at: number; seq: number }>(
			"SELECT at, seq FROM conversion_events WHERE txnid = ? AND kind = 'detached'",
			txnid,
		);
		await db.run(
			sql`UPDATE conversion_events SET at = CAST(${at - HOUR_MS} AS BIGINT) WHERE txnid = ${txnid} AND seq > CAST(${seq} AS BIGINT)`,
		);
		await db.run(sql`UPDATE callbacks SET created_at = CAST(${at - HOUR_MS} AS BIGINT) WHERE txnid = ${txnid} AND seq = 3`);
		const told = [];
		for (const callback of await readAll("SELECT id FROM callbacks WHERE txnid = ? ORDER BY seq", txnid)) {
			await db.run(sql`UPDATE callbacks SET state = 'delivered', lease = NULL WHERE txnid = ${txnid}`);
			await db.run(sql`UPDATE callbacks SET state = 'due', next_attempt_at = 0 WHERE id = ${callback.id}`);
			const claimed = await claimCallback({ db, now: Date.now }, String(callback.id));
			told.push([claimed?.status, claimed?.subid1, claimed?.source, claimed?.domain]);
		}
		expect(told).toEqual([
			["approved", null, null, null],
			["cancelled", null, null, null],
			["approved", "user-2", "user-2", "shoes.example"],
		]);
	});

	it("undone it gets the click that its platform has named since, however long ago it was first reported", async () => {
		const [mine, named] = [clickRow(), clickRow({ publisher_id: "quiet" })];
		await storeClicks(mine, named);
		const txnid = `u-${++serial}`;
		const long = Date.now() - 40 * 86_400_000;
		await consume(postbackMessage("west", { txnid, cid: `none-${serial}` }, long));
		const { id } = await judge(txnid, "attach", { click: String(mine.click_hash) });
		await consume(postbackMessage("west", { txnid, cid: String(named.click_hash) }, long + 60_000));
		await adjust({ kind: "undo", adjustment: String(id) });
		await sweepConversions({ db: openDatabase(env.DB), callbacks: env.CALLBACKS, now: Date.now });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "settled", publisher: "quiet", attribution: "click_hash" });
	});

	it("of a publisher paid by clicks it earns nothing more, and undone the day is as before", async () => {
		const click = clickRow({ publisher_id: "cpc" });
		await storeClicks(click);
		const txnid = await lose();
		const before = await sums();
		const { id, publisher_revenue } = await judge(txnid, "attach", { click: String(click.click_hash) });
		expect([publisher_revenue, await callbacksOf(txnid)]).toEqual(["0.0000", []]);
		expect(await sums()).not.toEqual(before);
		await adjust({ kind: "undo", adjustment: String(id) });
		expect(await sums()).toEqual(before);
	});

	it("to a click that nobody saw it is kept back for review, and to a test it counts nowhere", async () => {
		const [seen, test] = [clickRow({ reason: "embedded" }), clickRow({ reason: "test" })];
		await storeClicks(seen, test);
		expect(await judge(await lose(), "attach", { click: String(seen.click_hash) })).toMatchObject({
			publisher_revenue: "0.0000",
			conversion: { stage: "quarantined", why: "review" },
		});
		expect(await judge(await lose(), "attach", { click: String(test.click_hash) })).toMatchObject({
			publisher_revenue: "0.0000",
			callbacks: [],
		});
	});

	it("a release of it is of that click alone: with another one that nobody saw it is kept back again", async () => {
		const [first, second] = [clickRow({ reason: "embedded" }), clickRow({ reason: "embedded", publisher_id: "quiet" })];
		await storeClicks(first, second);
		const txnid = await lose();
		const { id } = await judge(txnid, "attach", { click: String(first.click_hash) });
		expect(await judge(txnid, "release", {})).toMatchObject({ conversion: { stage: "settled", verdict: "released" } });
		await adjust({ kind: "undo", adjustment: String(id) });
		expect((await show(txnid)).conversion).toMatchObject({ click_id: null, verdict: null });
		await judge(txnid, "attach", { click: String(second.click_hash) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "quarantined", why: "review", verdict: null });
		expect((await callbacksOf(txnid)).map(({ status }) => status)).toEqual(["approved", "cancelled"]);
	});

	it("a review of it ends with that click, too", async () => {
		const [seen, paid] = [clickRow({ reason: "embedded" }), clickRow()];
		await storeClicks(seen, paid);
		const txnid = await lose();
		const { id } = await judge(txnid, "attach", { click: String(seen.click_hash) });
		await adjust({ kind: "undo", adjustment: String(id) });
		await judge(txnid, "attach", { click: String(paid.click_hash) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "settled", why: null });
	});

	it.each(["void", "restore"])("a release does not pass another click either when the %s after it is undone", async (verb) => {
		const [first, second] = [clickRow({ reason: "embedded" }), clickRow({ reason: "embedded", publisher_id: "quiet" })];
		await storeClicks(first, second);
		const txnid = await lose();
		const { id } = await judge(txnid, "attach", { click: String(first.click_hash) });
		await judge(txnid, "release");
		const judged = await judge(txnid, verb);
		await adjust({ kind: "undo", adjustment: String(id) });
		await judge(txnid, "attach", { click: String(second.click_hash) });
		await adjust({ kind: "undo", adjustment: String(judged.id) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "quarantined", why: "review", verdict: null });
	});

	it("a release that was given before there was a click passes no click", async () => {
		const embedded = clickRow({ reason: "embedded" });
		await storeClicks(embedded);
		const txnid = await lose();
		await judge(txnid, "void");
		await judge(txnid, "release");
		await judge(txnid, "attach", { click: String(embedded.click_hash) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "quarantined", why: "review", verdict: null });
	});

	it("so is one that was voided meanwhile, when the void is undone", async () => {
		const [first, second] = [clickRow({ reason: "embedded" }), clickRow({ reason: "embedded", publisher_id: "quiet" })];
		await storeClicks(first, second);
		const txnid = await lose();
		const { id } = await judge(txnid, "attach", { click: String(first.click_hash) });
		await judge(txnid, "release");
		const voided = await judge(txnid, "void");
		await adjust({ kind: "undo", adjustment: String(id) });
		await adjust({ kind: "undo", adjustment: String(voided.id) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "unmatched", status: "approved", verdict: null });
		await judge(txnid, "attach", { click: String(second.click_hash) });
		expect((await show(txnid)).conversion).toMatchObject({ stage: "quarantined", why: "review", verdict: null });
	});
});

describe("worker: a platform's currency", () => {
	it("an attached conversion without a rate waits for it", async () => {
		await importFile({ platforms: [platformEntry("west")] });
		const click = clickRow();
		await storeClicks(click);
		await consume(postbackMessage("west", { txnid: "krona", cid: "none", currency: "SEK" }, DAY));
		expect(await judge("krona", "attach", { click: String(click.click_hash) })).toMatchObject({
			conversion: { stage: "quarantined", why: "no_rate" },
		});
		await importFile({ exchange_rates: [{ currency: "SEK", date: "2026-11-10", usd: "0.1" }] });
		await consume({ format: 1, kind: "look_again", platform: "west", txnid: "krona" });
		expect(await readAll("SELECT stage, gross_micros FROM conversions WHERE txnid = 'krona'")).toEqual([
			{ stage: "settled", gross_micros: 1_000_000 },
		]);
	});
});
