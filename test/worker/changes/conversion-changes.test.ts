/** GET /api/conversions/changes: whoever follows it has what the reports have, whatever settles, changes or is taken back, and whenever it reads. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ConversionChange, conversionChangeSchema, conversionChangesSchema } from "../../../src/changes/conversion-changes-answer.ts";
import { conversionChangesQuery } from "../../../src/changes/feed-cursor.ts";
import { FORMAT, pageOf, readConversionChanges } from "../../../src/changes/read-conversion-changes.ts";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { writeCursor } from "../../../src/http/pages.ts";
import { fromBase64Url } from "../../../src/lib/base64-url.ts";
import { formatUsd, parseMicros } from "../../../src/lib/money.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { removeOld } from "../../../src/retention/remove-old.ts";
import { adjust } from "../../support/adjustments.ts";
import { askChanges, FeedClient, getChanges } from "../../support/changes.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../../support/click-messages.ts";
import { consume, postbackMessage } from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { forgetTraffic } from "../../support/forget-traffic.ts";
import { OPERATOR_HEADERS } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";
import { askReport, CPA_KEY, CPC_KEY, importReportNetwork, setPublisher } from "../../support/report-rows.ts";
import { countRows } from "../../support/row-counts.ts";

const RUNS = Number(env.PROPERTY_RUNS || 10);
const PATH = "/api/conversions/changes";
const BEGIN = Date.parse("2026-11-10T00:00:00Z");
/** What a report of conversions covers. */
const DAYS = ["2026-11-10", "2026-11-11", "2026-11-12"];
const PERIOD = { start_date: "2026-11-10", end_date: "2026-11-12", limit: 1_000 };

/** What was passed through the link of each day's click. */
const PASSED_ON: readonly Parameters<typeof clickMessage>[0][] = [
	{ texts: { uid: "reader-1", subid1: "one", subid5: "five" } },
	{},
	{ kind: "link", texts: { uid: "reader-3", atag: "tag-20", subid3: "three" } },
];

type Click = ReturnType<typeof clickMessage>;
let clicks: Record<"pa" | "pc", Click[]>;
/** The latest postback was received then; later than all events, as retention removes by it. */
let now = Date.parse("2026-11-20T00:00:00Z");

/** @param at of the click */
const say = (publisher: "pa" | "pc", txnid: string, at: number, fields: object = {}) =>
	consume(postbackMessage("northwind", { txnid, cid: clicks[publisher][at]?.hash ?? "", eventAt: BEGIN, ...fields }, ++now));

const clean = (at: number) => removeOld({ db: openDatabase(env.DB), now: () => at, clickDays: 4_000, archive: undefined });

const newClient = (key = CPA_KEY) =>
	new FeedClient<ConversionChange>(askChanges(PATH, key), (copy, entry) => {
		if (entry.new === null) copy.delete(entry.id);
		else copy.set(entry.id, entry);
	});

async function list(query: Record<string, string | number> = {}, key = CPA_KEY) {
	const response = await getChanges(PATH, key, query);
	expect(response.status).toBe(200);
	return v.parse(conversionChangesSchema, await response.json());
}

/** The click-level report and the records of conversions and amounts, as a copy has them. */
function reportsOf(copy: ReadonlyMap<string, ConversionChange>) {
	const entries = [...copy.values()];
	const ofClicks = Map.groupBy(
		entries.filter(({ click }) => click !== null),
		({ click }) => click,
	);
	const clicklevel = [...ofClicks.values()].map((conversions) => ({
		click_id: conversions[0]?.click_id ?? "",
		revenue: formatUsd(conversions.reduce((sum, of) => sum + (parseMicros(of.new?.revenue ?? "0") ?? 0), 0)),
		click_date: conversions[0]?.clicked_at?.slice(0, 10),
	}));
	const records = entries.map((of) => ({
		transaction_id: of.transaction_id,
		click_id: of.click_id ?? "",
		publisher_revenue: of.new?.revenue,
		gross_revenue: of.new?.gross_revenue,
		credited_revenue: of.new?.credited_revenue,
		date: of.new?.date,
		brand_name: of.brand ?? "",
		source_id: of.source_id,
		rev_type: of.rev_type,
		sales_amount: of.new?.sales_amount,
		campaign_id: of.campaign_id ?? "",
		...("user_id" in of && { user_id: of.user_id }),
		sub_id: of.source_id,
		offer_id: of.offer_id,
		...("atag" in of && { atag: of.atag }),
		conversion_count: of.rev_type === "CPA" ? 1 : 0,
		click_count: of.rev_type === "CPA" ? 1 : 0,
		...{ subid1: of.subid1, subid2: of.subid2, subid3: of.subid3, subid4: of.subid4, subid5: of.subid5 },
	}));
	return { clicklevel: sorted(clicklevel), records: sorted(records) };
}

async function readReports() {
	const { data: ofClicks } = await askReport("clicklevel", CPA_KEY, PERIOD);
	const { data } = await askReport("revenue-share", CPA_KEY, { report_type: "clickid_level", detail: 1, ...PERIOD });
	// Of approved and pending the copy has the status alone.
	const records = data.map(({ approved_revenue: _, pending_revenue: __, ...record }: Record<string, unknown>) => record);
	return { clicklevel: sorted(ofClicks), records: sorted(records) };
}

/** @param rows their fields may stand in any order */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
	const textOf = (row: Row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)));
	return rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

beforeAll(importReportNetwork);

beforeEach(begin);

/** No conversions, and clicks of which everything is known. */
async function begin(): Promise<void> {
	await forgetTraffic();
	await env.DB.prepare("UPDATE report_sequence SET changes_from = present").run();
	const made = (publisher: "pa" | "pc") =>
		DAYS.map((day, at) =>
			clickMessage({
				at: Date.parse(`${day}T12:00:00Z`),
				publisher: `identity-${publisher}`,
				brandId: 1,
				campaignId: 11,
				bidMicros: 300_000,
				...PASSED_ON[at],
			}),
		);
	clicks = { pa: made("pa"), pc: made("pc") };
	await consumeClicks(capDeps(), letters(...clicks.pa, ...clicks.pc));
}

/** What an operator finds to be of a click. @returns id of the adjustment */
async function attach(click: Click | undefined): Promise<string> {
	const body = JSON.stringify({ click: click?.hash, text: "found by hand" });
	const url = "https://base.example/operator/conversions/northwind/t/attach";
	const response = await exports.default.fetch(url, { method: "POST", headers: OPERATOR_HEADERS, body });
	expect(response.status).toBe(200);
	return (await response.json<{ id: string }>()).id;
}

/** What is known of the user of a click is erased. @returns how many conversions had something of them */
async function erase(click: Click | undefined): Promise<number> {
	const body = JSON.stringify({ click: click?.hash });
	const response = await exports.default.fetch("https://base.example/operator/erase", { method: "POST", headers: OPERATOR_HEADERS, body });
	expect(response.status).toBe(200);
	return (await response.json<{ conversions: number }>()).conversions;
}

/** All changes up to here are older than any that are kept. */
async function forget(): Promise<void> {
	await env.DB.prepare("UPDATE conversion_changes SET at = 0").run();
	await clean(40 * DAY_MS);
	expect(await rowsOf("SELECT count(*) AS n FROM conversion_changes")).toEqual([{ n: 0 }]);
}

describe("worker: changes of conversions", () => {
	it("tells each change with what stood before and why: reported, changed, voided, restored, cancelled, adjusted", async () => {
		await say("pa", "t", 0, { payoutMicros: 10_000_000, salesMicros: 50_000_000 });
		await say("pa", "t", 0, { payoutMicros: 6_000_000, status: "pending" });
		await adjust({ kind: "void_conversion", platform: "northwind", txnid: "t" });
		await adjust({ kind: "restore_conversion", platform: "northwind", txnid: "t" });
		await say("pa", "t", 0, { payoutMicros: 6_000_000, status: "cancelled" });
		const { id: amount } = await adjust({ kind: "amount", publisher: "pa", date: "2026-11-11", amount: "-2.5" });
		await adjust({ kind: "undo", adjustment: amount });
		await say("pc", "of another publisher", 0);
		const { data, more } = await list();
		const standing = (status: string, revenue: string, credited_revenue = revenue) =>
			expect.objectContaining({ status, date: "2026-11-10", revenue, credited_revenue, sales_amount: "50.0000" });
		const [first, second] = [standing("approved", "5.0000"), standing("pending", "3.0000", "5.0000")];
		expect(data.map((change) => [change.why, change.old, change.new])).toEqual([
			["reported", null, first],
			["reported", first, second],
			["voided", second, null],
			["restored", null, standing("pending", "3.0000", "0.0000")],
			["cancelled", standing("pending", "3.0000", "0.0000"), null],
			["adjusted", null, expect.objectContaining({ date: "2026-11-11", revenue: "-2.5000", credited_revenue: "0.0000" })],
			["adjusted", null, expect.objectContaining({ date: "2026-11-11", revenue: "2.5000" })],
		]);
		expect(data[0]).toMatchObject({ transaction_id: "t", rev_type: "CPA", brand: "shoes.example", campaign_id: "11", source_id: "" });
		expect(new Set(data.slice(0, 5).map(({ id }) => id)).size).toBe(1);
		expect([more, data.length]).toEqual([false, 7]);
		expect((await list({}, CPC_KEY)).data).toMatchObject([
			{ transaction_id: "of another publisher", rev_type: "CPC", new: { revenue: "0.0000" } },
		]);
	});

	it("one that an operator gives to another publisher is taken from the one and told to the other, with nothing of the other's click", async () => {
		await consume(postbackMessage("northwind", { txnid: "t", cid: "f".repeat(32), eventAt: BEGIN }, ++now));
		const wrong = await attach(clicks.pa[0]);
		const { data, next_cursor: after } = await list();
		expect(data).toMatchObject([{ brand: "shoes.example", why: "click_found", old: null, new: { revenue: "5.0000" } }]);
		await adjust({ kind: "undo", adjustment: wrong });
		await attach(clicks.pc[1]);
		const nothing = { click: null, click_id: null, clicked_at: null, brand: null, source_id: "" };
		expect((await list({ after })).data).toMatchObject([{ ...nothing, why: "moved", old: { revenue: "5.0000" }, new: null }]);
		const { data: others } = await list({}, CPC_KEY);
		expect(others).toMatchObject([{ rev_type: "CPC", brand: "shoes.example", old: null, new: {} }]);
		expect(others[0]?.new).not.toHaveProperty("gross_revenue");
	});

	it("one whose user is erased is told once more, without them, and once alone", async () => {
		await say("pa", "t", 0, { payoutMicros: 10_000_000 });
		await say("pa", "held", 0, { currency: "XTS" });
		const { data, next_cursor: after } = await list();
		expect(data).toMatchObject([{ why: "reported", user_id: "reader-1", subid1: "one", subid5: "five" }]);
		await erase(clicks.pa[0]);
		await erase(clicks.pa[0]);
		const { data: since } = await list({ after });
		const [stands, nobody] = [data[0]?.new, { click_id: null, user_id: null, subid1: "", subid5: "" }];
		expect(since).toEqual([expect.objectContaining({ ...nobody, id: data[0]?.id, why: "erased", old: stands, new: stands })]);
	});

	it("a client that is killed at random rebuilds exactly the reports", async () => {
		const step = fc.oneof(
			{
				weight: 5,
				arbitrary: fc.record({
					kind: fc.constant("say" as const),
					txnid: fc.constantFrom("a", "a", "b", "c", "d"),
					click: fc.nat(2),
					status: fc.constantFrom(null, null, "pending", "cancelled"),
					payoutMicros: fc.constantFrom(10_000_000, 10_000_000, 7_000_000, 0),
					day: fc.nat(2),
				}),
			},
			{
				weight: 2,
				arbitrary: fc.record({ kind: fc.constant("judge" as const), txnid: fc.constantFrom("a", "a", "b"), voided: fc.boolean() }),
			},
			{ weight: 1, arbitrary: fc.record({ kind: fc.constant("amount" as const), amount: fc.constantFrom("1", "-0.25") }) },
			{ weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const) }) },
			{ weight: 1, arbitrary: fc.record({ kind: fc.constant("erase" as const), click: fc.nat(2) }) },
			{
				weight: 4,
				arbitrary: fc.record({
					kind: fc.constant("read" as const),
					client: fc.nat(1),
					limit: fc.constantFrom(1, 2, 3, 100),
					pages: fc.nat(3),
					kept: fc.nat(3),
				}),
			},
		);
		await fc.assert(
			fc
				.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
					const clients = [newClient(), newClient()] as const;
					for (const of of steps) {
						if (of.kind === "say") {
							const { txnid, click, status, payoutMicros, day } = of;
							await say("pa", txnid, click, { status, payoutMicros, eventAt: Date.parse(`${DAYS[day]}T01:00:00Z`) });
						} else if (of.kind === "judge") {
							const known = await rowsOf<{ verdict: string | null }>("SELECT verdict FROM conversions WHERE txnid = ?", of.txnid);
							if (known[0] === undefined || (known[0].verdict === "voided") === of.voided) continue;
							const kind = of.voided ? "void_conversion" : "restore_conversion";
							await adjust({ kind, platform: "northwind", txnid: of.txnid });
						} else if (of.kind === "amount") {
							await adjust({ kind: "amount", publisher: "pa", date: "2026-11-12", amount: of.amount });
						} else if (of.kind === "forget") {
							// The changes up to here are old, and whoever has not read them is not among those who read on.
							for (const client of clients) await client.read(100);
							await forget();
						} else if (of.kind === "erase") {
							await erase(clicks.pa[of.click]);
						} else {
							await clients[of.client]?.read(of.limit, of.pages, of.kept);
						}
					}
					const wanted = await readReports();
					for (const client of [...clients, newClient()]) {
						await client.read(2);
						expect(reportsOf(client.copy)).toEqual(wanted);
					}
				})
				.beforeEach(begin),
			{ numRuns: RUNS },
		);
	});

	it("nothing appears behind a cursor, however many write while it is read", async () => {
		const client = newClient();
		const seen: string[] = [];
		const txnids = Array.from({ length: 12 }, (_, at) => `side-${at}`);
		const writing = Promise.all(txnids.map((txnid, at) => say("pa", txnid, at % 3)));
		let isWriting = true;
		const reading = (async () => {
			while (isWriting) for (const { data } of await client.read(2)) seen.push(...data.map(({ transaction_id }) => transaction_id));
		})();
		await writing;
		isWriting = false;
		await reading;
		for (const { data } of await client.read(2)) seen.push(...data.map(({ transaction_id }) => transaction_id));
		expect(seen.toSorted()).toEqual(txnids.toSorted());
	});

	it("a cursor that is too old is answered 410 and the oldest; one that has read all stays good, however little happens", async () => {
		await say("pa", "old", 0);
		const { next_cursor: early } = await list({ limit: 1 });
		await say("pa", "old", 0, { payoutMicros: 5_000_000 });
		const late = await list({ after: early });
		expect(late.data).toHaveLength(1);
		await clean(now + 29 * DAY_MS);
		expect((await list({ after: early })).data).toEqual(late.data);
		await env.DB.prepare("UPDATE conversion_changes SET at = 0").run();
		await clean(40 * DAY_MS);
		const gone = await getChanges(PATH, CPA_KEY, { after: early });
		expect(gone.status).toBe(410);
		const { oldest, error } = await gone.json<{ oldest: string; error: string }>();
		expect([error, await list({ after: oldest })]).toMatchObject(["Gone", { data: [] }]);
		expect((await list({ after: late.next_cursor })).data).toEqual([]);
		await say("pa", "new", 1);
		for (const after of [oldest, late.next_cursor]) expect((await list({ after })).data).toMatchObject([{ transaction_id: "new" }]);
		expect((await list()).data).toMatchObject([
			{ transaction_id: "old", why: "present", old: null, new: { revenue: "2.5000" } },
			{ transaction_id: "new", why: "reported" },
		]);
		// A database that was set back has never given it.
		await env.DB.prepare("UPDATE report_sequence SET present = present - 5").run();
		expect((await getChanges(PATH, CPA_KEY, { after: late.next_cursor })).status).toBe(410);
		await env.DB.prepare("UPDATE report_sequence SET present = present + 5").run();
	});

	it("one that has begun to read how things stand is 410 once what changed since is not kept: what it has may be another's by then", async () => {
		await consume(postbackMessage("northwind", { txnid: "t", cid: "f".repeat(32), eventAt: BEGIN }, ++now));
		const wrong = await attach(clicks.pa[0]);
		for (const txnid of ["u", "v", "w"]) await say("pa", txnid, 1);
		await forget();
		const first = await list({ limit: 1 });
		expect(first.data).toMatchObject([{ transaction_id: "t", why: "present" }]);
		const second = await list({ limit: 1, after: first.next_cursor });
		expect([second.data, second.more]).toMatchObject([[{ transaction_id: "u", why: "present" }], true]);
		await adjust({ kind: "undo", adjustment: wrong });
		// As long as it is told of it, it reads on.
		expect((await list({ after: second.next_cursor })).data).toMatchObject([
			{ transaction_id: "v" },
			{ transaction_id: "w" },
			{ why: "moved", id: first.data[0]?.id, new: null },
		]);
		await forget();
		for (const after of [first.next_cursor, second.next_cursor]) expect((await getChanges(PATH, CPA_KEY, { after })).status).toBe(410);
		const client = newClient();
		await client.read(1);
		expect(reportsOf(client.copy)).toEqual(await readReports());
		expect(client.copy.size).toBe(3);
	});

	it("a cursor from before records had other fields is 410: what was read has them not", async () => {
		for (const column of ["sales_data_enabled", "campaign_id_enabled"]) {
			await forgetTraffic();
			await consumeClicks(capDeps(), letters(...clicks.pa));
			await setPublisher("pa", column, 0);
			for (const [at, txnid] of ["a", "b"].entries()) await say("pa", txnid, at, { salesMicros: 50_000_000 });
			const cursors = [(await list({ limit: 1 })).next_cursor, (await list()).next_cursor];
			for (const after of cursors) expect((await getChanges(PATH, CPA_KEY, { after })).status).toBe(200);
			await setPublisher("pa", column, 1);
			for (const after of cursors) {
				const gone = await getChanges(PATH, CPA_KEY, { after });
				expect([gone.status, await gone.json()]).toMatchObject([410, { oldest: null }]);
			}
			const client = newClient();
			await client.read(1);
			expect(reportsOf(client.copy)).toEqual(await readReports());
		}
	});

	it("a cursor of an earlier version is 410: its records had no gross revenue, and nothing of their click", async () => {
		await say("pa", "a", 0);
		const { next_cursor: cursor } = await list();
		const parts = JSON.parse(new TextDecoder().decode(fromBase64Url(cursor) ?? new Uint8Array())) as [
			string,
			number,
			string,
			string,
			number,
			number,
		];
		const [reading, sequence, platform, txnid, began, fields] = parts;
		// What records of this publisher had then was told by a number below four, and at first not at all.
		for (const earlier of [
			[reading, sequence, platform, txnid, began, fields % 4],
			[reading, sequence, platform, txnid],
		])
			expect((await getChanges(PATH, CPA_KEY, { after: writeCursor(earlier) })).status).toBe(410);
		expect((await getChanges(PATH, CPA_KEY, { after: cursor })).status).toBe(200);
	});

	it("records have the fields of this format: with others, FORMAT of the cursor grows", () => {
		const { old, ...entry } = conversionChangeSchema.entries;
		const fields = [...Object.keys(entry), ...Object.keys(old.pipe[0].wrapped.entries)];
		expect([FORMAT, fields.join(" ")]).toEqual([
			1,
			"id changed_at why rev_type transaction_id click_id click clicked_at brand campaign_id source_id user_id offer_id atag " +
				"subid1 subid2 subid3 subid4 subid5 new status date at revenue gross_revenue credited_revenue sales_amount",
		]);
	});

	it("a cursor or limit of any other shape is refused, and so is a key that nobody has", async () => {
		const cursors = [
			"x",
			"%",
			"null",
			btoa("{}"),
			btoa('["changes",-1.5,"",""]'),
			btoa('["changes",1]'),
			btoa('["changes",1,"","",1,2,3]'),
			"A".repeat(20_000),
		];
		for (const after of cursors) expect([after, (await getChanges(PATH, CPA_KEY, { after })).status]).toEqual([after, 422]);
		for (const limit of ["0", "1001", "-1", "x"]) expect((await getChanges(PATH, CPA_KEY, { limit })).status).toBe(422);
		expect((await getChanges(PATH, "access-key-of-nobody")).status).toBe(401);
	});

	it("a page looks at its own rows alone, however many conversions there are", async () => {
		const told = Array.from({ length: 300 }, (_, at) => ({ txnid: `many-${at}`, cid: clicks.pa[0]?.hash ?? "", eventAt: BEGIN }));
		await consume(...told.map((fields) => postbackMessage("northwind", fields, ++now)));
		const { next_cursor: after } = await list({ limit: 1_000 });
		for (const status of ["pending", "approved"]) await say("pa", "many-7", 0, { status });
		const { client, counted } = countRows(env.DB, true);
		const page = await readConversionChanges(openDatabase(client), "pa", v.parse(conversionChangesQuery, { after, limit: "100" }));
		expect(page?.data.map(({ transaction_id, subid1 }) => [transaction_id, subid1])).toEqual(Array(2).fill(["many-7", "one"]));
		expect(counted.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(100);
	});

	it.runIf(ON_D1)("a page reads indexes alone to find its rows", async () => {
		const place = { sequence: 5, platform: "northwind", txnid: "a" };
		const details = await planOf(pageOf("pa", place, 101));
		expect(details.filter((detail) => /^SCAN (?!page|told|untold|amounts|\()/.test(detail))).toEqual([]);
		for (const index of ["conversions_by_sequence", "adjustments_by_sequence"]) expect(details.join("\n")).toContain(index);
	});
});
