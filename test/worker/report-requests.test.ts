/** What both report endpoints take, refuse and answer with: keys, bodies, methods, JSON and CSV. */
import { env, exports } from "cloudflare:workers";
import Papa from "papaparse";
import { beforeAll, describe, expect, it } from "vitest";
import { ACME } from "../support/network-import.ts";
import {
	askReport,
	CPA_KEY,
	CPC_KEY,
	clickRow,
	importReportNetwork,
	postReport,
	type ReportAnswer,
	store,
} from "../support/report-rows.ts";

const PATHS = ["revenue-share", "clicklevel"] as const;
const SOUND = { report_type: "clickid_level", start_date: "2026-11-09", end_date: "2026-11-11" };
const form = (fields: Record<string, string> = SOUND) => new URLSearchParams(fields);
const json = (fields: unknown = SOUND): RequestInit => ({ body: JSON.stringify(fields), headers: { "content-type": "application/json" } });

function multipart(): FormData {
	const data = new FormData();
	for (const [name, value] of Object.entries(SOUND)) data.append(name, value);
	return data;
}

beforeAll(async () => {
	await importReportNetwork();
	await store([clickRow({ publisher_click_id: "=1+1", subid1: 'a,"b"' }), clickRow({ publisher_click_id: "plain" })]);
});

describe.each(PATHS)("worker: %s", (path) => {
	it.each([
		["missing", null],
		["unknown", "nobody's-key"],
		["blank", ""],
		["a publisher key", ACME.publisher_key],
		["a platform key", "platform-key-northwind"],
		["not a key at all", `${CPA_KEY}, ${CPA_KEY}`],
	])("an AccessKey that is %s: 401 Unauthorized, before anything else is looked at", async (_name, key) => {
		const response = await postReport(path, { key, body: "not a form" });
		expect([response.status, await response.json()]).toEqual([401, { error: "Unauthorized" }]);
	});

	it.each([
		["a form", { body: form() }],
		["a form with a charset", { body: form().toString(), headers: { "content-type": "Application/X-WWW-Form-URLencoded; charset=UTF-8" } }],
		["a form whose encoding is a charset", { body: form(), headers: { "content-encoding": "UTF-8" } }],
		["a multipart form", { body: multipart() }],
		["JSON", json()],
		["JSON with numbers", json({ ...SOUND, page: 1, limit: 1000 })],
		["JSON and nulls", json({ ...SOUND, page: null, unknown: { nested: [] } })],
	])("takes %s", async (_name, init: RequestInit) => {
		const response = await postReport(path, { key: CPC_KEY, ...init });
		expect(response.status).toBe(200);
		expect(response.headers.get("content-type")).toBe("application/json");
		expect(await response.json()).toMatchObject({ page: 1, limit: 1000, total_records: 2, total_pages: 1 });
	});

	it("takes from the query string what the body lacks", async () => {
		const url = `https://base.example/api/reporting/${path}?${form({ ...SOUND, page: "7" })}`;
		const bare = await exports.default.fetch(url, { method: "POST", headers: { AccessKey: CPC_KEY } });
		expect(await bare.json()).toMatchObject({ page: 7, total_records: 2 });
		const headers = { AccessKey: CPC_KEY, "content-encoding": "gzip" };
		expect((await exports.default.fetch(url, { method: "POST", headers, body: "" })).status).toBe(200);
		const both = await exports.default.fetch(url, { method: "POST", headers: { AccessKey: CPC_KEY }, body: form({ page: "1" }) });
		expect(await both.json()).toMatchObject({ page: 1, total_records: 2 });
		const blank = await exports.default.fetch(url, { method: "POST", headers: { AccessKey: CPC_KEY }, body: form({ page: " " }) });
		expect(await blank.json()).toMatchObject({ page: 7, total_records: 2 });
	});

	it("without fields: 422 that names each", async () => {
		const response = await postReport(path, {});
		expect(response.status).toBe(422);
		const { error, messages } = await response.json<{ error: string; messages: Record<string, string[]> }>();
		expect(error).toBe("Validation failed");
		expect(Object.keys(messages)).toEqual(path === "clicklevel" ? ["start_date", "end_date"] : ["report_type", "start_date", "end_date"]);
		expect(Object.values(messages).every((of) => Array.isArray(of) && of.every((text) => typeof text === "string"))).toBe(true);
	});

	it.each([
		["reversed dates", { start_date: "2026-11-11", end_date: "2026-11-09" }, "end_date"],
		["a malformed date", { start_date: "11/09/2026" }, "start_date"],
		["too long a period", { start_date: "2026-10-01", end_date: "2026-11-01" }, "end_date"],
		["page 0", { page: "0" }, "page"],
		["a negative page", { page: "-1" }, "page"],
		["a huge page", { page: "99999999999999999999" }, "page"],
		["a page that is no number", { page: "one" }, "page"],
		["limit 0", { limit: "0" }, "limit"],
		["a huge limit", { limit: "100000" }, "limit"],
	])("%s: 422 under its field", async (_name, fields, field) => {
		const response = await postReport(path, { body: form({ ...SOUND, ...fields }) });
		const { error, messages } = await response.json<{ error: string; messages: Record<string, string[]> }>();
		expect([response.status, error, Object.keys(messages)]).toEqual([422, "Validation failed", [field]]);
	});

	it.each([
		["broken JSON", { body: '{"start_date":', headers: { "content-type": "application/json" } }, 422],
		["JSON that is no object", json([SOUND]), 422],
		["JSON null", json(null), 422],
		["a multipart body that is none", { body: "x", headers: { "content-type": "multipart/form-data; boundary=b" } }, 422],
		["a multipart body without a boundary", { body: "x", headers: { "content-type": "multipart/form-data" } }, 422],
		["a file where text belongs", { body: withFile() }, 422],
		["plain text", { body: form().toString(), headers: { "content-type": "text/plain" } }, 415],
		["XML", { body: "<a/>", headers: { "content-type": "application/xml" } }, 415],
		["a compressed form", { body: form(), headers: { "content-encoding": "gzip" } }, 415],
		["a compressed multipart form", { body: multipart(), headers: { "content-encoding": "gzip" } }, 415],
		["a body of 100 kB", { body: form({ ...SOUND, x: "x".repeat(100_000) }) }, 413],
	])("%s: a clear error", async (_name, init: RequestInit, status) => {
		const response = await postReport(path, init);
		expect(response.status).toBe(status);
		expect(typeof (await response.json<{ error: string }>()).error).toBe("string");
	});

	it.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])("%s: 405 with Allow", async (method) => {
		const response = await exports.default.fetch(`https://base.example/api/reporting/${path}`, { method, headers: { AccessKey: CPA_KEY } });
		expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
		await response.body?.cancel();
	});

	it("strange text in every field is an answer, never a fault of ours", async () => {
		for (const text of ["'; DROP TABLE clicks; --", "\u0000", "😀", "٣", "%", "NULL", "\ud800", "2026-11-09\n"]) {
			const fields = Object.fromEntries(["report_type", "start_date", "end_date", "page", "limit"].map((name) => [name, text]));
			for (const init of [{ body: form(fields) }, json(fields)]) {
				const response = await postReport(path, init);
				expect(response.status).toBe(422);
				await response.body?.cancel();
			}
		}
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM clicks").first("n")).toBe(2);
	});

	it.each([
		["text/csv", true],
		["TEXT/CSV", true],
		["text/*", true],
		["application/json;q=0.5, text/csv", true],
		["text/csv;q=0.5, application/json", false],
		["text/csv;q=0", false],
		["application/json", false],
		["*/*", false],
		["image/png", false],
		["", false],
	])("Accept %j: CSV %s", async (accept, isCsv) => {
		const response = await postReport(path, { key: CPC_KEY, body: form(), headers: { accept } });
		expect(response.status).toBe(200);
		expect(response.headers.get("content-type")).toBe(isCsv ? "text/csv; charset=utf-8; header=present" : "application/json");
		expect([response.headers.get("vary"), response.headers.get("cache-control")]).toEqual(["AccessKey, Accept", "no-store"]);
		await response.body?.cancel();
	});

	it("CSV has the same rows, with formulas made text, and the envelope in headers", async () => {
		const fields = { ...SOUND, limit: "1", page: "1" };
		const answer = await (await postReport(path, { key: CPC_KEY, body: form(fields) })).json<ReportAnswer>();
		const response = await postReport(path, { key: CPC_KEY, body: form(fields), headers: { accept: "text/csv" } });
		const { data } = Papa.parse<Record<string, string>>((await response.text()).trimEnd(), { header: true });
		expect(data).toHaveLength(1);
		const shown = Object.fromEntries(Object.entries(answer.data[0] ?? {}).map(([name, value]) => [name, String(value)]));
		expect(data[0]).toMatchObject({ ...shown, click_id: "'=1+1" });
		const envelope = ["x-page", "x-limit", "x-total-records", "x-total-pages"].map((name) => Number(response.headers.get(name)));
		expect(envelope).toEqual([answer.page, answer.limit, answer.total_records, answer.total_pages]);
	});

	it("CSV of no records has the header that any page would have", async () => {
		const headerOf = async (fields: Record<string, string>) =>
			(await (await postReport(path, { key: CPC_KEY, body: form(fields), headers: { accept: "text/csv" } })).text()).split("\r\n")[0];
		expect(await headerOf({ ...SOUND, page: "9" })).toBe(await headerOf(SOUND));
	});

	it("errors are JSON also where CSV was asked for", async () => {
		const response = await postReport(path, { headers: { accept: "text/csv" } });
		expect([response.status, response.headers.get("content-type")]).toEqual([422, "application/json"]);
		await response.body?.cancel();
	});
});

function withFile(): FormData {
	const data = multipart();
	data.set("start_date", new File(["2026-11-09"], "day.txt"));
	return data;
}

describe("worker: a report request", () => {
	it("of a repeated field the first counts", async () => {
		const body = new URLSearchParams([...Object.entries(SOUND), ["page", "2"], ["page", "3"]]);
		expect(await (await postReport("clicklevel", { body })).json()).toMatchObject({ page: 2 });
	});

	it("an unknown report type: 422", async () => {
		const response = await postReport("revenue-share", { body: form({ ...SOUND, report_type: "hourly" }) });
		expect([response.status, await response.json()]).toEqual([
			422,
			{
				error: "Validation failed",
				messages: { report_type: ["The report_type field must be one of daywise, clickid_level, source_level."] },
			},
		]);
	});

	it("31 days are taken by revenue-share, and dates 2 days apart by clicklevel", async () => {
		await askReport("revenue-share", CPA_KEY, { report_type: "daywise", start_date: "2026-10-02", end_date: "2026-11-01" });
		await askReport("clicklevel", CPA_KEY, { start_date: "2026-10-30", end_date: "2026-11-01" });
		const response = await postReport("clicklevel", { body: form({ start_date: "2026-10-30", end_date: "2026-11-02" }) });
		expect(response.status).toBe(422);
		await response.body?.cancel();
	});
});
