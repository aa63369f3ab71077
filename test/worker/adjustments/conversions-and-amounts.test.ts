/** Conversions that an operator judges, amounts that one books, and the undoing of both. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { adjust as adjustBy } from "../../../src/adjustments/adjust.ts";
import { readWord } from "../../../src/adjustments/adjust-conversion.ts";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { wrapD1 } from "../../../src/db/wrap-d1.ts";
import { checkLedger } from "../../../src/ledger-check/check-ledger.ts";
import { adjustingOn } from "../../support/adjusting.ts";
import { adjust, listAdjustments, postAdjustment, preview } from "../../support/adjustments.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../../support/click-messages.ts";
import { consume, postbackMessage } from "../../support/conversions.ts";
import { forgetTraffic } from "../../support/forget-traffic.ts";
import { interrupted } from "../../support/interrupted.ts";
import { askReport, CPA_KEY, CPC_KEY, importReportNetwork } from "../../support/report-rows.ts";

const AT = Date.parse("2026-11-10T12:00:00Z");
const HASH = "a".repeat(32);
const PERIOD = { start_date: "2026-11-09", end_date: "2026-11-11" };
const CONVERSION = { platform: "northwind", txnid: "t-1" };

const say = (status: string, payoutMicros = 10_000_000) =>
	consume(postbackMessage("northwind", { txnid: "t-1", cid: HASH, eventAt: AT, payoutMicros, status }, Date.now()));
const report = (type: string, key = CPA_KEY) => askReport("revenue-share", key, { report_type: type, ...PERIOD });
const revenue = async () => (await report("daywise")).data.map(({ publisher_revenue }) => publisher_revenue);
const callbacks = async () => (await rowsOf("SELECT status FROM callbacks ORDER BY seq")).map(({ status }) => status);

async function faultOf(body: object, query = ""): Promise<string> {
	const response = await postAdjustment(body, query);
	expect(response.status).toBe(422);
	const { faults } = await response.json<{ faults: { path: string; message: string }[] }>();
	return faults.map(({ path, message }) => `${path}: ${message}`).join("; ");
}

beforeAll(importReportNetwork);

beforeEach(async () => {
	await forgetTraffic();
	const click = { hash: HASH, publisher: "identity-pa", campaignId: 11, at: AT };
	await consumeClicks(capDeps(), letters(clickMessage(click)));
});

describe("worker: a conversion is judged", () => {
	it("a void takes it out of the sums and cancels its credit, and an undo gives both back", async () => {
		await say("approved");
		const change = { conversions: 1, clicks: 0, publisher_revenue: "-5.0000", gross_revenue: "-10.0000" };
		expect(await preview({ kind: "void_conversion", ...CONVERSION })).toMatchObject({ id: null, ...change });
		expect(await callbacks()).toEqual(["approved"]);
		const { id, ...done } = await adjust({ kind: "void_conversion", ...CONVERSION });
		expect(done).toMatchObject(change);
		const audited = { actor: "operator", verb: "adjust", before: '{"verdict":null}', counts: '{"conversions":1}' };
		expect(await rowsOf("SELECT * FROM audit WHERE subject_id = 'northwind t-1'")).toMatchObject([audited]);
		expect(await callbacks()).toEqual(["approved", "cancelled"]);
		expect(await revenue()).toEqual(["0.0000"]);
		await say("approved", 20_000_000);
		expect(await revenue()).toEqual(["0.0000"]);
		expect(await adjust({ kind: "undo", adjustment: id })).toMatchObject({ conversions: 1, publisher_revenue: "10.0000" });
		expect(await callbacks()).toEqual(["approved", "cancelled", "approved"]);
		expect(await revenue()).toEqual(["10.0000"]);
	});

	it("a restore takes a void back, and undoing that voids it again", async () => {
		await say("approved");
		await adjust({ kind: "void_conversion", ...CONVERSION });
		const { id } = await adjust({ kind: "restore_conversion", ...CONVERSION });
		expect(await revenue()).toEqual(["5.0000"]);
		expect(await preview({ kind: "undo", adjustment: id })).toMatchObject({ publisher_revenue: "-5.0000" });
		await adjust({ kind: "undo", adjustment: id });
		expect(await revenue()).toEqual(["0.0000"]);
	});

	it("a release lets one above its ceiling count", async () => {
		await say("approved", 20_000_000_000);
		expect(await revenue()).toEqual(["0.0000"]);
		expect(await adjust({ kind: "release_conversion", ...CONVERSION })).toMatchObject({ publisher_revenue: "10000.0000" });
		expect(await revenue()).toEqual(["10000.0000"]);
	});

	it.each(["undo", "restore"])("to take a release back (%s) cancels its credit, once; another release credits it again", async (how) => {
		await say("approved", 20_000_000_000);
		const { id } = await adjust({ kind: "release_conversion", ...CONVERSION });
		expect(await callbacks()).toEqual(["approved"]);
		const back = how === "undo" ? { kind: "undo", adjustment: id } : { kind: "restore_conversion", ...CONVERSION };
		expect(await preview(back)).toMatchObject({ conversions: 1, publisher_revenue: "-10000.0000" });
		expect(await callbacks()).toEqual(["approved"]);
		expect(await adjust(back)).toMatchObject({ publisher_revenue: "-10000.0000" });
		expect(await revenue()).toEqual(["0.0000"]);
		const told = "SELECT status, payout_micros / 1000000 AS usd FROM callbacks ORDER BY seq";
		expect(await rowsOf(told)).toEqual([
			{ status: "approved", usd: 10_000 },
			{ status: "cancelled", usd: 10_000 },
		]);
		await say("approved", 20_000_000_000);
		expect(await callbacks()).toEqual(["approved", "cancelled"]);
		await adjust({ kind: "release_conversion", ...CONVERSION });
		expect(await callbacks()).toEqual(["approved", "cancelled", "approved"]);
		expect(await checkLedger({ db: openDatabase(env.DB), now: Date.now }, [CONVERSION])).toMatchObject({ differences: [] });
	});

	it.each(["void", "restore"])(
		"a release that a %s took away is given back by its undoing for what it was given for, and no more",
		async (how) => {
			const held = async () => (await rowsOf("SELECT verdict, held_for FROM conversions"))[0];
			await say("approved", 20_000_000_000);
			await adjust({ kind: "release_conversion", ...CONVERSION });
			const { id: first } = await adjust({ kind: `${how}_conversion`, ...CONVERSION });
			await say("approved", 19_000_000_000);
			await adjust({ kind: "undo", adjustment: first });
			expect([await revenue(), await held()]).toEqual([["9500.0000"], { verdict: "released", held_for: null }]);
			const { id: second } = await adjust({ kind: `${how}_conversion`, ...CONVERSION });
			await say("approved", 900_000_000_000);
			expect(await preview({ kind: "undo", adjustment: second })).toMatchObject({ publisher_revenue: "0.0000" });
			await adjust({ kind: "undo", adjustment: second });
			expect([await revenue(), await held()]).toEqual([["0.0000"], { verdict: null, held_for: "amount" }]);
			await adjust({ kind: "release_conversion", ...CONVERSION });
			expect(await revenue()).toEqual(["450000.0000"]);
		},
	);

	it("a release is of no more than was seen: what its platform has raised meanwhile stays held", async () => {
		await say("approved", 20_000_000_000);
		const release = { kind: "release_conversion", ...CONVERSION, up_to: "20000.0000" };
		expect(await preview(release)).toMatchObject({ gross_revenue: "20000.0000" });
		await say("approved", 900_000_000_000);
		const refused = "up_to: is less than it is worth by now, 900000.0000 USD: look at it again";
		expect(await faultOf(release, "?dry_run=1")).toBe(refused);
		expect(await faultOf(release)).toBe(refused);
		expect(await revenue()).toEqual(["0.0000"]);
		expect(await faultOf({ ...release, up_to: "-1" })).toBe("up_to: must be USD with at most four decimals, such as 12000.0000");
		expect(await faultOf({ kind: "void_conversion", ...CONVERSION, up_to: "1" })).toContain("up_to");
		await say("approved", 19_000_000_000);
		expect(await adjust(release)).toMatchObject({ publisher_revenue: "9500.0000" });
		await say("approved", 20_000_000_000);
		expect(await rowsOf("SELECT verdict, held_for FROM conversions")).toEqual([{ verdict: null, held_for: "amount" }]);
	});

	it("no release passes what none may, of a conversion that was voided, too", async () => {
		await say("approved", 5_000_000_000_000);
		await adjust({ kind: "void_conversion", ...CONVERSION });
		const release = { kind: "release_conversion", ...CONVERSION, up_to: "5000000.0000" };
		expect(await preview(release)).toMatchObject({ publisher_revenue: "0.0000" });
		expect(await adjust(release)).toMatchObject({ publisher_revenue: "0.0000" });
		expect([await revenue(), await callbacks()]).toEqual([["0.0000"], []]);
	});

	it("the undo of a void lifts no other void, which someone was faster with", async () => {
		await say("approved");
		const { id } = await adjust({ kind: "void_conversion", ...CONVERSION });
		const others = async () => {
			await adjust({ kind: "restore_conversion", ...CONVERSION });
			await adjust({ kind: "void_conversion", ...CONVERSION });
		};
		const request = { kind: "undo", adjustment: String(id), text: "a test" } as const;
		await expect(adjustBy(adjustingOn(interrupted(others)), request)).rejects.toMatchObject({ status: 422 });
		expect(await rowsOf("SELECT verdict FROM conversions")).toEqual([{ verdict: "voided" }]);
		expect((await listAdjustments()).data.map(({ kind }) => kind)).toEqual(["void_conversion", "restore_conversion", "void_conversion"]);
		// Of its platform, who was faster makes it no other word.
		await adjust({ kind: "restore_conversion", ...CONVERSION });
		const again = { kind: "void_conversion", ...CONVERSION, id: "again", text: "a test" } as const;
		const voided = await adjustBy(adjustingOn(interrupted(() => say("approved", 20_000_000))), again);
		expect([voided, await revenue()]).toEqual([expect.objectContaining({ publisher_revenue: "-10.0000" }), ["0.0000"]]);
	});

	it("a release is refused where someone lets less pass meanwhile", async () => {
		await say("approved", 20_000_000_000);
		const request = { kind: "release_conversion", ...CONVERSION, text: "a test" } as const;
		const lowered = () => say("approved", 10_000_000);
		await expect(adjustBy(adjustingOn(interrupted(lowered)), request)).rejects.toMatchObject({ status: 422 });
		expect(await rowsOf("SELECT verdict FROM conversions")).toEqual([{ verdict: null }]);
	});

	it("the same request is answered alike, however late it finds that it was done", async () => {
		await say("approved");
		const request = { kind: "void_conversion", ...CONVERSION, id: "same", text: "a test" } as const;
		const done = await adjustBy(adjustingOn(interrupted(() => adjustBy(adjustingOn(openDatabase(env.DB)), request))), request);
		expect(done).toMatchObject({ id: "same", publisher_revenue: "-5.0000" });
		const undo = { kind: "undo", adjustment: "same", id: "undone", text: "a test" } as const;
		const undone = adjustBy(adjustingOn(interrupted(() => adjustBy(adjustingOn(openDatabase(env.DB)), undo))), undo);
		expect(await undone).toMatchObject({ id: "undone", publisher_revenue: "5.0000" });
		expect(await revenue()).toEqual(["5.0000"]);
	});

	it("a release that its platform is faster than passes no more than was seen", async () => {
		await say("approved", 20_000_000_000);
		const word = await readWord(openDatabase(env.DB), {
			kind: "release_conversion",
			...CONVERSION,
			up_to: "20000.0000",
			text: "seen",
		});
		await say("approved", 900_000_000_000);
		const deps = { db: openDatabase(env.DB), now: Date.now, callbacks: undefined };
		await judgeConversion(deps, CONVERSION, word.verdict, "adjustment", { givenBackMicros: word.givenBackMicros });
		expect(await rowsOf("SELECT stage, verdict, held_for FROM conversions")).toEqual([
			{ stage: "quarantined", verdict: null, held_for: "amount" },
		]);
		expect(await callbacks()).toEqual([]);
	});

	it("a release of what is not kept back, or may never count, is refused: what came later would pass unseen", async () => {
		const release = { kind: "release_conversion", ...CONVERSION };
		await say("approved");
		expect(await faultOf(release)).toBe("txnid: is not kept back for its amount or for review");
		await say("approved", 1_000_000_010_000);
		expect(await faultOf(release, "?dry_run=1")).toBe("txnid: pays more than any release may pass, or sold for more");
		expect(await faultOf(release)).toBe("txnid: pays more than any release may pass, or sold for more");
		await say("approved", 900_000_000_000);
		expect(await revenue()).toEqual(["0.0000"]);
	});

	it("asked again under its id, nothing is done again", async () => {
		await say("approved");
		const body = { id: "void-it-1", kind: "void_conversion", ...CONVERSION };
		const first = await adjust(body);
		expect(await Promise.all([adjust(body), adjust(body)])).toEqual([first, first]);
		expect(await callbacks()).toEqual(["approved", "cancelled"]);
		expect((await listAdjustments()).data).toHaveLength(1);
	});

	it("is refused where there is none, where it stands so, and where another word came since", async () => {
		expect(await faultOf({ kind: "void_conversion", ...CONVERSION })).toBe("txnid: is no transaction of this platform");
		expect(await faultOf({ kind: "void_conversion", ...CONVERSION, platform: "nobody" })).toBe("platform: is no platform's id");
		await say("approved");
		expect(await faultOf({ kind: "restore_conversion", ...CONVERSION })).toBe("txnid: is neither voided nor released");
		const { id } = await adjust({ kind: "void_conversion", ...CONVERSION });
		expect(await faultOf({ kind: "void_conversion", ...CONVERSION }, "?dry_run=1")).toBe("txnid: is voided already");
		await adjust({ kind: "restore_conversion", ...CONVERSION });
		const since = "adjustment: is of a conversion that was judged again since";
		expect(await faultOf({ kind: "undo", adjustment: id })).toBe(since);
		const { id: again } = await adjust({ kind: "void_conversion", ...CONVERSION });
		expect(await faultOf({ kind: "undo", adjustment: id })).toBe(since);
		await adjust({ kind: "undo", adjustment: again });
		expect(await faultOf({ kind: "undo", adjustment: id })).toBe(since);
	});

	it("words are undone one by one, the last first", async () => {
		await say("approved");
		const { id: first } = await adjust({ kind: "void_conversion", ...CONVERSION });
		const { id: second } = await adjust({ kind: "restore_conversion", ...CONVERSION });
		await adjust({ kind: "undo", adjustment: second });
		await adjust({ kind: "undo", adjustment: first });
		expect(await revenue()).toEqual(["5.0000"]);
	});
});

describe("worker: an amount is booked", () => {
	const AMOUNT = { kind: "amount", publisher: "pa", date: "2026-11-10", amount: "-2.5" };

	it("is a record of its own, and in every sum; so is its undoing", async () => {
		await say("approved");
		expect(await preview(AMOUNT)).toMatchObject({ publisher_revenue: "-2.5000", clicks: 0, conversions: 0 });
		expect(await revenue()).toEqual(["5.0000"]);
		const { id } = await adjust({ ...AMOUNT, text: "paid twice" });
		expect(await revenue()).toEqual(["2.5000"]);
		expect((await report("source_level")).data).toMatchObject([{ source_id: "", publisher_revenue: "2.5000", click_count: 1 }]);
		const { data, total_records } = await report("clickid_level");
		expect(total_records).toBe(2);
		expect(data.find(({ rev_type }) => rev_type === "ADJUSTMENT")).toMatchObject({
			...{ transaction_id: id, publisher_revenue: "-2.5000", gross_revenue: "0.0000", date: "2026-11-10", source_id: "" },
			...{ click_id: "", brand_name: "", conversion_count: 0, click_count: 0 },
		});
		expect(await adjust({ kind: "undo", adjustment: id })).toMatchObject({ publisher_revenue: "2.5000" });
		expect(await revenue()).toEqual(["5.0000"]);
		expect((await report("clickid_level")).total_records).toBe(3);
		expect(await faultOf({ kind: "undo", adjustment: id })).toContain("is undone already");
	});

	it("on a day without anything else the day has a record; on another publisher's nothing changes", async () => {
		await env.DB.prepare("DELETE FROM daily_publishers").run();
		await adjust({ ...AMOUNT, date: "2026-11-09", amount: "3" });
		expect((await report("daywise")).data).toMatchObject([{ date: "2026-11-09", publisher_revenue: "3.0000", click_count: 0 }]);
		expect((await report("daywise", CPC_KEY)).data).toEqual([]);
	});

	it("names the one that is on its day already and not undone, before it is booked and after", async () => {
		const alike = async (body: object) => [(await preview(body)).alike, (await adjust(body)).alike];
		expect(await alike({ ...AMOUNT, id: "first-one" })).toEqual([null, null]);
		// Itself is no other.
		expect(await alike({ ...AMOUNT, id: "first-one" })).toEqual([null, null]);
		expect(await alike({ ...AMOUNT, amount: "2.5" })).toEqual([null, null]);
		expect(await alike({ ...AMOUNT, date: "2026-11-09" })).toEqual([null, null]);
		expect(await alike({ ...AMOUNT, publisher: "pc" })).toEqual([null, null]);
		expect(await alike({ ...AMOUNT, amount: "-2.5000", id: "second-one" })).toEqual(["first-one", "first-one"]);
		expect((await preview(AMOUNT)).alike).toBe("second-one");
		await adjust({ kind: "undo", adjustment: "second-one" });
		expect((await preview(AMOUNT)).alike).toBe("first-one");
		await adjust({ kind: "undo", adjustment: "first-one" });
		expect((await preview(AMOUNT)).alike).toBeNull();
	});

	it("is answered as booked where nothing more can be read after it", async () => {
		const error = vi.spyOn(console, "error").mockImplementation(() => {});
		const db = openDatabase(
			wrapD1(env.DB, ([text]) => {
				if (text?.startsWith("SELECT a.id FROM adjustments a")) throw new Error("D1_ERROR: Network connection lost.");
			}),
		);
		const booked = await adjustBy(adjustingOn(db), { ...AMOUNT, kind: "amount", id: "lost-after", text: "a test" });
		expect([booked.id, booked.alike, error.mock.calls.length]).toEqual(["lost-after", null, 1]);
		expect(await rowsOf("SELECT adjustment_micros FROM daily_publishers")).toEqual([{ adjustment_micros: -2_500_000 }]);
		error.mockRestore();
	});

	it("asked again under its id, at once or later, is booked once", async () => {
		const body = { ...AMOUNT, id: "amount-0001" };
		await Promise.all([adjust(body), adjust(body)]);
		await adjust(body);
		expect(await rowsOf("SELECT adjustment_micros FROM daily_publishers")).toEqual([{ adjustment_micros: -2_500_000 }]);
	});

	it.each<[string, object, string]>([
		["no publisher's", { publisher: "px" }, "publisher: is no publisher's id"],
		["of a day to come", { date: "2999-01-01" }, "date: must not be a day to come"],
		[
			"of a mistyped year, from which on the days of all reports would be compared",
			{ date: "0226-11-10" },
			"date: must not be before 2000-01-01",
		],
		["of no day", { date: "2026-02-30" }, "date: must be a day of the calendar"],
		["finer than reports show", { amount: "0.00005" }, "amount: must be USD with at most four decimals"],
		["nothing", { amount: "0.0000" }, "amount: must not be zero"],
		["beyond all bounds", { amount: "1000000.0001" }, "amount: must be at most 1000000.0000 either way"],
	])("%s is refused", async (_, fields, fault) => {
		expect(await faultOf({ ...AMOUNT, ...fields })).toContain(fault);
		expect(await rowsOf("SELECT 1 FROM daily_publishers WHERE adjustment_micros <> 0")).toEqual([]);
	});
});

describe("worker: a voided click in the reports of a CPC publisher", () => {
	it("stays as a record of nothing, and leaves the sums", async () => {
		const click = clickMessage({ publisher: "identity-pc", campaignId: 11, at: AT, texts: { clickid: "mine", subi: "s" } });
		await consumeClicks(capDeps(), letters(click));
		expect((await report("clickid_level", CPC_KEY)).data).toMatchObject([{ rev_type: "CPC", publisher_revenue: "0.2000" }]);
		await adjust({ kind: "void_clicks", publisher: "pc" });
		expect(await report("clickid_level", CPC_KEY)).toMatchObject({
			total_records: 1,
			data: [{ ...{ rev_type: "VOID", transaction_id: click.hash, click_id: "mine" }, ...{ publisher_revenue: "0.0000", click_count: 0 } }],
		});
		expect(await askReport("clicklevel", CPC_KEY, PERIOD)).toMatchObject({
			total_records: 1,
			data: [{ click_id: "mine", revenue: "0.0000", click_date: "2026-11-10" }],
		});
		expect((await report("daywise", CPC_KEY)).data).toEqual([]);
		expect((await report("source_level", CPC_KEY)).data).toEqual([]);
	});
});

describe("worker: the list of adjustments", () => {
	it("comes page by page, the newest first", async () => {
		for (let n = 1; n <= 5; n++) await adjust({ kind: "amount", publisher: "pa", date: "2026-11-10", amount: String(n), text: `no. ${n}` });
		const texts: string[] = [];
		let cursor: string | null = null;
		do {
			const page: Awaited<ReturnType<typeof listAdjustments>> = await listAdjustments(
				`?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`,
			);
			expect(page.limit).toBe(2);
			texts.push(...page.data.map(({ text }) => text));
			cursor = page.next_cursor;
		} while (cursor !== null);
		expect([...texts].sort()).toEqual(["no. 1", "no. 2", "no. 3", "no. 4", "no. 5"]);
		expect(texts).toHaveLength(5);
	});
});
