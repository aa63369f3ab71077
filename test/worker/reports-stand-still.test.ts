/** Pages of clickid_level and clicklevel are of one moment, whatever settles, changes or is taken back between them. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { removeOld } from "../../src/retention/remove-old.ts";
import { adjust } from "../support/adjustments.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import {
	askReport,
	CPA_KEY,
	CPC_KEY,
	importReportNetwork,
	postReport,
	type ReportAnswer,
	type ReportFields,
} from "../support/report-rows.ts";

const at = (text: string) => Date.parse(text);
const PERIOD = { start_date: "2026-11-10", end_date: "2026-11-12" };
const REPORTS = [
	["clickid_level", "revenue-share", { report_type: "clickid_level", detail: 1, ...PERIOD }],
	["clicklevel", "clicklevel", { detail: 1, ...PERIOD }],
] as const;

type Click = ReturnType<typeof clickMessage>;
const click = (publisher: "pa" | "pc", time: string): Click =>
	clickMessage({ at: at(time), publisher: `identity-${publisher}`, brandId: 1, campaignId: 11, bidMicros: 300_000 });

let received = at("2026-11-20T00:00:00Z");
const postback = (txnid: string, { hash }: Click, fields: object = {}) =>
	postbackMessage("northwind", { txnid, cid: hash, payoutMicros: 10_000_000, salesMicros: 50_000_000, ...fields }, ++received);
const say = (...of: Parameters<typeof postback>) => consume(postback(...of));

/** Three clicks of each publisher at noon, and a conversion of each an hour later. */
async function begin(): Promise<{ pa: Click[]; pc: Click[] }> {
	const days = ["2026-11-10", "2026-11-11", "2026-11-12"];
	const made = { pa: days.map((day) => click("pa", `${day}T12:00:00Z`)), pc: days.map((day) => click("pc", `${day}T12:00:00Z`)) };
	await consumeClicks(capDeps(), letters(...made.pa, ...made.pc));
	const sales = (["pa", "pc"] as const).flatMap((publisher) =>
		made[publisher].map((of, n) => postback(`${publisher}-${n}`, of, { eventAt: of.at + 3_600_000 })),
	);
	await consume(...sales);
	return made;
}

type Path = "revenue-share" | "clicklevel";

/** Reads page by page, two records a page; `between` happens behind the first. */
async function readAll(path: Path, key: string, fields: ReportFields, between: () => Promise<unknown>): Promise<ReportAnswer[]> {
	const first = await askReport(path, key, { ...fields, limit: 2 });
	await between();
	const pages = [first];
	while (pages.length < first.total_pages) {
		pages.push(await askReport(path, key, { ...fields, limit: 2, page: pages.length + 1, as_of: Number(first.as_of) }));
	}
	return pages;
}

const recordsOf = (pages: readonly ReportAnswer[]) => pages.flatMap(({ data }) => data);

async function fault(path: Path, fields: ReportFields): Promise<[number, unknown]> {
	const response = await postReport(path, { key: CPA_KEY, body: JSON.stringify(fields), headers: { "content-type": "application/json" } });
	return [response.status, await response.json()];
}

beforeAll(importReportNetwork);

beforeEach(async () => {
	await forgetTraffic();
	await env.DB.prepare("UPDATE report_sequence SET oldest = 0, marked = 0, marked_at = 0").run();
});

describe("worker: reports stand still", () => {
	it.each(REPORTS)("%s: a back-dated conversion that settles between two pages shifts no record", async (_, path, fields) => {
		const { pa } = await begin();
		const extra = click("pa", "2026-11-10T00:30:00Z");
		await consumeClicks(capDeps(), letters(extra));
		const wanted = (await askReport(path, CPA_KEY, fields)).data;
		const pages = await readAll(path, CPA_KEY, fields, () => say("late", extra, { eventAt: extra.at }));
		expect(recordsOf(pages)).toEqual(wanted);
		expect(pages.map(({ total_records }) => total_records)).toEqual([pa.length, pa.length]);
		expect((await askReport(path, CPA_KEY, fields)).total_records).toBe(pa.length + 1);
	});

	it.each(REPORTS)("%s: what is cancelled, changed, moved or reopened between two pages is as it was", async (_, path, fields) => {
		const { pa } = await begin();
		const [first, second, third] = pa as [Click, Click, Click];
		const wanted = (await askReport(path, CPA_KEY, fields)).data;
		const pages = await readAll(path, CPA_KEY, fields, async () => {
			await say("pa-0", first, { eventAt: first.at + 3_600_000, status: "cancelled" });
			await say("pa-1", second, { eventAt: second.at + 5 * DAY_MS });
			await say("pa-2", third, { eventAt: third.at + 3_600_000, payoutMicros: 7_000_000, status: "pending" });
			await say("pa-2", third, { eventAt: third.at + 3_600_000, payoutMicros: 6_000_000, status: "cancelled" });
			await say("pa-2", third, { eventAt: third.at + 3_600_001, payoutMicros: 5_000_000 });
		});
		expect(recordsOf(pages)).toEqual(wanted);
		expect((await askReport(path, CPA_KEY, fields)).data).not.toEqual(wanted);
	});

	it.each(REPORTS)("%s: clicks that are paid, taken back or given back between two pages are as they were", async (_, path, fields) => {
		const { pc } = await begin();
		const ofFirstDay = { kind: "void_clicks", publisher: "pc", from: "2026-11-10", to: "2026-11-11" };
		const { id: voided } = await adjust(ofFirstDay);
		const wanted = (await askReport(path, CPC_KEY, fields)).data;
		expect(wanted).toHaveLength(3);
		const pages = await readAll(path, CPC_KEY, fields, async () => {
			await adjust({ kind: "undo", adjustment: voided });
			await adjust({ ...ofFirstDay, from: "2026-11-12", to: "2026-11-13" });
			await consumeClicks(capDeps(), letters(click("pc", "2026-11-10T03:00:00Z")));
			await say("pc-0", pc[0] as Click, { eventAt: at("2026-11-12T00:00:00Z"), status: "cancelled" });
			await say("another", pc[2] as Click, { eventAt: at("2026-11-10T00:00:00Z") });
			await adjust({ kind: "amount", publisher: "pc", date: "2026-11-10", amount: "2" });
		});
		expect(recordsOf(pages)).toEqual(wanted);
		expect((await askReport(path, CPC_KEY, fields)).data).not.toEqual(wanted);
	});

	it("a conversion that changes in nothing that reports show leaves no history", async () => {
		const { pa } = await begin();
		const before = await rowsOf("SELECT present FROM report_sequence");
		await say("pa-0", pa[0] as Click, { eventAt: (pa[0] as Click).at + 3_600_000, s2: "another" });
		expect(await rowsOf("SELECT event_count > 2 AS told FROM conversions WHERE txnid = 'pa-0'")).toEqual([{ told: 1 }]);
		expect([await rowsOf("SELECT * FROM conversion_history"), await rowsOf("SELECT present FROM report_sequence")]).toEqual([[], before]);
	});

	it("as_of must be a number that an answer gave, of these two reports", async () => {
		await begin();
		for (const [, path, fields] of REPORTS) {
			const { as_of } = await askReport(path, CPA_KEY, fields);
			expect(await fault(path, { ...fields, as_of: Number(as_of) + 1 })).toEqual([
				422,
				{ error: "Validation failed", messages: { as_of: ["The as_of field must be from an answer."] } },
			]);
			expect(await fault(path, { ...fields, as_of: "yesterday" })).toEqual([
				422,
				{ error: "Validation failed", messages: { as_of: ["The as_of field must be a whole number."] } },
			]);
			expect((await fault(path, { ...fields, as_of: "" }))[0]).toBe(200);
		}
		for (const report_type of ["daywise", "source_level"]) {
			const answer = await askReport("revenue-share", CPA_KEY, { report_type, ...PERIOD });
			expect(answer).not.toHaveProperty("as_of");
			expect(await fault("revenue-share", { report_type, ...PERIOD, as_of: 1 })).toEqual([
				422,
				{ error: "Validation failed", messages: { as_of: [`The as_of field is not for ${report_type}.`] } },
			]);
		}
	});

	it("CSV has as_of in a header", async () => {
		await begin();
		for (const [, path, fields] of REPORTS) {
			const { as_of } = await askReport(path, CPA_KEY, fields);
			const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
			const response = await postReport(path, { key: CPA_KEY, body, headers: { accept: "text/csv" } });
			expect(response.headers.get("x-as-of")).toBe(String(as_of));
		}
	});

	it("a moment can be read for a day, and is gone after two", async () => {
		const { pa } = await begin();
		const [, path, fields] = REPORTS[0];
		const begun = at("2026-11-21T00:00:00Z");
		const clean = (now: number) => removeOld({ db: openDatabase(env.DB), now: () => now, clickDays: 400, archive: undefined });
		await clean(begun);
		const { as_of, data } = await askReport(path, CPA_KEY, fields);
		await say("pa-0", pa[0] as Click, { eventAt: (pa[0] as Click).at, status: "cancelled" });
		const again = () => fault(path, { ...fields, as_of: Number(as_of) });
		for (const later of [1, DAY_MS - 1, DAY_MS]) {
			await clean(begun + later);
			expect(await again()).toMatchObject([200, { data }]);
		}
		expect(await rowsOf("SELECT count(*) AS rows FROM conversion_history")).toEqual([{ rows: 1 }]);
		await clean(begun + 2 * DAY_MS);
		expect(await again()).toEqual([
			410,
			{ error: "Gone", message: "The as_of field is of a moment too long ago: read the report again from page 1." },
		]);
		expect(await rowsOf("SELECT count(*) AS rows FROM conversion_history")).toEqual([{ rows: 0 }]);
	});
});
