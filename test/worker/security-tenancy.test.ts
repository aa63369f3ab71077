/** One publisher's key never shows what is another's: on every endpoint that is described, whatever it is asked for. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openCountedWorker } from "../support/counted-worker.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { openLink, productEntry, sellerEntry } from "../support/product-search.ts";
import { clickRow, conversionRow, store } from "../support/report-rows.ts";

const DAY = "2026-11-10";

/** Whatever is this publisher's and may be seen has its mark in it. */
function publisherOf(mark: string) {
	return {
		...ACME,
		id: `id-${mark}`,
		name: `Name ${mark}`,
		publisher_id: `pubi-${mark}`,
		publisher_identity: `identity-${mark}`,
		seat: `seat-${mark}`,
		access_key: `access-key-${mark}`,
		publisher_key: `publisher-key-${mark}`,
		marketplace_tag: `tag-${mark}`,
		callback_url: `https://${mark}.example/s2s`,
		sales_data_enabled: true,
		campaign_id_enabled: true,
	};
}

const [A, B] = [publisherOf("of-a"), publisherOf("of-b")];
const LISTS = ["/api/brands-list", "/api/brands-list-by-traffic-type?traffic_type=All"];

type Operation = { operationId: string; security: Record<string, unknown>[]; parameters?: { name: string; in: string }[] };
const { paths } = await (await exports.default.fetch("http://base.example/openapi.json")).json<{
	paths: Record<string, Record<string, Operation>>;
}>();
/** Every operation that a publisher's key opens. */
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
	Object.entries(methods).flatMap(([method, { operationId, security, parameters = [] }]) => {
		const header = Object.keys(security[0] ?? {}).find((name) => name === "AccessKey" || name === "PublisherKey");
		return header === undefined
			? []
			: [{ id: operationId, path, method: method.toUpperCase(), header, takes: parameters.map(({ name }) => name) }];
	}),
);

/** Everything that a request may name, and the other publisher wherever one could be named. */
const ASKED = {
	traffic_type: "All",
	keyword: "boots",
	q: "boots",
	group: "day",
	from: DAY,
	to: DAY,
	start_date: DAY,
	end_date: DAY,
	publisher: "id-of-b",
	publisher_id: "pubi-of-b",
	publisher_identity: "identity-of-b",
	pubi: "pubi-of-b",
	owner: "id-of-b",
	access_key: "access-key-of-b",
};
/** What else some are asked for, that they have an answer to. @param mark of the publisher who asks */
const BODIES: Record<string, unknown> = {
	makeLinks: { urls: ["https://shoes.example/", "https://marketplace.example/"] },
	tellAuctions: { auctions: [{ id: "auction-1", loss: 0 }] },
	explainOwnBid: { query: "bd=shoes.example&cc=US&pubi=pubi-of-b" },
	replayOwnCallbacks: { from: DAY, dry_run: true },
	openClaim: { kind: "wrong", id: "click-of-b", text: "It paid more." },
	replyToClaim: { text: "And more." },
};
/** What is a publisher's own of the paths that name one. @param mark of the publisher */
const OWN: Record<string, (mark: string) => string> = {
	replyToClaim: (mark) => `replied-${mark}`,
	withdrawClaim: (mark) => `withdrawn-${mark}`,
};
const ownOf = (operation: string, mark: string) => (OWN[operation] ?? ((of: string) => `callback-${of}`))(mark);
/** Has us call the publisher, a few times a minute. */
const CALLING = /^\/api\/callbacks\//;
/** What may be asked as often as a test likes. */
const isQuiet = ({ path }: { path: string }) => !CALLING.test(path);
const REPORT_TYPES = ["daywise", "clickid_level", "source_level"];

async function askAll(
	{ id, path, method, header, takes }: (typeof OPERATIONS)[number],
	{ access_key, publisher_key }: typeof A,
): Promise<string> {
	const key = header === "AccessKey" ? access_key : publisher_key;
	const url = `https://base.example${path.replaceAll(/\{\w+\}/g, "id-of-b")}`;
	const fetch = (search: string, init: RequestInit = {}) =>
		exports.default.fetch(`${url}?${search}`, { ...init, method, headers: { [header]: key, ...init.headers } });
	const answers: Response[] = [await fetch(new URLSearchParams(ASKED).toString())];
	// Some refuse what they do not know.
	const known = Object.fromEntries(Object.entries(ASKED).filter(([name]) => takes.includes(name)));
	if (answers[0]?.status === 422) answers.push(await fetch(new URLSearchParams(known).toString()));
	// By ids of the other.
	for (const other of ["id-of-b", "click-of-b", "txn click-of-b", "callback-of-b"]) {
		if (method === "GET") answers.push(await fetch(new URLSearchParams({ ...ASKED, id: other, txnid: other }).toString()));
		if (method === "GET" && takes.includes("id")) answers.push(await fetch(new URLSearchParams({ ...known, id: other }).toString()));
	}
	if (path.includes("{")) {
		const body = id in BODIES ? { body: JSON.stringify(BODIES[id]) } : {};
		const ask = (of: string) =>
			exports.default.fetch(`https://base.example${path.replaceAll(/\{\w+\}/g, ownOf(id, of))}`, {
				method,
				headers: { [header]: key },
				...body,
			});
		const mark = key.slice(-"of-a".length);
		answers.push(await ask(mark));
		const ofOther = await ask(mark === "of-a" ? "of-b" : "of-a");
		expect(ofOther.status).toBe(404);
		answers.push(ofOther);
	}
	if (id in BODIES) answers.push(await fetch("", { body: JSON.stringify(BODIES[id]) }));
	if (method === "POST" && isQuiet({ path })) {
		for (const report_type of REPORT_TYPES) {
			const fields = { ...ASKED, report_type };
			answers.push(await fetch("", { body: new URLSearchParams(fields) }));
			answers.push(await fetch("", { body: JSON.stringify(fields), headers: { "content-type": "application/json" } }));
		}
	}
	const texts = await Promise.all(answers.map((answer) => answer.text()));
	expect(answers.some(({ status }) => status === 200)).toBe(true);
	return texts.join("\n");
}

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [A, B],
		brands: [
			brandEntry("shoes.example", 11, { traffic_types: ["All"] }),
			brandEntry("marketplace.example", 12, { marketplace: true, traffic_types: ["All"] }),
		],
		products: [productEntry("P-1", "Boots"), productEntry("P-2", "Boots", { domain: "marketplace.example" })],
		seller_products: [sellerEntry("A-1", "Boots")],
	});
	const clicks = ["of-a", "of-b"].map((mark) =>
		clickRow({
			clicked_at: Date.parse(`${DAY}T12:00:00Z`),
			publisher_id: `id-${mark}`,
			pricing_model: "CPA",
			publisher_click_id: `click-${mark}`,
			source_id: `source-${mark}`,
			subi: `source-${mark}`,
			subid1: `subid-${mark}`,
		}),
	);
	await env.DB.batch(
		["of-a", "of-b"].map((mark) =>
			env.DB.prepare(
				`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at)
				VALUES (?1, 'northwind', ?2, 1, ?3, 'approved', ?4, 1, 0, 'delivered', 1, 1794268800000)`,
			).bind(`callback-${mark}`, `txn click-${mark}`, `id-${mark}`, `click-${mark}`),
		),
	);
	await store(
		clicks,
		clicks.map((click) => conversionRow(click, { txnid: `txn ${click.publisher_click_id}` })),
	);
});

/** Under way again, whatever was asked before. */
beforeEach(async () => {
	await env.DB.batch(
		["of-a", "of-b"].flatMap((mark) =>
			["replied", "withdrawn"].map((id) =>
				env.DB.prepare(
					`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
					VALUES (?1, ?2, 'missing', ?3, 'open', ?4, 1, 0, 0) ON CONFLICT (id) DO UPDATE SET state = 'open', thread = ?4`,
				).bind(
					`${id}-${mark}`,
					`id-${mark}`,
					`${id} click-${mark}`,
					JSON.stringify([{ at: `${DAY}T12:00:00.000Z`, by: "publisher", state: "open", text: `Text ${mark}` }]),
				),
			),
		),
	);
});

describe("worker: tenancy of every endpoint", () => {
	it("there are such endpoints", () => {
		expect(OPERATIONS.map(({ path }) => path)).toEqual(
			expect.arrayContaining(["/api/brands-list", "/api/products/search", "/api/reporting/clicklevel", "/api/reporting/revenue-share"]),
		);
	});

	it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
		"%s shows a key's owner nothing of another's",
		async (_id, operation) => {
			expect(await askAll(operation, A)).not.toContain("of-b");
			expect(await askAll(operation, B)).not.toContain("of-a");
		},
	);

	it("and each sees its own", async () => {
		const seen = (await Promise.all(OPERATIONS.filter(isQuiet).map((operation) => askAll(operation, B)))).join("\n");
		for (const own of ["click-of-b", "source-of-b", "tag-of-b"]) expect(seen).toContain(own);
	});

	it("links are the asker's own, in lists and searches", async () => {
		const linksOf = async (publisher: typeof A) => {
			const texts = await Promise.all(OPERATIONS.filter(isQuiet).map((operation) => askAll(operation, publisher)));
			const links = new Set(texts.join("\n").match(/https?:[^"\s]*\/click\?[^"\s]*/g));
			return Promise.all([...links].map(async (link) => (await openLink(link)).token?.publisher));
		};
		const [ofA, ofB] = [await linksOf(A), await linksOf(B)];
		expect(ofA.length).toBeGreaterThan(4);
		expect([new Set(ofA), new Set(ofB)]).toEqual([new Set(["identity-of-a"]), new Set(["identity-of-b"])]);
	});

	it.each(LISTS)("a validator of one publisher is none of another's: %s", async (path) => {
		const get = (publisher: typeof A, etag = "") =>
			exports.default.fetch(`https://base.example${path}`, { headers: { AccessKey: publisher.access_key, "If-None-Match": etag } });
		const answers = [await get(A), await get(B)];
		const [etagOfA = "", etagOfB = ""] = answers.map(({ headers }) => headers.get("etag") ?? "");
		await Promise.all(answers.map(({ body }) => body?.cancel()));
		expect(etagOfA).not.toBe(etagOfB);
		const statuses: number[] = [];
		for (const [publisher, etag] of [
			[A, etagOfA],
			[A, etagOfB],
			[B, etagOfA],
			[B, etagOfB],
		] as const) {
			const { status, body } = await get(publisher, etag);
			await body?.cancel();
			statuses.push(status);
		}
		expect(statuses).toEqual([304, 200, 200, 304]);
	});

	it.each(["explain", "trace", "status", "callbacks/list", "keys/list"])("no publisher's key opens the operator's %s", async (verb) => {
		for (const header of ["AccessKey", "PublisherKey", "OperatorKey"]) {
			for (const key of [B.access_key, B.publisher_key]) {
				const response = await exports.default.fetch(`https://base.example/operator/${verb}`, {
					method: "POST",
					headers: { [header]: key },
					body: JSON.stringify({ id: "click-of-b" }),
				});
				expect([response.status, await response.text()]).toEqual([401, '{"error":"Unauthorized"}']);
			}
		}
	});

	it("a bid for one identity says nothing of another's", async () => {
		const response = await exports.default.fetch("https://rtb.example/openrtb/identity-of-a", {
			method: "POST",
			body: JSON.stringify({ id: "1", imp: [{ id: "1" }], site: { domain: "shoes.example" } }),
		});
		const text = await response.text();
		expect([response.status, text.includes("seat-of-a"), text.includes("of-b")]).toEqual([200, true, false]);
	});
});

describe("worker: what caches are told", () => {
	it.each([
		["/api/products/search?keyword=boots", { PublisherKey: A.publisher_key }, 200, "PublisherKey"],
		["/api/products/search", { PublisherKey: A.publisher_key }, 422, "PublisherKey"],
		["/api/products/search?keyword=boots", {}, 401, "PublisherKey"],
		["/api/products/search?keyword=boots", { AccessKey: A.access_key }, 401, "AccessKey"],
		["/api/marketplace-seller-products/search?q=boots", { PublisherKey: A.publisher_key }, 200, "PublisherKey"],
		["/api/brands-list", {}, 401, "AccessKey"],
		["/api/brands-list-by-traffic-type?traffic_type=None", { AccessKey: A.access_key }, 400, "AccessKey"],
	] as const)("%s %o: %i is kept by none, and varies by %s", async (path, headers, status, varies) => {
		const response = await exports.default.fetch(`https://base.example${path}`, { headers });
		await response.body?.cancel();
		expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
		expect(response.headers.get("vary")?.split(", ")).toContain(varies);
	});

	it.each([
		"/operator/network",
		"/operator/publishers",
		"/operator/publishers/none",
		"/operator/campaigns?nothing=1",
		"/operator/network/imports",
		"/operator/callbacks",
		"/operator/people",
		"/operator/claims",
		"/operator/clicks",
		"/operator/learning",
		"/operator/status",
		"/api/postback/no-key?txnid=1",
		"/nowhere",
	])("an answer that names no time is kept by none: %s", async (path) => {
		for (const headers of [{ OperatorKey: env.OPERATOR_KEY }, {}]) {
			const response = await exports.default.fetch(`https://base.example${path}`, { headers });
			await response.body?.cancel();
			expect(response.headers.get("cache-control")).toBe("no-store");
		}
	});

	it.each(["pubi=pubi-of-a&bd=shoes.example&cc=US", "pubi=pubi-of-a&bd=nowhere.example&cc=US", ""])(
		"an answer of the Serving Engine is kept by none: %j",
		async (query) => {
			const response = await exports.default.fetch(`https://rtb.example/serving-engine?${query}`);
			await response.body?.cancel();
			expect([response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual(["application/json", "no-store"]);
		},
	);
});

describe("worker: a suspended publisher", () => {
	const STATUSES = [
		["/api/brands-list", { AccessKey: A.access_key }, 401],
		["/api/brands-list-by-traffic-type?traffic_type=All", { AccessKey: A.access_key }, 401],
		["/api/products/search?keyword=boots", { PublisherKey: A.publisher_key }, 401],
		["/api/marketplace-seller-products/search?q=boots", { PublisherKey: A.publisher_key }, 401],
		["/api/brands", { AccessKey: A.access_key }, 401],
		["/api/account", { AccessKey: A.access_key }, 200],
		["/api/clicks", { AccessKey: A.access_key }, 200],
		["/api/conversions", { AccessKey: A.access_key }, 200],
		["/api/earnings", { AccessKey: A.access_key }, 200],
		["/api/callbacks", { AccessKey: A.access_key }, 200],
	] as const;
	const POSTS = ["links", "explain", "callbacks/test", "callbacks/callback-of-a/replay"];

	async function statuses() {
		const worker = openCountedWorker();
		const found: number[] = [];
		for (const [path, headers] of STATUSES) found.push((await worker.fetch(path, { headers })).status);
		for (const path of POSTS) {
			const body = path.includes("callbacks")
				? ""
				: JSON.stringify({ urls: ["shoes.example"], query: "bd=shoes.example" }, [path === "links" ? "urls" : "query"]);
			found.push((await worker.fetch(`/api/${path}`, { method: "POST", headers: { AccessKey: A.access_key }, body })).status);
		}
		const report = await worker.fetch("/api/reporting/revenue-share", {
			method: "POST",
			headers: { AccessKey: A.access_key },
			body: new URLSearchParams({ report_type: "clickid_level", start_date: DAY, end_date: DAY }),
		});
		return { found, report: [report.status, report.text.includes("click-of-a")] };
	}

	it("is answered 401 by lists, searches and whatever does something, as with a revoked key; its reports stay readable", async () => {
		const readable = [200, true];
		const all = Array.from({ length: STATUSES.length + POSTS.length }, () => 200);
		const suspended = [...STATUSES.map(([, , status]) => status), ...POSTS.map(() => 401)];
		expect(await statuses()).toEqual({ found: all, report: readable });
		await env.DB.prepare("UPDATE publishers SET status = 'suspended' WHERE id = 'id-of-a'").run();
		expect(await statuses()).toEqual({ found: suspended, report: readable });
		await env.DB.prepare("UPDATE publishers SET status = 'active' WHERE id = 'id-of-a'").run();
		expect(await statuses()).toEqual({ found: all, report: readable });
	});
});
