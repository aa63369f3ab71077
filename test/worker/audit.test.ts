/** Who did what: each change of an operator's leaves a row in its transaction, which nobody changes or removes, and which holds no secret. */
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { type AuditPage, auditPageSchema } from "../../src/audit/audit-answer.ts";
import { auditStatement } from "../../src/audit/audit-statement.ts";
import { lookAtAudit } from "../../src/audit/list-audit.ts";
import { openDatabase, runTransaction } from "../../src/db/client.ts";
import { writeCursor } from "../../src/http/pages.ts";
import type { AuditSubject } from "../../src/lib/access-enums.ts";
import { ACTOR } from "../support/actor.ts";
import { ON_D1 } from "../support/engine.ts";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";

type Row = Record<string, string | number | null>;

const db = openDatabase(env.DB);
const FEED = "asin,seller_id,name,url,domain\nB000TEST02,S-77,Kettle,https://kettles.example/dp/B000TEST02,kettles.example\n";
const RATES = [{ currency: "EUR", date: "2026-11-10", usd: "1.1" }];
const AMOUNT = { id: "amount-1", kind: "amount", publisher: "acme", date: "2026-11-10", amount: "2.5", text: "a bonus" };
const REVALUE = { id: "revalue-1", currency: "EUR", from: "2026-11-10", to: "2026-11-10", text: "corrected" };

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], exchange_rates: RATES });
	await runTransaction(db, [
		sql`INSERT INTO callbacks (id, platform, txnid, publisher_id, status, payout_micros, cid, event_at, state, next_attempt_at, created_at, seq, attempt_count)
			VALUES ('callback-1', 'northwind', 't-1', 'acme', 'approved', 1000000, '', 1, 'delivered', 1, 1, 1, 0)`,
		sql`INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('dead-1', 'clicks', '{}', 1), ('dead-2', 'clicks', '{}', 2)`,
		sql`INSERT INTO daily_publishers (publisher_id, date, click_count) VALUES ('acme', '2026-11-09', 3)`,
	]);
});

async function rows(): Promise<Row[]> {
	return (await env.DB.prepare("SELECT * FROM audit ORDER BY id").all<Row>()).results;
}

/** What a request leaves in the audit. */
async function leaves(path: string, body: object | string): Promise<{ response: Response; left: Row[] }> {
	const before = (await rows()).map(({ id }) => id);
	const response = await exports.default.fetch(`https://base.example/operator${path}`, {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: typeof body === "string" ? body : JSON.stringify(body),
	});
	return { response, left: (await rows()).filter(({ id }) => !before.includes(id ?? "")) };
}

async function read(query: string, headers: Record<string, string> = OPERATOR_HEADERS): Promise<AuditPage> {
	const response = await exports.default.fetch(`https://base.example/operator/audit${query}`, { headers });
	expect(response.status).toBe(200);
	return v.parse(auditPageSchema, await response.json());
}

describe("worker: what an operator changes is kept with who changed it", () => {
	it("an import with what it adds, as it is from then on", async () => {
		const { left } = await leaves("/network", {
			platforms: [{ id: "new-west", name: "New West", currency: "EUR", postback_secret: "0123456789abcdef" }],
		});
		const added = left.find(({ subject_kind }) => subject_kind === "platform");
		expect(added).toMatchObject({ verb: "importNetwork", subject_id: "new-west", before: null });
		expect(JSON.parse(String(added?.after))).toEqual({ id: "new-west", name: "New West", currency: "EUR", postback_secret: "(secret)" });
	});

	it("a price among many, which an import changes or adds", async () => {
		const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`keyword ${String(at).padStart(3, "0")}`, "0.1000"]));
		const fileOf = (keyword_epc: object) => ({
			brands: [
				{
					domain: "keywords.example",
					name: "Keywords",
					campaigns: [{ campaign_id: 990_001, merchant_id: 1, platform: "northwind", country: "US", keyword_epc }],
				},
			],
		});
		const added = await leaves("/network", fileOf({ ...many, "keyword 098": "700.0000" }));
		expect(added.left.find(({ subject_kind }) => subject_kind === "campaign")?.after).toContain("700.0000");
		const { left } = await leaves("/network", fileOf({ ...many, "keyword 099": "900.0000" }));
		const changed = left.find(({ subject_kind }) => subject_kind === "campaign");
		expect([changed?.before, changed?.after].map((text) => JSON.parse(String(text)))).toEqual([
			{ keyword_epc: '{"keyword 099":"0.1000","keyword 098":"700.0000"}…' },
			{ keyword_epc: '{"keyword 099":"900.0000","keyword 098":"0.1000"}…' },
		]);
	});

	it("a publisher that an import changes behind a thousand others", async () => {
		const first = Date.parse("2020-01-01");
		const exchange_rates = Array.from({ length: 1_001 }, (_, at) => {
			return { currency: "CHF", date: new Date(first + at * 86_400_000).toISOString().slice(0, 10), usd: "1.1" };
		});
		const { left } = await leaves("/network", { exchange_rates, publishers: [{ id: "acme", revenue_share: 0.99 }] });
		expect(left.filter(({ subject_kind }) => subject_kind === "exchange_rate")).toHaveLength(1_000);
		expect(left.find(({ subject_kind }) => subject_kind === "publisher")).toMatchObject({
			subject_id: "acme",
			after: '{"revenue_share":0.99}',
		});
		const [ofImport] = left.filter(({ subject_kind }) => subject_kind === "import");
		expect(JSON.parse(String(ofImport?.counts))).toEqual({ added: 1_001, changed: 1, removed: 0 });
		await leaves("/network", { publishers: [{ id: "acme", revenue_share: 0.8 }] });
	});

	it.each<[string, object | string, object]>([
		["/learning/rebuild", { cursor: "2026-11-18" }, { verb: "rebuildLearning", subject_kind: "week" }],
		["/keys/issue", { kind: "access_key", owner: "acme" }, { verb: "issueKeys", subject_kind: "access_key", subject_id: "acme" }],
		["/keys/rotate", { kind: "platform_key", owner: "northwind" }, { verb: "rotateKeys", subject_kind: "platform_key" }],
		[
			"/keys/rotate",
			{ kind: "publisher_identity", owner: "acme", value: "acme_2" },
			{ verb: "rotateKeys", before: '{"value":"acme_rtb"}', after: expect.stringContaining('{"value":"acme_2","others_end_at":') },
		],
		["/keys/revoke", { kind: "publisher_identity", owner: "acme" }, { verb: "revokeKeys", counts: '{"names":1}' }],
		["/keys/revoke", { kind: "publisher_key", owner: "acme" }, { verb: "revokeKeys", after: '{"id":null}', counts: '{"keys":1}' }],
		[
			"/adjustments",
			AMOUNT,
			{ verb: "adjust", subject_kind: "publisher", subject_id: "acme", after: expect.stringContaining('"amount":"2.5"') },
		],
		["/adjustments", { kind: "undo", adjustment: "amount-1", text: "a mistake" }, { verb: "adjust", subject_id: "amount-1" }],
		["/adjustments", { kind: "void_clicks", publisher: "acme", text: "a farm" }, { verb: "adjust", subject_id: "acme" }],
		["/rates/revalue", REVALUE, { verb: "revalueRates", subject_kind: "exchange_rate", subject_id: "EUR" }],
		["/callbacks/replay", { publisher: "acme" }, { verb: "replayCallbacks", subject_kind: "publisher", counts: '{"callbacks":1}' }],
		["/callbacks/test", { url: "https://callbacks.invalid/?token=t" }, { verb: "testCallback", subject_id: "https://callbacks.invalid" }],
		["/replay", { queue: "clicks" }, { verb: "replayDeadLetters", subject_id: "clicks", counts: '{"dead_letters":2}' }],
		[
			"/reconcile-sums",
			{ repair: true, from: "2026-11-09", to: "2026-11-09" },
			{ verb: "reconcileSums", subject_id: "2026-11-09", before: expect.stringContaining('"value":3'), counts: '{"counters":1}' },
		],
	])("%s %j", async (path, body, expected) => {
		const { response, left } = await leaves(path, body);
		expect(response.status).toBe(200);
		expect(left).toEqual([expect.objectContaining({ actor: "operator", role: "admin", ...expected })]);
		expect(left[0]?.request_id).toBe(response.headers.get("x-request-id"));
	});

	it("a feed leaves a row before anything of it is written, and one of what came of it", async () => {
		const { left } = await leaves("/seller-products?feed=spring", FEED);
		expect(left.map(({ verb, subject_id, after, counts }) => [verb, subject_id, JSON.parse(String(after)).state, counts])).toEqual(
			expect.arrayContaining([
				["importSellerProducts", "spring", "begun", null],
				["importSellerProducts", "spring", "done", '{"accepted":1,"rejected":0,"removed":0}'],
			]),
		);
	});

	it.each<[string, object | string]>([
		["/keys/issue", { kind: "access_key", owner: "nobody" }],
		["/keys/revoke", { kind: "access_key", owner: "acme", id: "000000000000" }],
		["/keys/revoke", { kind: "publisher_id", owner: "acme" }],
		["/keys/list", { owner: "acme" }],
		["/adjustments?dry_run=1", { ...AMOUNT, id: "amount-2" }],
		["/adjustments", { ...AMOUNT, id: "amount-2", publisher: "nobody" }],
		["/adjustments", AMOUNT],
		["/rates/revalue?dry_run=1", { ...REVALUE, id: "revalue-2" }],
		["/callbacks/replay?dry_run=1", { publisher: "acme" }],
		["/callbacks/replay", { publisher: "nobody" }],
		["/replay", { queue: "callbacks" }],
		["/replay", { dry_run: true }],
		["/reconcile-sums", { from: "2026-11-09", to: "2026-11-09" }],
		["/reconcile-sums", { repair: true, from: "2026-11-09", to: "2026-11-09" }],
		["/seller-products", FEED.replace("S-77", "")],
		["/trace", { id: "t-1" }],
	])("what changes nothing leaves none: %s %j", async (path, body) => {
		expect((await leaves(path, body)).left).toEqual([]);
	});
});

describe("worker: the audit", () => {
	const entry = { verb: "issueKeys", subjectKind: "access_key", subjectId: "acme" } as const;

	it("is written with its change or not at all", async () => {
		const before = await rows();
		const nameless = { ...entry, subjectId: null as unknown as string };
		const failing = runTransaction(db, [
			auditStatement(ACTOR, Date.now(), entry),
			sql`UPDATE publishers SET name = 'Eve' WHERE id = 'acme'`,
			auditStatement(ACTOR, Date.now(), nameless),
		]);
		await expect(failing).rejects.toThrow();
		expect(await rows()).toEqual(before);
		expect(await env.DB.prepare("SELECT name FROM publishers").all()).toMatchObject({ results: [{ name: "Acme" }] });
	});

	it.each([
		"UPDATE audit SET actor = 'eve'",
		"DELETE FROM audit WHERE verb = 'issueKeys'",
		"INSERT INTO audit SELECT * FROM audit ORDER BY id LIMIT 1",
	])("is only added to: %s", async (statement) => {
		const before = await rows();
		expect(before.length).toBeGreaterThan(0);
		await expect(env.DB.prepare(statement).run()).rejects.toThrow();
		expect(await rows()).toEqual(before);
	});

	it("holds no secret that was issued, given or made up", async () => {
		const secrets: string[] = [ACME.access_key, ACME.publisher_key, NORTHWIND.access_key];
		for (const [verb, body] of [
			["issue", { kind: "publisher_key", owner: "acme" }],
			["rotate", { kind: "access_key", owner: "acme" }],
			["issue", { kind: "operator_key", owner: "ada", role: "viewer" }],
			["rotate", { kind: "operator_key", owner: "ada" }],
		] as const) {
			const { response } = await leaves(`/keys/${verb}`, body);
			secrets.push((await response.json<{ issued: { value: string } }>()).issued.value);
		}
		const kept = JSON.stringify(await rows());
		expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
		expect(kept).toContain('\\"role\\":\\"viewer\\"');
	});
});

describe("worker: reading the audit", () => {
	const AT = Date.parse("2026-10-01T00:00:00Z");
	const entries = Array.from({ length: 7 }, (_, n) => ({
		verb: n % 2 === 0 ? ("adjust" as const) : ("issueKeys" as const),
		subjectKind: "seller_product" as const,
		subjectId: `s-${n % 3}`,
	}));
	const OCTOBER = "subject_kind=seller_product";

	beforeAll(async () => {
		for (const [n, entry] of entries.entries()) {
			await runTransaction(db, [
				auditStatement({ ...ACTOR, name: n < 5 ? "ada" : "bob" }, AT + n * 3_600_000, { ...entry, counts: { n } }),
			]);
		}
	});

	const numbers = ({ data }: AuditPage) => data.map(({ counts }) => counts?.n);

	it.each([
		["", [6, 5, 4, 3, 2, 1, 0]],
		["&actor=bob", [6, 5]],
		["&verb=issueKeys", [5, 3, 1]],
		["&subject=s-0&actor=ada", [3, 0]],
		["&from=2026-10-01T03:00:00Z&to=2026-10-01T05:00:00Z", [4, 3]],
		["&from=2026-10-01&to=2026-10-01", [6, 5, 4, 3, 2, 1, 0]],
		["&to=2026-09-30", []],
		["&actor=%00'%22%F0%9F%92%A9", []],
	])("%s", async (query, expected) => {
		expect(numbers(await read(`?${OCTOBER}${query}`))).toEqual(expected);
	});

	it("finds what was done to a conversion by its transaction id alone, beside what is called so itself", async () => {
		const entries = ["northwind t-alone", "t-alone", "northwind t-other", "west t-alone"].map((subjectId) => ({
			verb: "adjust" as const,
			subjectKind: "conversion" as const,
			subjectId,
		}));
		await runTransaction(db, [auditStatement(ACTOR, AT + 172_800_000, entries)]);
		const subjects = async (subject: string) => (await read(`?subject=${encodeURIComponent(subject)}`)).data.map((row) => row.subject.id);
		expect((await subjects("t-alone")).sort()).toEqual(["northwind t-alone", "t-alone"]);
		expect(await subjects("northwind t-alone")).toEqual(["northwind t-alone"]);
		expect(await subjects("t-other")).toEqual(["northwind t-other"]);
	});

	it("finds an adjustment by its own id, whatever it was of, and a granted claim's", async () => {
		const adjusted = async (id: string, subject: [kind: AuditSubject, id: string], at: number, after: object = { id }) => {
			const [subjectKind, subjectId] = subject;
			await runTransaction(db, [
				sql`INSERT INTO adjustments (id, kind, actor, at, text, request) VALUES (${id}, 'amount', 'ada', ${at}, '', '{}')`,
				auditStatement(ACTOR, at, [
					{ verb: "adjust", subjectKind, subjectId, after },
					{ verb: "adjust", subjectKind, subjectId, after: { id: "another" } },
				]),
			]);
		};
		const at = AT + 172_800_000;
		await adjusted("bonus-1", ["publisher", "cpa"], at);
		await adjusted("claim-0192", ["conversion", "northwind t-claimed"], at + 1);
		await runTransaction(db, [
			auditStatement(ACTOR, at + 2, { verb: "adjust", subjectKind: "adjustment", subjectId: "bonus-1", after: { id: "undoing" } }),
		]);
		const found = async (query: string) => (await read(query)).data.map(({ subject, after }) => [subject.id, (after as { id: string }).id]);
		expect(await found("?subject=claim-0192")).toEqual([["northwind t-claimed", "claim-0192"]]);
		const both = [
			["bonus-1", "undoing"],
			["cpa", "bonus-1"],
		];
		expect(await found("?subject=bonus-1")).toEqual(both);
		expect(await found("?subject=bonus-1&actor=ada&verb=adjust")).toEqual(both);
		expect(await found("?subject=bonus-1&subject_kind=publisher")).toEqual([["cpa", "bonus-1"]]);
		const first = await read("?subject=bonus-1&limit=1");
		expect(first.data).toMatchObject([{ after: { id: "undoing" } }]);
		expect(await found(`?subject=bonus-1&limit=1&cursor=${first.next_cursor}`)).toEqual([["cpa", "bonus-1"]]);
		expect(await found("?subject=bonus-1&to=2026-10-02")).toEqual([]);
	});

	it("finds it on however many platforms it was done", async () => {
		const platform = (await db.all<Record<string, unknown>>(sql`SELECT * FROM platforms WHERE id = 'northwind'`))[0] ?? {};
		const many = Array.from({ length: 110 }, (_, n) => ({ ...platform, id: `many-${n}` }));
		const columns = sql.raw(Object.keys(platform).join(", "));
		for (const row of many) {
			const values = sql.join(
				Object.values(row).map((value) => sql`${value}`),
				sql`, `,
			);
			await db.run(sql`INSERT INTO platforms (${columns}) VALUES (${values})`);
		}
		const entries = many.map(({ id }) => ({ verb: "adjust" as const, subjectKind: "conversion" as const, subjectId: `${id} t-many` }));
		await runTransaction(db, [auditStatement(ACTOR, AT + 172_800_000, entries)]);
		expect((await read("?subject=t-many&limit=1000")).data).toHaveLength(110);
		await db.run(sql`DELETE FROM platforms WHERE id LIKE 'many-%'`);
	});

	it("comes in pages, the newest first, of which none is shown twice while others are added", async () => {
		const seen: unknown[] = [];
		let cursor: string | null = "";
		for (let pages = 0; cursor !== null; pages++) {
			expect(pages).toBeLessThan(5);
			const page: AuditPage = await read(`?${OCTOBER}&limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
			seen.push(...numbers(page));
			cursor = page.next_cursor;
			await runTransaction(db, [
				auditStatement(ACTOR, AT + 86_400_000, {
					verb: "adjust",
					subjectKind: "seller_product" as const,
					subjectId: "later",
					counts: { n: 9 },
				}),
			]);
		}
		expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
	});

	it.each([
		"cursor=x",
		"cursor=%00",
		`cursor=${writeCursor([1])}`,
		"limit=0",
		"limit=1e3",
		"from=2026-02-30",
		"to=yesterday",
		"verbs=adjust",
	])("%s: 422", async (query) => {
		const response = await exports.default.fetch(`https://base.example/operator/audit?${query}`, { headers: OPERATOR_HEADERS });
		expect(response.status).toBe(422);
	});

	it("an operation that the audit never names is refused; one that it may name, and one of earlier versions, are not", async () => {
		const ask = (verb: string) => exports.default.fetch(`https://base.example/operator/audit?verb=${verb}`, { headers: OPERATOR_HEADERS });
		for (const [verb, meant] of [
			["issueKey", "issueKeys"],
			["readAudit", "adjust"],
		]) {
			const refused = await ask(String(verb));
			const message = "is no operation that the audit names; did you mean `";
			expect([refused.status, await refused.json()]).toEqual([
				422,
				{ error: "Validation failed", faults: [{ path: "verb", message: `${message}${meant}\`?` }], fault_count: 1 },
			]);
		}
		expect((await read("?verb=moveDatabase")).data).toEqual([]);
		const response = await exports.default.fetch("https://base.example/operator/audit?subject_kind=acces_key", {
			headers: OPERATOR_HEADERS,
		});
		const message = "is no kind of thing that the audit names; did you mean `access_key`?";
		expect([response.status, await response.json()]).toMatchObject([422, { faults: [{ path: "subject_kind", message }] }]);
		await env.DB.prepare(
			"INSERT INTO audit (id, at, actor, role, verb, subject_kind, subject_id, request_id) VALUES ('0192', 1, 'ada', 'admin', 'former', 'page', 's-9', '')",
		).run();
		expect((await read("?verb=former")).data).toMatchObject([{ verb: "former", subject: { id: "s-9" } }]);
	});

	it("looks at a bounded number of rows for several filters, and goes on behind them", async () => {
		const many = Array.from({ length: 5_001 }, (_, n) => ({
			verb: "adjust" as const,
			subjectKind: n === 0 ? ("feed" as const) : ("week" as const),
			subjectId: "s-many",
		}));
		for (let at = 0; at < many.length; at += at === 0 ? 1 : 1_000) {
			await db.run(auditStatement(ACTOR, AT - 86_400_000 + Math.min(at, 1), many.slice(at, at + (at === 0 ? 1 : 1_000))));
		}
		const query = "?subject=s-many&subject_kind=feed";
		const first = await read(query);
		expect(first).toMatchObject({ data: [], next_cursor: expect.any(String) });
		expect(await read(`${query}&cursor=${first.next_cursor}`)).toMatchObject({ data: [{ subject: { kind: "feed" } }], next_cursor: null });
	});

	it.runIf(ON_D1).each([
		[{}, "sqlite_autoindex_audit_1"],
		[{ actor: "ada", verb: "adjust" }, "audit_by_actor"],
		[{ verb: "adjust", from: AT }, "audit_by_verb"],
		[{ subject: "s-1", subject_kind: "page", actor: "ada" }, "audit_by_subject"],
	])("%j is found by %s", async (query, index) => {
		const { looked } = lookAtAudit({ limit: 100, ...query });
		expect(await planOf(sql`${looked} ORDER BY id DESC LIMIT 101`)).toEqual([expect.stringContaining(index)]);
	});

	it("a cursor behind every row gives an empty page", async () => {
		expect(await read(`?cursor=${writeCursor([""])}`)).toEqual({ data: [], limit: 100, next_cursor: null });
	});
});
