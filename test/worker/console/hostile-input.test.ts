/**
 * Every page of the console as every role, asked in strange ways, over a network in which every text that anyone can give is markup: it
 * answers by a page, never by a fault of ours, and nothing of what was typed becomes markup. PROPERTY_RUNS=3000 asks more often.
 */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { PAGES } from "../../../src/console/console-routes.ts";
import type { Page } from "../../../src/console/page.ts";
import { MAX_CSV_ROWS } from "../../../src/console/publisher/earnings.tsx";
import { capDeps, clickMessage, letters } from "../../support/click-messages.ts";
import { get, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { callPostback, consume, importConversionNetwork, postbackMessage, publisherEntry, WEST_KEY } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";
import { importFile } from "../../support/network-import.ts";
import { setPublisher } from "../../support/report-rows.ts";

const RUNS = Number(env.PROPERTY_RUNS || 60);
const AT = Date.parse("2026-11-17T10:00:00Z");
/** Stands in every text that is stored or sent; no page may hold it but escaped. */
const MARK = "<mark-7f>";
/** What would end an attribute, an element or a script that it stood in. */
const BREAKOUT = `"'></textarea></script>${MARK}`;
const STATUSES = [200, 303, 307, 308, 400, 401, 403, 404, 409, 410, 412, 413, 422, 429];

const visitors: Record<string, Visitor | undefined> = { nobody: undefined, forged: { cookie: `__Host-session=${"A".repeat(43)}` } };

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	// Publishers' addresses, which tests of them call, are not part of the simulator.
	vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(BREAKOUT, { status: 404 }));
	await importConversionNetwork();
	await importFile({ publishers: [publisherEntry("cpa", { name: `Acme ${BREAKOUT}` })] });
	for (const role of ["viewer", "manager", "finance", "admin"]) visitors[role] = await signIn({ staff: `the ${role}`, role });
	for (const role of ["owner", "analyst"]) visitors[role] = await signIn({ publisher: "cpa", name: `the ${role}`, role });
	visitors.suspended = await signIn({ publisher: "quiet", name: "Quiet" });
	await setPublisher("quiet", "status", "suspended");
	visitors.viewing = await signIn({ staff: "looks", role: "viewer" });
	await post("/console/view-as", visitors.viewing, { publisher: "cpa" });
	const click = (fields: object) => clickMessage({ at: AT, campaignId: 11, kind: "link", publisher: "identity-cpa", ...fields });
	await consumeClicks(
		capDeps(() => AT),
		letters(
			click({ hash: "a".repeat(32), texts: { clickid: BREAKOUT, subi: `=1+1${BREAKOUT}` } }),
			click({ hash: "b".repeat(32), reason: "bot", texts: { clickid: MARK } }),
		),
	);
	await consume(
		postbackMessage("west", { cid: "a".repeat(32), txnid: BREAKOUT, eventAt: AT, status: MARK }, AT),
		postbackMessage("west", { cid: "0".repeat(32), txnid: `${MARK}/../?#%2f`, eventAt: AT }, AT),
	);
	await callPostback(WEST_KEY, new URLSearchParams({ txnid: MARK, cid: MARK, payout: BREAKOUT, edate: MARK, status: MARK }).toString());
	await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d-1', 'postbacks', ?, ?)")
		.bind(JSON.stringify({ text: BREAKOUT }), AT)
		.run();
	const amount = { kind: "amount", publisher: "cpa", date: "2026-11-17", amount: "1.50", text: BREAKOUT, step: "do" };
	expect((await post("/console/operator/adjustments", visitors.finance, amount)).status).toBe(303);
});

/** Ids that are someone's, and texts that are nothing. */
const VALUES: readonly string[] = [
	...["", " ", "0", "1", "-1", "11", "1e999", "NaN", "9".repeat(30), "cpa", "cpc", "west", "shoes.example", "the owner", "quiet"],
	...[
		"a".repeat(32),
		"d-1",
		BREAKOUT,
		`${MARK}/../?#%2f`,
		MARK,
		"=HYPERLINK(1)",
		"\u0000",
		"\ud800",
		"%",
		"%ff",
		"__proto__",
		"constructor",
	],
	...["2026-11-17", "2026-11-18T00:00:00Z", "0000-01-01", "-271821-04-20", "+275760-09-13", "9999-12-31", "2026-02-30", "soon"],
	...[
		"W10",
		"WzFd",
		"WyIiXQ",
		"W251bGxd",
		"e30",
		btoa('["cpa",1]'),
		btoa("[".repeat(5_000)),
		"day",
		"source",
		"day,source",
		"publisher,source",
		"reason",
	],
	...["paid", "bot", "do", "void_clicks", "amount", "undo", "revalue", "1.5", "operator_key", "access_key", "admin", "owner", "postbacks"],
	...[
		"javascript:alert(1)",
		"//evil.example/",
		"/console/../x",
		"https://shoes.example/\r\nset-cookie: a=b",
		"[]",
		"{}",
		"null",
		"[[[[",
		'{"a":',
	],
	...[
		`{"id":"1","imp":[{"id":"${MARK}"}],"site":{"domain":"shoes.example"}}`,
		"bd=shoes.example&cc=US",
		"x".repeat(3_000),
		"ü’\u202e\u2028",
	],
];
/** Of any page, beside those of its own forms. */
const NAMES = ["id", "from", "to", "cursor", "limit", "group", "step", "done", "next", "publisher", "kind", "ended", "__proto__", "x"];
const TYPES = [
	"application/x-www-form-urlencoded",
	"application/x-www-form-urlencoded;charset=utf-16",
	"multipart/form-data",
	"application/json",
	"text/plain",
	"",
];

/** Names of the fields of a page's forms, as whoever may see the most of it finds them. */
const fieldNames = new Map<Page, readonly string[]>();

async function readFieldNames(): Promise<void> {
	const seen = new Map<string, Set<string>>();
	for (const page of PAGES.filter(({ method, isData }) => method === "GET" && isData === undefined)) {
		const names = new Set<string>();
		for (const who of ["owner", "admin"]) {
			const text = await (await get(page.path.replaceAll(/:\w+/g, "west"), visitors[who])).text();
			for (const [, name = ""] of text.matchAll(/ name="([\w.[\]-]+)"/g)) names.add(name);
		}
		seen.set(page.path, names);
	}
	for (const page of PAGES) {
		const near = [...seen].filter(([path]) => page.path === path || page.path.startsWith(`${path}/`) || path.startsWith(`${page.path}/`));
		fieldNames.set(page, [...new Set([...near.flatMap(([, names]) => [...names]), ...NAMES])]);
	}
}

const value = fc.constantFrom(...VALUES);
const roles = ["nobody", "forged", "viewer", "manager", "finance", "admin", "owner", "analyst", "suspended", "viewing"];
/** Leaving, and changing whose console it is, would end the looking of the others. */
const LASTING = PAGES.filter(({ path }) => path !== "/console/sign-out" && path !== "/console/view-as");

const asking = fc.constantFrom(...LASTING).chain((page) =>
	fc.record({
		page: fc.constant(page),
		who: fc.constantFrom(...roles),
		method: fc.oneof(
			{ weight: 12, arbitrary: fc.constant<string>(page.method) },
			fc.constantFrom("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"),
		),
		parts: fc.array(fc.oneof(value, fc.string({ unit: "binary", minLength: 1, maxLength: 20 })), { minLength: 3, maxLength: 3 }),
		query: fc.array(fc.tuple(fc.nat(), value), { maxLength: 4 }),
		form: fc.array(fc.tuple(fc.nat(), value), { maxLength: 8 }),
		type: fc.oneof({ weight: 12, arbitrary: fc.constant(TYPES[0] ?? "") }, fc.constantFrom(...TYPES)),
	}),
);
type Asking = typeof asking extends fc.Arbitrary<infer Asked> ? Asked : never;

function addressOf({ page, parts, query }: Asking): string {
	let at = 0;
	const path = page.path.replaceAll(/:\w+/g, () => encodeURIComponent((parts[at++] || "x").toWellFormed()).replace(/^\.{1,2}$/, "x"));
	const search = parametersOf(page, query);
	return search === "" ? path : `${path}?${search}`;
}

function parametersOf(page: Page, given: readonly (readonly [number, string])[]): string {
	const names = fieldNames.get(page) ?? NAMES;
	return new URLSearchParams(given.map(([at, text]) => [names[at % names.length] ?? "id", text.toWellFormed()])).toString();
}

async function check(asked: Asking): Promise<void> {
	const { page, who, method, form, type } = asked;
	const address = addressOf(asked);
	const hasBody = method !== "GET" && method !== "HEAD";
	const response = await exports.default.fetch(OWN.origin + address, {
		method,
		redirect: "manual",
		headers: { ...OWN, "content-type": type, ...visitors[who] },
		...(hasBody && { body: parametersOf(page, form) }),
	});
	const text = await response.text();
	const told = `${method} ${address} as ${who}: ${hasBody ? parametersOf(page, form) : ""}`;
	expect(STATUSES, `${response.status} to ${told}`).toContain(response.status);
	expect(text.includes(MARK) && response.headers.get("content-type")?.startsWith("text/html"), told).toBe(false);
	const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
	expect(
		ids.filter((id, at) => ids.indexOf(id) !== at),
		told,
	).toEqual([]);
	const location = response.headers.get("location");
	if (location !== null) expect(new URL(location, OWN.origin).origin, told).toBe(OWN.origin);
}

const fieldOf = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";

describe("worker: a form of the console", () => {
	it("adds an amount once, also where the browser went back and sent the form before again", async () => {
		const PATH = "/console/operator/adjustments";
		const [, form = ""] = (await (await get(PATH, visitors.finance)).text()).split('value="amount"');
		const id = fieldOf(form, "id");
		const amount = { kind: "amount", publisher: "cpc", date: "2026-11-17", amount: "2.50", text: "goodwill", id };
		for (let times = 0; times < 2; times++) {
			const look = await shown(post(PATH, visitors.finance, amount));
			expect([look.status, fieldOf(look.text, "id")]).toEqual([200, id]);
			expect((await post(PATH, visitors.finance, { ...amount, step: "do", id: fieldOf(look.text, "id") })).status).toBe(303);
		}
		const sum = await env.DB.prepare("SELECT SUM(adjustment_micros) AS sum FROM daily_publishers WHERE publisher_id = 'cpc'").first("sum");
		expect(sum).toBe(2_500_000);
		const faulty = await shown(post(PATH, visitors.finance, { ...amount, amount: "much" }));
		expect([faulty.status, faulty.text.includes(`name="id" value="${id}"`)]).toEqual([422, true]);
	});

	it.each([
		["/console/no-bids/try", "owner", 128 * 1024],
		["/console/operator/explain", "viewer", 1024 * 1024],
	])("%s takes no larger request than its endpoint", async (path, who, bytes) => {
		const request = JSON.stringify({ id: "1", imp: [{ id: "1" }], ext: "x".repeat(bytes) });
		expect((await shown(post(path, visitors[who], { who: "identity-cpa", request }))).status).toBe(413);
	});

	it.each(["/console/no-bids/try", "/console/operator/explain"])("%s takes a request as deep as it gets", async (path) => {
		const who = path.includes("operator") ? "viewer" : "owner";
		const request = `{"id":"1","imp":[{"id":"1"}],"site":{"domain":"shoes.example"},"ext":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
		expect([200, 422]).toContain((await shown(post(path, visitors[who], { who: "identity-cpa", request }))).status);
	});

	it("of a time that is none is told so", async () => {
		for (const time of ["to=soon", "to=-271821-04-20", "from=soon", "from=2026-11-18&to=2026-11-17"])
			expect([time, (await get(`/console/operator?${time}`, visitors.viewer)).status]).toEqual([time, 422]);
	});

	it("gives no CSV that is larger than can be made at once", async () => {
		await env.DB.prepare(
			`INSERT INTO daily_sources (publisher_id, date, source_id, click_count, click_revenue_micros)
			WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at <= ${MAX_CSV_ROWS})
			SELECT 'quiet', '2026-11-17', 'source ' || at, 1, 0 FROM n`,
		).run();
		const csv = await get("/console/earnings.csv?group=source&from=2026-11-17&to=2026-11-18", visitors.suspended);
		expect([csv.status, await csv.json()]).toMatchObject([422, { faults: [{ path: "from" }] }]);
		const network = await get("/console/operator/traffic.csv?group=source&from=2026-11-17&to=2026-11-18", visitors.viewer);
		expect([network.status, await network.json()]).toMatchObject([422, { faults: [{ path: "from" }] }]);
	}, 60_000);

	it("gives no cell of the CSV that a spreadsheet would run", async () => {
		const text = await (await get("/console/earnings.csv?group=source&from=2026-11-11&to=2026-11-18", visitors.owner)).text();
		expect(text).toContain("'=1+1");
	});
});

describe("worker: every page of an id, asked for another party's", () => {
	it("answers every role as if there were none, and changes nothing", async () => {
		const opened = await shown(post("/console/claims", visitors.owner, { kind: "missing", id: "b".repeat(32), text: "sold" }));
		const [, claim = ""] = /href="\/console\/claims\/([^"]+)"/.exec(opened.text) ?? [];
		const person =
			(await env.DB.prepare("SELECT id FROM console_people WHERE publisher_id = 'cpa' AND name = 'the analyst'").first<string>("id")) ?? "";
		const others: Record<string, Visitor | undefined> = { ...visitors };
		for (const role of ["owner", "analyst"]) others[role] = await signIn({ publisher: "cpc", name: `other ${role}`, role });
		others.viewing = await signIn({ staff: "looks elsewhere", role: "viewer" });
		await post("/console/view-as", others.viewing, { publisher: "cpc" });
		/** What is the publisher's cpa, by where it stands; a page of any other id is not held by this test, and fails it. */
		const theirs: readonly (readonly [prefix: string, id: string])[] = [
			["/console/conversions/:id", BREAKOUT],
			["/console/claims/:id", claim],
			["/console/settings/members/:person", person],
			["/console/operator/staff/:person", person],
			["/console/operator/publishers/:publisher/people/:person", person],
		];
		const stored = async () =>
			Promise.all(["claims", "console_people"].map((table) => env.DB.prepare(`SELECT * FROM ${table} ORDER BY id`).all()));
		const before = (await stored()).map(({ results }) => results);
		const asked = PAGES.filter(
			({ path, needs }) => path.includes(":person") || (path.includes(":") && typeof needs !== "string" && "publisher" in needs),
		);
		for (const page of asked.filter(({ path }) => path !== "/console/brands/:domain")) {
			const id = theirs.find(([prefix]) => page.path === prefix || page.path.startsWith(`${prefix}/`))?.[1];
			if (id === undefined) throw new Error(`Whose are the ids of ${page.path}?`);
			const addressOf = (part: string) => page.path.replace(":publisher", "cpc").replace(/:\w+/, () => encodeURIComponent(part));
			const ask = (part: string, who: Visitor | undefined) =>
				page.method === "GET" ? get(addressOf(part), who) : post(addressOf(part), who, { role: "owner", text: "mine" });
			if (page.method === "GET" && page.path.startsWith("/console/c"))
				expect([page.path, (await ask(id, visitors.owner)).status]).toEqual([page.path, 200]);
			for (const [role, who] of Object.entries(others)) {
				const { status } = await ask(id, who);
				expect([page.path, role, status]).toEqual([page.path, role, (await ask("nothing", who)).status]);
				expect([303, 401, 403, 404], `${page.path} as ${role}`).toContain(status);
			}
		}
		expect(asked.length).toBeGreaterThan(15);
		expect((await stored()).map(({ results }) => results)).toEqual(before);
	});
});

describe("worker: any page asked by anyone for anything", () => {
	it("answers by a page, and takes no text for markup", async () => {
		await readFieldNames();
		await fc.assert(fc.asyncProperty(asking, check), { numRuns: RUNS });
	}, 600_000);
});
