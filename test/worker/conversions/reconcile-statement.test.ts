/** A platform's own statement: what differs is told, applied as postbacks, and applied once. */
import { exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { countedQuery, heldQuery } from "../../../src/operator/statement/read-ledger.ts";
import { type Reconciled, reconciledSchema, statementsSchema } from "../../../src/operator/statement/statement-answers.ts";
import { adjust, postVerb } from "../../support/adjustments.ts";
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
import { utf16 } from "../../support/feeds.ts";
import { importExactly, OPERATOR_HEADERS } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";

const URL_OF_IT = "http://origin.example/operator/reconcile";
const DAY = Date.parse("2026-11-10T12:00:00Z");
const send = (text: BodyInit, query: string) =>
	exports.default.fetch(`${URL_OF_IT}?${query}`, { method: "POST", headers: OPERATOR_HEADERS, body: text });

async function reconcile(text: BodyInit, query = ""): Promise<Reconciled> {
	const response = await send(text, `platform=west${query}`);
	if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
	return v.parse(reconciledSchema, await response.json());
}

const HEADER = "Transaction ID,Click Ref,Transaction Date,Commission Amount,Currency,Status";
const statement = (...rows: string[]) => `${[HEADER, ...rows].join("\n")}\n`;
const hash = (n: number) => n.toString(16).padStart(32, "0");
const stateOf = async (txnid: string) =>
	(await readAll("SELECT status, payout_micros, revenue_micros FROM conversions WHERE platform = 'west' AND txnid = ?", txnid))[0];
const tables = ["conversions", "conversion_events", "postback_intake", "daily_publishers", "statements", "audit"];
/** Of callbacks what is owed: they are attempted meanwhile. */
const everything = () =>
	Promise.all(
		[...tables.map((table) => `SELECT * FROM ${table}`), "SELECT id, txnid, seq, status, payout_micros FROM callbacks"].map(async (query) =>
			(await readAll(query)).map((row) => JSON.stringify(row)).sort(),
		),
	);

/** As agreed; another amount; pending here; cancelled there; two ids; missing there; missing here; voided by an operator. */
const ROWS = [
	`same,${hash(1)},2026-11-10,10.00,USD,approved`,
	`more,${hash(2)},2026-11-10,12.50,USD,approved`,
	`late,${hash(3)},2026-11-10,10.00,USD,approved`,
	`gone,${hash(4)},2026-11-10,10.00,USD,declined`,
	`twice-b,${hash(5)},2026-11-10,10.00,USD,approved`,
	`new,${hash(7)},2026-11-10,4.00,USD,approved`,
	"nobody's,,2026-11-10,4.00,USD,approved",
	`never,${hash(8)},2026-11-10,4.00,USD,declined`,
	`void,${hash(9)},2026-11-10,10.00,USD,approved`,
	`odd,${hash(10)},2026-11-10,10.00,USD,whatever`,
];

beforeAll(async () => {
	await importConversionNetwork();
	await storeClicks(...Array.from({ length: 11 }, (_, n) => clickRow({ click_hash: hash(n) })));
	const postback = (txnid: string, n: number, status = "approved") =>
		postbackMessage("west", { txnid, cid: hash(n), eventAt: DAY, status }, Date.now() - 60_000);
	await consume(
		...[postback("same", 1), postback("more", 2), postback("late", 3, "pending"), postback("gone", 4), postback("twice-a", 5)],
		...[postback("only-here", 6), postback("void", 9), postback("odd", 10)],
	);
	await adjust({ kind: "void_conversion", platform: "west", txnid: "void" });
});

describe("worker: a platform's statement", () => {
	it("is compared: each kind of difference, and what applying it would change", async () => {
		const before = await everything();
		const report = await reconcile(statement(...ROWS));
		expect(await reconcile(utf16(statement(...ROWS), true))).toEqual(report);
		expect(report).toMatchObject({
			layout: "awin",
			rows: 10,
			dry_run: true,
			complete: true,
			counts: { missing_here: 2, missing_there: 1, other_amount: 1, other_status: 2, two_ids: 1, unknown_status: 1 },
			applied: 0,
			// +2 for more, 3.20 for new, −8 for gone; pending revenue of late counted already.
			publisher_revenue: "-2.8000",
			gross_revenue: "-3.5000",
		});
		expect(Object.fromEntries(report.data.map(({ txnid, kind, applies }) => [txnid, [kind, applies]]))).toEqual({
			more: ["other_amount", true],
			late: ["other_status", true],
			gone: ["other_status", true],
			"twice-b": ["two_ids", false],
			"only-here": ["missing_there", false],
			new: ["missing_here", true],
			"nobody's": ["missing_here", false],
			odd: ["unknown_status", false],
		});
		expect(report.data.find(({ txnid }) => txnid === "twice-b")?.other_txnid).toBe("twice-a");
		expect(await everything()).toEqual(before);
	});

	it("is applied as postbacks, once: the same file again changes nothing", async () => {
		const text = statement(...ROWS);
		const applied = await reconcile(text, "&apply=1");
		expect(applied).toMatchObject({ applied: 4, conversions: 4, publisher_revenue: "-2.8000", complete: true, dry_run: false });
		expect([
			await stateOf("more"),
			await stateOf("late"),
			await stateOf("gone"),
			await stateOf("new"),
			await stateOf("void"),
		]).toMatchObject([
			{ status: "approved", payout_micros: 12_500_000, revenue_micros: 10_000_000 },
			{ status: "approved" },
			{ status: "cancelled" },
			{ status: "approved", revenue_micros: 3_200_000 },
			{ status: "cancelled" },
		]);
		const before = await everything();
		expect(await reconcile(text, "&apply=1")).toMatchObject({
			applied: 4,
			conversions: 0,
			publisher_revenue: "0.0000",
			applied_at: applied.applied_at,
		});
		expect(await everything()).toEqual(before);
		expect(await reconcile(text)).toMatchObject({ counts: { other_amount: 0, other_status: 0, missing_here: 1 }, conversions: 0 });
		const ledger = await readAll("SELECT method, query FROM postback_intake WHERE txnid = 'more' ORDER BY id");
		expect(ledger.at(-1)).toMatchObject({ method: "STATEMENT", query: expect.stringContaining(`statement=${applied.hash}`) });
		const response = await exports.default.fetch(`${URL_OF_IT}?platform=west`, { headers: OPERATOR_HEADERS });
		const { data } = v.parse(statementsSchema, await response.json());
		expect(data).toMatchObject([{ hash: applied.hash, actor: "operator", layout: "awin", rows: 10, applied: 4 }]);
		const beyond = await exports.default.fetch(`${URL_OF_IT}?cursor=${btoa('[0,""]')}`, { headers: OPERATOR_HEADERS });
		expect(await beyond.json()).toMatchObject({ data: [], next_cursor: null });
		expect(await readAll("SELECT actor FROM audit WHERE verb = 'reconcileStatement'")).toHaveLength(1);
	});

	it("that was applied says of nothing that applying it would change it, though it can be read better since", async () => {
		await storeClicks(clickRow({ click_hash: hash(21) }));
		await consume(postbackMessage("west", { txnid: "worded", cid: hash(21), eventAt: DAY }, Date.now() - 60_000));
		const text = statement(`worded,${hash(21)},2026-11-10,15.00,USD,corrected`);
		const worded = ({ data }: Reconciled) => data.filter(({ txnid }) => txnid === "worded");
		expect(worded(await reconcile(text, "&apply=1"))).toMatchObject([{ kind: "unknown_status", applies: false }]);
		await importExactly({ platforms: [platformEntry("west", { status_map: { corrected: "approved" } })] });
		for (const query of ["", "&apply=1"]) {
			const report = await reconcile(text, query);
			expect([worded(report), report.conversions]).toMatchObject([[{ kind: "other_amount", applies: false }], 0]);
		}
		expect(worded(await reconcile(`${text}\n`))).toMatchObject([{ kind: "other_amount", applies: true }]);
		await importExactly({ platforms: [platformEntry("west")] });
	});

	it("does not overrule what came after it: applied again, and applied by two at once", async () => {
		await storeClicks(clickRow({ click_hash: hash(20) }));
		await consume(postbackMessage("west", { txnid: "moving", cid: hash(20), eventAt: DAY }, Date.now() - 60_000));
		const text = statement(`moving,${hash(20)},2026-11-10,15.00,USD,approved`);
		const [one, other] = await Promise.all([reconcile(text, "&apply=1"), reconcile(text, "&apply=1")]);
		expect(one.hash).toBe(other.hash);
		expect(await readAll("SELECT id FROM postback_intake WHERE txnid = 'moving' AND method = 'STATEMENT'")).toHaveLength(1);
		expect(await stateOf("moving")).toMatchObject({ payout_micros: 15_000_000 });
		await consume(postbackMessage("west", { txnid: "moving", cid: hash(20), eventAt: DAY, status: "cancelled" }, Date.now() + 1_000));
		await reconcile(text, "&apply=1");
		expect(await stateOf("moving")).toMatchObject({ status: "cancelled" });
	});

	it("goes on where it was cut off: more than a request applies", async () => {
		const rows = Array.from({ length: 1_050 }, (_, n) => `many-${n},none-${n},2026-10-01,1.00,USD,pending`);
		const text = statement(...rows);
		const first = await reconcile(text, "&apply=1");
		expect(first).toMatchObject({ complete: false, applied: 1_000, applied_at: null });
		const second = await reconcile(text, "&apply=1");
		expect(second).toMatchObject({ complete: true, applied: 1_050 });
		expect(await readAll("SELECT count(*) AS n FROM conversions WHERE txnid LIKE 'many-%'")).toEqual([{ n: 1_050 }]);
	});

	it("a sale whose click an operator found is one, whatever id and click the statement has", async () => {
		await consume(postbackMessage("west", { txnid: "by-hand", cid: "lost", eventAt: DAY }, Date.now() - 60_000));
		expect((await postVerb("west", "by-hand", "attach", { click: hash(0) })).status).toBe(200);
		const { data } = await reconcile(statement(`other-id,${hash(0).toUpperCase()},2026-11-10,10.00,USD,approved`));
		expect(data.find(({ txnid }) => txnid === "other-id")).toMatchObject({ kind: "two_ids", other_txnid: "by-hand", applies: false });
	});

	it("another layout by a mapping", async () => {
		const mapping = encodeURIComponent(JSON.stringify({ txnid: "Ref", payout: "Fee", date: "Day" }));
		expect(await reconcile("Ref,Fee,Day\nsame,10,10/11/2026\n", `&mapping=${mapping}&date_order=dmy`)).toMatchObject({
			layout: "mapping",
			from: "2026-11-10T00:00:00.000Z",
			counts: { other_amount: 0, other_status: 0 },
		});
	});

	it.each<[string, string]>([
		["", "platform=west"],
		["a,b\n1,2\n", "platform=west"],
		[statement(ROWS[0] ?? ""), "platform=nobody"],
		[statement(ROWS[0] ?? ""), ""],
		[statement(ROWS[0] ?? ""), "platform=west&aply=1"],
		[statement(ROWS[0] ?? ""), "platform=west&mapping=junk"],
		[statement(ROWS[0] ?? ""), "platform=west&mapping=[]"],
		[statement(ROWS[0] ?? ""), "platform=west&mapping={}&date_order=x"],
		["\u0000", "platform=west"],
		["x".repeat(100_000), "platform=west"],
		['"'.repeat(999), "platform=west"],
	])("%.40j with %s is 422", async (text, query) => {
		const response = await send(text, query);
		expect([response.status, await response.json()]).toMatchObject([422, { error: "Validation failed" }]);
	});

	it.each<[string, object[]]>([
		["junk", [{ path: "mapping", message: expect.stringContaining("must be a JSON object of txnid, ") }]],
		["null", [{ path: "mapping", message: expect.stringContaining("must be a JSON object of txnid, ") }]],
		[
			'{"order":"Ref","payout":""}',
			[
				{ path: "mapping.payout", message: "must not be blank" },
				{ path: "mapping.order", message: "is not a known field; did you mean `cid`?" },
			],
		],
		[
			'{"payout":"Fees"}',
			[
				{ path: "mapping.txnid", message: "no column is known to be it" },
				{ path: "mapping.payout", message: "there is no column Fees" },
				{ path: "", message: "the columns are Ref, Fee" },
			],
		],
	])("the mapping %s is told what is wrong with it, field by field, and which columns there are", async (mapping, faults) => {
		const response = await send("Ref,Fee\nX,1\n", `platform=west&mapping=${encodeURIComponent(mapping)}`);
		expect([response.status, await response.json()]).toMatchObject([422, { faults }]);
	});

	it("in Windows-1252 has transactions that differ in one letter", async () => {
		const text = statement("Ö-1,a,2026-10-01,1.00,USD,approved", "Ü-1,b,2026-10-01,2.00,USD,approved");
		const report = await reconcile(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
		expect(report.data.map(({ txnid }) => txnid)).toEqual(["Ö-1", "Ü-1"]);
	});

	it("a row of anything else is a fault of its own", async () => {
		const report = await reconcile(statement(`${"t".repeat(300)},a,2026-11-10,1,USD,approved`, "x,y,2026-11-10,1e9,USD,z", 'q,"'));
		expect([report.fault_count, report.transactions]).toEqual([3, 0]);
	});

	it("a transaction whose rows cannot be added up stays as it is, and is not missing", async () => {
		const day = "2026-10-20";
		const [returned, mixed] = [hash(101), hash(102)];
		await storeClicks(clickRow({ click_hash: returned }), clickRow({ click_hash: mixed }));
		const postback = (txnid: string, cid: string, payoutMicros: number) =>
			postbackMessage("west", { txnid, cid, eventAt: Date.parse(day), payoutMicros, status: "approved" }, Date.now() - 60_000);
		await consume(postback("returned", returned, 266_000_000), postback("mixed", mixed, 10_000_000));
		const before = [await stateOf("returned"), await stateOf("mixed")];
		const text = statement(
			`returned,${returned},${day},1500.00,USD,approved`,
			`returned,${returned},${day},"-1,234",USD,approved`,
			`mixed,${mixed},${day},10.00,USD,approved`,
			`mixed,${mixed},${day},1000.00,JPY,approved`,
			`new-2,${hash(103)},${day},1.00,USD,declined`,
		);
		const report = await reconcile(text, "&apply=1");
		expect(report).toMatchObject({ transactions: 1, fault_count: 2, faults: [{ line: 3 }, { line: 5 }], data: [], applied: 0 });
		expect([await stateOf("returned"), await stateOf("mixed")]).toEqual(before);
	});
});

/** What is reported to apply is applied, also where the ledger has heard the same before, and something else since. */
describe("worker: what a statement says stands", () => {
	const DOLLAR = 1_000_000;
	const MAPPING = encodeURIComponent(JSON.stringify({ txnid: "Ref", payout: "Fee", date: "Day" }));
	type Said = { payoutMicros?: number; status?: string };

	/** Takes in what the platform says of a new click, a minute after the other, and applies a statement to it, twice. */
	async function apply(txnid: string, said: readonly Said[], text: string, kind: string): Promise<unknown> {
		const click = clickRow();
		await storeClicks(click);
		for (const [at, fields] of said.entries()) {
			const minutesAgo = said.length - at;
			await consume(
				postbackMessage("west", { txnid, cid: String(click.click_hash), eventAt: DAY, ...fields }, Date.now() - minutesAgo * 60_000),
			);
		}
		const query = text.startsWith("Ref") ? `&apply=1&mapping=${MAPPING}` : "&apply=1";
		const report = await reconcile(text, query);
		expect(report.data.filter((difference) => difference.txnid === txnid)).toMatchObject([{ kind, applies: true }]);
		const state = await stateOf(txnid);
		const before = await everything();
		expect(await reconcile(text, query)).toMatchObject({ conversions: 0 });
		expect(await everything()).toEqual(before);
		const { data } = await reconcile(text, query.replace("&apply=1", ""));
		expect(data.filter((difference) => difference.txnid === txnid)).toEqual([]);
		return state;
	}

	const APPROVED_THEN_DECLINED = [{ status: "approved" }, { status: "declined" }];
	const OF_TEN = { status: "approved", payout_micros: 10 * DOLLAR, revenue_micros: 8 * DOLLAR };

	it("in the words of a postback that came before a refusal", async () => {
		expect(await apply("reopened", APPROVED_THEN_DECLINED, statement("reopened,,2026-11-10,10.00,USD,approved"), "other_status")).toEqual(
			OF_TEN,
		);
	});

	it.each<[string, Said[]]>([
		["declined", APPROVED_THEN_DECLINED],
		["nil", [{}, { payoutMicros: 0 }]],
	])("without a column of statuses: what was %s is paid", async (name, said) => {
		expect(await apply(`wordless-${name}`, said, `Ref,Fee,Day\nwordless-${name},10,2026-11-10\n`, "other_status")).toEqual(OF_TEN);
	});

	it("without a column of statuses: what is pending stays so, though its amount is another", async () => {
		expect(await apply("wordless", [{ status: "hold" }], "Ref,Fee,Day\nwordless,12,2026-11-10\n", "other_amount")).toMatchObject({
			status: "pending",
			payout_micros: 12 * DOLLAR,
		});
	});

	it.each<["cancel" | "adjust", number]>([
		["cancel", 0],
		["adjust", 0],
		["adjust", 80],
	])("below zero, where negative payouts %s, of what paid %d: it is a return", async (negative_payout, dollars) => {
		await importExactly({ platforms: [platformEntry("west", { negative_payout })] });
		const txnid = `below-${negative_payout}-${dollars}`;
		const text = `Ref,Fee,Day\n${txnid},-5,2026-11-10\n`;
		expect(await apply(txnid, [{ payoutMicros: dollars * DOLLAR }], text, "other_status")).toMatchObject({ status: "cancelled" });
	});

	it("of the first amount again, over a correction of it; corrections that follow count", async () => {
		await importExactly({ platforms: [platformEntry("west", { negative_payout: "adjust" })] });
		const said = [{ payoutMicros: 80 * DOLLAR }, { payoutMicros: -8 * DOLLAR }];
		const text = "Ref,Fee,Day\ncorrected,80,2026-11-10\n";
		expect(await apply("corrected", said, text, "other_amount")).toMatchObject({ payout_micros: 80 * DOLLAR });
		const { cid } = (await readAll<{ cid: string }>("SELECT cid FROM conversions WHERE txnid = 'corrected'"))[0] ?? { cid: "" };
		await consume(postbackMessage("west", { txnid: "corrected", cid, eventAt: DAY, payoutMicros: -9 * DOLLAR }, Date.now() + 1_000));
		expect(await stateOf("corrected")).toMatchObject({ status: "approved", payout_micros: 71 * DOLLAR });
	});
});

describe("worker: a statement that names no currency", () => {
	const MAPPING = encodeURIComponent(JSON.stringify({ txnid: "Ref", payout: "Fee", date: "Day", cid: "Sub", status: "State" }));
	const amounts = () =>
		readAll("SELECT txnid, status, payout_micros, currency, revenue_micros FROM conversions WHERE txnid LIKE 'money-%' ORDER BY txnid");
	/** The differences of a file of a day of their own. */
	async function compare(query: string, ...rows: string[]): Promise<unknown[]> {
		const { data } = await reconcile(["Ref,Fee,Day,Sub,State", ...rows, ""].join("\n"), `&mapping=${MAPPING}${query}`);
		return data.map(({ txnid, kind, other_txnid, applies }) => [txnid, kind, other_txnid ?? applies]);
	}
	async function say(txnid: string, currency: string | null): Promise<string> {
		const click = clickRow();
		await storeClicks(click);
		const cid = String(click.click_hash);
		await consume(postbackMessage("west", { txnid, cid, eventAt: Date.parse("2026-11-10"), currency }, Date.now() - 60_000));
		return cid;
	}

	it("knows a sale by its other id, also once its platform has another currency, or where that was named", async () => {
		const cids = [await say("action-1", null), await say("action-2", "EUR")];
		await importExactly({ platforms: [platformEntry("west", { currency: "EUR" })] });
		const rows = cids.map((cid, at) => `order-${at + 1},10,2026-11-10,${cid},`);
		expect((await compare("&apply=1", ...rows)).slice(0, 2)).toEqual([
			["order-1", "two_ids", "action-1"],
			["order-2", "two_ids", "action-2"],
		]);
		expect(await readAll("SELECT txnid FROM conversions WHERE txnid LIKE 'order-%'")).toEqual([]);
		await importExactly({ platforms: [platformEntry("west")] });
	});

	it("knows each sale of one click by its other id, and pays none twice", async () => {
		const cid = await say("basket-1", null);
		const more = { txnid: "basket-2", cid, eventAt: Date.parse("2026-11-10"), payoutMicros: 20_000_000 };
		await consume(postbackMessage("west", more, Date.now() - 60_000));
		const rows = [10, 20].map((payout) => `order-of-${payout},${payout},2026-11-10,${cid},approved`);
		expect((await compare("&apply=1", ...rows)).slice(0, 2)).toEqual([
			["order-of-10", "two_ids", "basket-1"],
			["order-of-20", "two_ids", "basket-2"],
		]);
		expect(await readAll("SELECT txnid FROM conversions WHERE txnid LIKE 'order-of-%'")).toEqual([]);
	});

	it("leaves an amount in the currency that was named for it; another amount is left to a person, a return is none", async () => {
		for (const name of ["less", "own", "returned", "same"]) await say(`money-${name}`, name === "own" ? null : "EUR");
		const rows = ["money-less,9", "money-own,9", "money-returned,0", "money-same,10"].map((row) => `${row},2026-11-10,,approved`);
		const ofThese = (await compare("&apply=1", ...rows)).slice(0, 3);
		expect(ofThese).toEqual([
			["money-less", "other_amount", false],
			["money-own", "other_amount", true],
			["money-returned", "other_status", true],
		]);
		expect(await amounts()).toEqual([
			{ txnid: "money-less", status: "approved", payout_micros: 10_000_000, currency: "EUR", revenue_micros: 8_800_000 },
			{ txnid: "money-own", status: "approved", payout_micros: 9_000_000, currency: "USD", revenue_micros: 7_200_000 },
			{ txnid: "money-returned", status: "cancelled", payout_micros: 0, currency: "EUR", revenue_micros: 0 },
			{ txnid: "money-same", status: "approved", payout_micros: 10_000_000, currency: "EUR", revenue_micros: 8_800_000 },
		]);
	});

	it("has amounts in the currencies that stand beside them; a dollar is none of a platform that is paid in euros", async () => {
		const cids = [await say("beside-euro", null), await say("beside-dollar", null)];
		await importExactly({ platforms: [platformEntry("west", { currency: "EUR" })] });
		const later = "2026-11-12";
		expect(await compare("&apply=1", `beside-euro,€12.00,${later},${cids[0]},`)).toContainEqual(["beside-euro", "other_amount", true]);
		expect(await compare("&apply=1", `beside-dollar,$12.00,${later},${cids[1]},`)).toEqual([]);
		expect(await readAll("SELECT txnid, payout_micros, currency FROM conversions WHERE txnid LIKE 'beside-%' ORDER BY txnid DESC")).toEqual(
			[
				{ txnid: "beside-euro", payout_micros: 12_000_000, currency: "EUR" },
				{ txnid: "beside-dollar", payout_micros: 10_000_000, currency: "USD" },
			],
		);
		await importExactly({ platforms: [platformEntry("west")] });
	});
});

it("worker: what is held and not in the statement is told, so that nobody releases what its platform does not pay", async () => {
	const click = clickRow();
	await storeClicks(click);
	const held = (txnid: string, fields: object) =>
		postbackMessage(
			"west",
			{ txnid, cid: String(click.click_hash), eventAt: Date.parse("2026-11-14T12:00:00Z"), payoutMicros: 12_000_000_000, ...fields },
			Date.now() - 60_000,
		);
	await consume(
		...[held("held-there", {}), held("held-here", {}), held("held-rate", { payoutMicros: 1_000_000, currency: "CHF" })],
		...[held("held-gone", { status: "declined" }), held("held-later", { eventAt: Date.parse("2026-11-15T12:00:00Z") })],
	);
	const { data, complete } = await reconcile(statement("held-there,,2026-11-14,12000.00,USD,approved"));
	expect([data.map(({ txnid, kind, ours }) => [txnid, kind, ours?.stage]), complete]).toEqual([
		[
			["held-here", "missing_there", "quarantined"],
			["held-rate", "missing_there", "quarantined"],
		],
		true,
	]);
});

it.runIf(ON_D1)("worker: what a platform counts in the period of a statement is read alone, in its order", async () => {
	expect(await planOf(countedQuery("west", { fromAt: 1, toAt: 2 }))).toEqual([
		"SEARCH v USING INDEX conversions_counted_by_platform (platform=? AND event_at>? AND event_at<?)",
	]);
	expect((await planOf(heldQuery("west", { fromAt: 1, toAt: 2 })))[0]).toBe("SEARCH v USING INDEX conversions_needy (stage=?)");
});
