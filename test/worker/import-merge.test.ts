/** What an import leaves as it is, what it clears, and what it says of both; who was faster; and what undoes it. */
import { env, exports } from "cloudflare:workers";
import { Hono } from "hono";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { entryChangeSchema } from "../../src/operator/network/difference-answer.ts";
import type { ImportReport } from "../../src/operator/network/import-answer.ts";
import { type ImportDeps, importNetwork } from "../../src/operator/network/import-network.ts";
import { entryRoutes } from "../../src/operator/network/network-routes.ts";
import { undoImport } from "../../src/operator/network/undo-import.ts";
import {
	ACME,
	brandEntry,
	faultsOf,
	importFile,
	NORTHWIND,
	OPERATOR_HEADERS,
	PLAIN_IMPORT,
	postNetwork,
	priceFor,
	publisherCalled,
} from "../support/network-import.ts";

type Body = Record<string, unknown> & { error?: string; message?: string };

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
	const response = await exports.default.fetch(`https://base.example/operator${path}`, {
		method,
		headers: { ...OPERATOR_HEADERS, ...headers },
		...(body !== undefined && { body: JSON.stringify(body) }),
	});
	return { status: response.status, etag: response.headers.get("etag") ?? "", body: await response.json<Body>() };
}

const get = (path: string) => call("GET", path);
const entryOf = async (path: string) => (await get(path)).body;
const differenceOf = async (file: object, query = "?dry_run=1") => (await importFile(file, query)).difference;
const versionOf = async () => (await get("/network")).etag;

const SHOES = brandEntry("shoes.example", 1, { category: "Shoes", aliases: ["boots.example"] }, { commission_rate: "5% CPS" });

const DEPS: ImportDeps = {
	db: openDatabase(env.DB),
	products: openDatabase(env.PRODUCTS),
	publish: async () => ({ version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null }),
	now: Date.now,
	allowInsecureCallbacks: false,
};

beforeAll(async () => {
	await importFile({
		platforms: [{ ...NORTHWIND, status_map: { settled: "approved" }, postback_secret: "a secret of northwind" }],
		publishers: [{ ...ACME, callback_url: "https://acme.example/s2s", sales_data_enabled: true }],
		brands: [SHOES, ...["hats", "socks", "gloves"].map((name, at) => brandEntry(`${name}.example`, 2 + at))],
	});
});

describe("worker: an absent field keeps what is stored, null clears it", () => {
	it("a publisher with its required fields alone keeps endpoints, address and flags", async () => {
		const before = await entryOf("/publishers/acme");
		const { difference, id } = await importFile({ publishers: [{ id: "acme", name: "Acme", revenue_share: 0.5, pricing_model: "CPA" }] });
		expect(await entryOf("/publishers/acme")).toEqual(before);
		expect(before).toMatchObject({ openrtb_enabled: true, callback_url: "https://acme.example/s2s" });
		expect([difference.entries, id]).toEqual([[], null]);
		expect(await priceFor("shoes.example")).toBe(0.2);
	});

	it("a key alone is enough of a stored entry, and of a new one it is not", async () => {
		expect((await importFile({ publishers: [{ id: "acme" }], brands: [{ domain: "shoes.example" }] })).difference.entries).toEqual([]);
		expect((await faultsOf({ publishers: [{ id: "new" }] })).faults).toContainEqual({ path: "publishers[0].name", message: "is required" });
	});

	it("campaigns are matched by id: one field of one changes, and the others stay", async () => {
		const brands = [{ domain: "shoes.example", campaigns: [{ campaign_id: 1, commission_rate: "7% CPS" }] }];
		await importFile({ brands: [{ domain: "shoes.example", campaigns: [brandEntry("", 11, {}, { country: "GB" }).campaigns[0]] }] });
		const { difference } = await importFile({ brands });
		expect(difference).toMatchObject({ added: 0, changed: 1, removed: 0, losses: [] });
		expect(difference.entries).toEqual([
			{
				section: "campaigns",
				id: "1",
				brand: "shoes.example",
				kind: "changed",
				fields: [{ field: "commission_rate", before: "5% CPS", after: "7% CPS" }],
			},
		]);
		expect(await entryOf("/campaigns/1")).toMatchObject({ commission_rate: "7% CPS", epc: "0.4000", brand: "shoes.example" });
		expect((await entryOf("/brands/shoes.example")).campaigns).toMatchObject([{ campaign_id: 1 }, { campaign_id: 11 }]);
	});

	it("what is turned off, cleared, shortened or removed is named as before and after", async () => {
		const file = {
			publishers: [{ id: "acme", callback_url: null, sales_data_enabled: false }],
			brands: [{ domain: "shoes.example", aliases: [], campaigns: [{ campaign_id: 1 }], campaigns_complete: true }],
		};
		const { difference, id } = await importFile(file);
		expect(difference.losses).toEqual([
			{ section: "publishers", id: "acme", field: "callback_url", before: "https://acme.example/s2s", after: null },
			{ section: "brands", id: "shoes.example", field: "aliases", before: ["boots.example"], after: [] },
			{ section: "campaigns", id: "11", field: null, before: null, after: null },
			{ section: "publishers", id: "acme", field: "sales_data_enabled", before: true, after: false },
		]);
		expect([difference.loss_count, difference.bids.stopped]).toEqual([4, [11]]);
		expect(await priceFor("boots.example")).toBeNull();
		expect((await call("POST", "/network/undo", { import: id ?? "" })).status).toBe(200);
		expect(await priceFor("boots.example")).toBe(0.2);
	});

	it("campaigns_complete of the query removes where a brand lists campaigns, and nowhere else", async () => {
		const file = { brands: [{ domain: "shoes.example", campaigns: [{ campaign_id: 1 }] }, { domain: "hats.example" }] };
		const { removed, entries } = await differenceOf(file, "?dry_run=1&campaigns_complete=1");
		expect([removed, entries.map(({ id }) => id)]).toEqual([1, ["11"]]);
	});

	it("a campaign moves to another brand once its own gives it up", async () => {
		const taker = { domain: "hats.example", campaigns: [{ campaign_id: 11 }] };
		const { faults } = await faultsOf({ brands: [taker] });
		expect(faults).toEqual([
			{ path: "brands[0].campaigns[0].campaign_id", message: "campaign 11 belongs to shoes.example, which keeps it" },
		]);
		const giver = { domain: "shoes.example", campaigns: [{ campaign_id: 1 }], campaigns_complete: true };
		const { id } = await importFile({ brands: [taker, giver] });
		expect(await entryOf("/campaigns/11")).toMatchObject({ brand: "hats.example", country: "GB" });
		await call("POST", "/network/undo", { import: id ?? "" });
		expect(await entryOf("/campaigns/11")).toMatchObject({ brand: "shoes.example", country: "GB" });
	});

	it("a secret is kept, is named when it changes, and is never shown", async () => {
		const report = await importFile({ platforms: [{ id: "northwind", postback_secret: "another secret of northwind" }] });
		expect(report.difference.entries[0]?.fields).toEqual([{ field: "postback_secret", before: "(set)", after: "(another)" }]);
		await importFile({ platforms: [{ id: "northwind", name: "North Wind" }] });
		expect(await env.DB.prepare("SELECT postback_secret FROM platforms").first("postback_secret")).toBe("another secret of northwind");
		const shown = JSON.stringify([await entryOf("/network"), await entryOf("/platforms"), await entryOf("/platforms/northwind"), report]);
		expect(shown).not.toMatch(/secret of northwind|platform-key-northwind/);
	});
});

describe("worker: a dry run", () => {
	it.each([
		["?dry_run=1", 200, []],
		["?dry_run=1", 200, [["publisher_identity", "chosen"]]],
		["", 409, []],
	])("names no publisher id or identity that is made up, since the import makes up others (%s, %i, %j)", async (query, status, named) => {
		const publisher = { id: "unnamed", name: "Unnamed", revenue_share: 0.5, pricing_model: "CPA", ...Object.fromEntries(named) };
		const brands = status === 409 ? ["hats.example", "socks.example", "gloves.example"].map((domain) => ({ domain, active: false })) : [];
		const answer = await call("POST", `/network${query}`, { publishers: [publisher], brands });
		const { entries } = v.parse(v.object({ difference: v.object({ entries: v.array(entryChangeSchema) }) }), answer.body).difference;
		const fields = entries.find(({ section }) => section === "publishers")?.fields ?? [];
		expect([answer.status, fields.map(({ field, after }) => [field, after])]).toEqual([
			status,
			[["id", "unnamed"], ["name", "Unnamed"], ...named, ["revenue_share", 0.5], ["pricing_model", "CPA"]],
		]);
	});

	it("says the whole difference, and changes nothing", async () => {
		const version = await versionOf();
		const brands = [brandEntry("new.example", 90), { domain: "hats.example", active: false }];
		const report = await importFile({ brands, publishers: [{ id: "acme", revenue_share: 0.1, traffic: { bot: "off" } }] }, "?dry_run=1");
		expect(report).toMatchObject({ id: null, dry_run: true, needs_confirmation: false, issued: [] });
		expect(report.difference.entries.map(({ section, id, kind }) => `${kind} ${section} ${id}`)).toEqual([
			"added brands new.example",
			"added campaigns 90",
			"changed brands hats.example",
			"changed publishers acme",
		]);
		expect(report.difference.bids).toEqual({
			starts: 1,
			stops: 1,
			started: [90],
			stopped: [2],
			prices: [{ section: "publishers", id: "acme", field: "revenue_share", before: "0.5", after: "0.1" }],
			price_count: 1,
			publishers: { starts: 0, stops: 0, started: [], stopped: [] },
			blocked: 0,
		});
		expect(await versionOf()).toBe(version);
		expect((await get("/brands/new.example")).status).toBe(404);
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM import_rows").first("n")).toBe(0);
	});

	it("tells of a keyword's price that moves far, also where it had or will have that of keywords without one", async () => {
		const pricesOf = async (campaign: object) => {
			const { bids } = await differenceOf({ brands: [{ domain: "shoes.example", campaigns: [{ campaign_id: 1, ...campaign }] }] });
			return bids.prices.map(({ id, field, before, after }) => `${id} ${field} ${before} ${after}`);
		};
		const entries = { red: "0.5000", blue: "0.5000", dear: "20.0000" };
		await importFile({
			brands: [{ domain: "shoes.example", campaigns: [{ campaign_id: 1, default_keyword_epc: "0.3000", keyword_epc: entries }] }],
		});
		expect(await pricesOf({ keyword_epc: { red: "0.6000", blue: "5.0000", new: "900.0000", newer: "0.4000" } })).toEqual([
			"1 keyword_epc.blue 0.5000 5.0000",
			"1 keyword_epc.dear 20.0000 0.3000",
			"1 keyword_epc.new 0.3000 900.0000",
		]);
		expect(await pricesOf({ default_keyword_epc: "9.0000" })).toEqual(["1 default_keyword_epc 0.3000 9.0000"]);
	});

	it("lists the prices that move furthest, so that a campaign's many keywords hide no publisher's share", async () => {
		const keyword_epc = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`keyword ${at}`, at === 149 ? "900.0000" : "9.0000"]));
		const { bids } = await differenceOf({
			brands: ["socks.example", "gloves.example"].map((domain, at) => ({ domain, campaigns: [{ campaign_id: 3 + at, keyword_epc }] })),
			publishers: [{ id: "acme", revenue_share: 0.1 }],
		});
		expect([bids.price_count, bids.prices.length]).toEqual([301, 100]);
		expect(bids.prices.at(-1)).toEqual({ section: "publishers", id: "acme", field: "revenue_share", before: "0.5", after: "0.1" });
		const furthest = bids.prices.filter(({ field }) => field === "keyword_epc.keyword 149");
		expect(furthest.map(({ id, before, after }) => [id, before, after])).toEqual(["3", "4"].map((id) => [id, "0.4000", "900.0000"]));
		expect(bids.prices.filter(({ id }) => id === "4").length).toBeGreaterThan(45);
	});

	it("lists a thousand entries, and says how many more there are", async () => {
		const {
			added,
			entries,
			entries_left_out: more,
		} = await differenceOf({
			exchange_rates: Array.from({ length: 1_200 }, (_, at) => ({
				currency: "EUR",
				date: new Date(Date.UTC(2020, 0, at + 1)).toISOString().slice(0, 10),
				usd: "1.1",
			})),
		});
		expect([added, entries.length, more]).toEqual([1_200, 1_000, 200]);
	});

	it("a file that stops more than half of the campaigns asks first", async () => {
		const file = { brands: ["shoes", "hats", "socks"].map((name) => ({ domain: `${name}.example`, active: false })) };
		const refused = await postNetwork(JSON.stringify(file));
		expect(refused.status).toBe(409);
		expect(await refused.json()).toMatchObject({
			error: "Confirmation needed",
			stops: 4,
			of: 5,
			message: expect.stringContaining("yes=1"),
		});
		expect((await importFile(file, "?dry_run=1")).needs_confirmation).toBe(true);
		const { id } = await importFile(file, "?yes=1");
		expect(await priceFor("shoes.example")).toBeNull();
		await call("POST", "/network/undo", { import: id ?? "" });
		expect(await priceFor("shoes.example")).toBe(0.2);
	});

	it("a file that more than doubles the prices of most campaigns asks first", async () => {
		const data = (await get("/campaigns")).body.data as { brand: string; campaign_id: number; epc: string }[];
		const priced = (factor: number) => ({
			brands: [...Map.groupBy(data, ({ brand }) => brand)].map(([domain, campaigns]) => ({
				domain,
				campaigns: campaigns.map(({ campaign_id, epc }) => ({ campaign_id, epc: (Number(epc) * factor).toFixed(4) })),
			})),
		});
		const refused = await postNetwork(JSON.stringify(priced(10)));
		expect([refused.status, await refused.json()]).toEqual([
			409,
			expect.objectContaining({ error: "Confirmation needed", stops: 0, raised: { campaigns: expect.any(Number), publishers: 0 } }),
		]);
		expect((await importFile(priced(10), "?dry_run=1")).needs_confirmation).toBe(true);
		const sold = {
			brands: priced(1).brands.map((brand) => ({
				...brand,
				campaigns: brand.campaigns.map((one) => ({ ...one, default_keyword_epc: "9" })),
			})),
		};
		expect((await importFile(sold, "?dry_run=1")).needs_confirmation).toBe(true);
		const paused = {
			brands: priced(10).brands.map((brand) => ({ ...brand, campaigns: brand.campaigns.map((one) => ({ ...one, active: false })) })),
		};
		expect((await differenceOf(paused)).bids.price_count).toBeGreaterThan(0);
		expect(await (await postNetwork(JSON.stringify(paused))).json()).toMatchObject({ raised: { campaigns: 0 } });
		for (const factor of [2, 0.1]) expect((await importFile(priced(factor), "?dry_run=1")).needs_confirmation).toBe(false);
	});

	it("campaigns that are moved to another country stop where they were", async () => {
		const data = (await get("/campaigns")).body.data as { brand: string; campaign_id: number; active: boolean; country: string }[];
		const bidding = data.filter(({ active }) => active).length;
		const inCountry = (choose: (own: string) => string) => ({
			brands: [...Map.groupBy(data, ({ brand }) => brand)].map(([domain, campaigns]) => ({
				domain,
				campaigns: campaigns.map(({ campaign_id, country }) => ({ campaign_id, country: choose(country) })),
			})),
		});
		const refused = await postNetwork(JSON.stringify(inCountry(() => "NL")));
		expect([refused.status, await refused.json()]).toEqual([409, expect.objectContaining({ stops: bidding, of: bidding })]);
		expect((await differenceOf(inCountry((own) => own))).bids).toMatchObject({ starts: 0, stops: 0 });
	});

	it.each(["?dry_run=yes", "?dryrun=1", "?limit=1"])("is not mistaken for an import: %s", async (query) => {
		expect((await postNetwork("{}", OPERATOR_HEADERS, query)).status).toBe(422);
	});
});

/** Imports a file before whose last byte something else happens. */
function slowly(file: object, meanwhile: () => Promise<unknown>): Promise<ImportReport> {
	const text = new TextEncoder().encode(JSON.stringify(file));
	const body = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				controller.enqueue(text.subarray(0, text.length - 1));
				await meanwhile();
				controller.enqueue(text.subarray(text.length - 1));
				controller.close();
			},
		},
		{ highWaterMark: 0 },
	);
	return importNetwork(DEPS, body, PLAIN_IMPORT);
}

describe("worker: two who change the network at once", () => {
	it("one who has read an earlier version is told what has changed since", async () => {
		const version = await versionOf();
		const { id } = await importFile({ brands: [{ domain: "hats.example", category: "Hats" }] });
		const late = await postNetwork(JSON.stringify({ brands: [{ domain: "hats.example", category: "Caps" }] }), {
			...OPERATOR_HEADERS,
			"If-Match": version,
		});
		expect(late.status).toBe(412);
		expect(await late.json()).toMatchObject({
			error: "Conflict",
			changed: [{ section: "brands", id: "hats.example", import: id, actor: "operator" }],
			changed_count: 1,
		});
		const again = await postNetwork("{}", { ...OPERATOR_HEADERS, "If-Match": await versionOf() });
		expect(again.status).toBe(200);
	});

	it("an entry that another has changed is not changed by its ETag of before", async () => {
		const { etag } = await get("/campaigns/2");
		const first = await call("PATCH", "/campaigns/2", { daily_click_cap: 5 }, { "If-Match": etag });
		const second = await call("PATCH", "/campaigns/2", { daily_click_cap: 7 }, { "If-Match": etag });
		expect([first.status, second.status]).toEqual([200, 412]);
		expect(second.body).toMatchObject({ error: "Conflict", etag: first.etag, entry: { daily_click_cap: 5 } });
		expect((await call("PATCH", "/campaigns/2", { daily_click_cap: 7 }, { "If-Match": first.etag })).status).toBe(200);
	});

	it.each([
		["of several ETags one fits", (etag: string) => `"other", ${etag}`, 200],
		["of a list whose ETags hold commas", (etag: string) => `"a,b" ,${etag},"c"`, 200],
		["one that a proxy has weakened", (etag: string) => `W/${etag}`, 200],
		["a weakened one of several", (etag: string) => `"other", W/${etag}`, 200],
		["whatever there is", () => "*", 200],
		["none of several fits", () => `"other", W/"another"`, 412],
		["no ETag at all", () => "other", 412],
	])("If-Match of an entry: %s", async (_, matchOf, status) => {
		const { etag } = await get("/campaigns/2");
		const response = await call("PATCH", "/campaigns/2", { daily_click_cap: 11 }, { "If-Match": matchOf(etag) });
		expect(response.status).toBe(status);
	});

	it("a change that another follows before it is answered names no ETag: that of the other is nobody's to send", async () => {
		const patch = async (max_rate: string, publish: ImportDeps["publish"]) => {
			const app = new Hono();
			app.use("*", async (c, next) => {
				c.set("actor", PLAIN_IMPORT.actor);
				return next();
			});
			app.route("/", entryRoutes({ ...DEPS, publish }, "campaigns"));
			const response = await app.request("/2", { method: "PATCH", body: JSON.stringify({ max_rate }) });
			return [response.status, response.headers.get("etag")];
		};
		expect(await patch("5", DEPS.publish)).toEqual([200, (await get("/campaigns/2")).etag]);
		const overtaken = patch("6", async () => {
			await call("PATCH", "/campaigns/2", { daily_click_cap: 9 });
			return DEPS.publish();
		});
		expect(await overtaken).toEqual([200, null]);
	});

	it("while a file is read, the same entry changes: 412; another entry: both hold", async () => {
		const file = { brands: [{ domain: "socks.example", category: "Socks" }] };
		const other = await slowly(file, () => call("PATCH", "/brands/gloves.example", { category: "Gloves" }));
		expect(other.difference.changed).toBe(1);
		expect(await entryOf("/brands/gloves.example")).toMatchObject({ category: "Gloves" });
		const same = slowly({ brands: [{ domain: "socks.example", category: "Stockings" }] }, () =>
			call("PATCH", "/campaigns/3", { epc: "0.5000" }),
		);
		await expect(same).rejects.toMatchObject({ status: 412, body: { changed: [{ section: "campaigns", id: "3" }] } });
		expect(await entryOf("/campaigns/3")).toMatchObject({ epc: "0.5000" });
		expect(await entryOf("/brands/socks.example")).toMatchObject({ category: "Socks" });
	});

	it("a file that is refused so leaves products as they are", async () => {
		const product = { id: "late", domain: "socks.example", name: "Late", url: "https://socks.example/late", final_price: "1.00" };
		const late = slowly({ brands: [{ domain: "socks.example", category: "Hosiery" }], products: [product] }, () =>
			call("PATCH", "/brands/socks.example", { category: "Legwear" }),
		);
		await expect(late).rejects.toMatchObject({ status: 412 });
		expect(await env.PRODUCTS.prepare("SELECT COUNT(*) AS n FROM products WHERE id = 'late'").first("n")).toBe(0);
	});

	it("a host that another brand takes between the look at it and the taking over stays that brand's", async () => {
		let isTaken = false;
		const client = Object.create(env.DB) as D1Database;
		client.prepare = (query) => env.DB.prepare(query);
		client.batch = async <Row>(statements: D1PreparedStatement[]) => {
			// The look is one statement.
			if (statements.length === 1) return env.DB.batch<Row>(statements);
			if (!isTaken) await importFile({ brands: [brandEntry("mittens.example", 70, { aliases: ["shared.example"] })] });
			isTaken = true;
			return env.DB.batch<Row>(statements);
		};
		const file = { brands: [{ domain: "socks.example", aliases: ["shared.example"] }] };
		const late = importNetwork({ ...DEPS, db: openDatabase(client) }, new Blob([JSON.stringify(file)]).stream(), PLAIN_IMPORT);
		await expect(late).rejects.toMatchObject({
			status: 422,
			body: { faults: [{ path: "brands[0].aliases[0]", message: "shared.example belongs to mittens.example, which keeps it" }] },
		});
		expect(await entryOf("/brands/socks.example")).toMatchObject({ aliases: [] });
		expect(await priceFor("shared.example")).toBe(0.2);
	});
});

/** Imports a file. @param transact runs once in the place of the transaction that takes it over, which it is given */
function importTakenOver(
	file: object,
	transact: (takeOver: () => Promise<D1Result<never>[]>) => Promise<D1Result<never>[]>,
): Promise<ImportReport> {
	let isNext = false;
	const client = Object.create(env.DB) as D1Database;
	client.prepare = (query) => {
		isNext ||= query.includes("INSERT INTO network_versions");
		return env.DB.prepare(query);
	};
	client.batch = async <Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> => {
		if (!isNext) return env.DB.batch<Row>(statements);
		isNext = false;
		client.prepare = (query) => env.DB.prepare(query);
		return transact(() => env.DB.batch<never>(statements));
	};
	return importNetwork({ ...DEPS, db: openDatabase(client) }, new Blob([JSON.stringify(file)]).stream(), PLAIN_IMPORT);
}

describe("worker: two who give their publishers the same at once", () => {
	/** Imports a file while another import is taken over, just before its own transaction. */
	function importBeside(file: object, other: object): Promise<ImportReport> {
		return importTakenOver(file, async (takeOver) => {
			await importFile(other);
			return takeOver();
		});
	}

	it.each([
		["publisher_id", "same-id"],
		["publisher_identity", "same_identity"],
		["access_key", "access-key-of-both"],
	])("%s: it is the faster one's, and the other is told where it stands", async (field, value) => {
		const fast = { ...publisherCalled(`fast-${field}`), [field]: value };
		const late = importBeside({ publishers: [{ ...publisherCalled(`late-${field}`), [field]: value }] }, { publishers: [fast] });
		await expect(late).rejects.toMatchObject({
			status: 422,
			body: { faults: [{ path: `publishers[0].${field}`, message: "already belongs to another" }] },
		});
		expect((await get(`/publishers/late-${field}`)).status).toBe(404);
		expect((await get(`/publishers/fast-${field}`)).status).toBe(200);
		await call("PATCH", `/publishers/fast-${field}`, { openrtb_enabled: false, serving_engine_enabled: false });
	});
});

describe("worker: an import whose database goes away as it is taken over", () => {
	/** @param isTaken whether it goes away after the transaction, before it has answered, or before the transaction */
	function takeOver(isTaken: boolean, category: string): Promise<ImportReport> {
		return importTakenOver({ brands: [{ domain: "socks.example", category }] }, async (transact) => {
			if (isTaken) await transact();
			throw new Error("D1_ERROR: Network connection lost.");
		});
	}

	it("is done where only the answer was lost, and says so", async () => {
		const report = await takeOver(true, "Tights");
		expect(report).toMatchObject({ difference: { changed: 1 } });
		expect(await entryOf("/brands/socks.example")).toMatchObject({ category: "Tights" });
		expect(await env.DB.prepare("SELECT MAX(version) AS version FROM network_versions").first("version")).toBe(report.version);
	});

	it("is refused where nothing was taken, and can be sent again", async () => {
		await expect(takeOver(false, "Gaiters")).rejects.toMatchObject({ status: 503 });
		expect(await entryOf("/brands/socks.example")).toMatchObject({ category: "Tights" });
		expect(await importFile({ brands: [{ domain: "socks.example", category: "Gaiters" }] })).toMatchObject({ difference: { changed: 1 } });
	});
});

describe("worker: one entry", () => {
	it("is changed by the fields that it is sent, null clears one", async () => {
		const { status, body, etag } = await call("PATCH", "/publishers/acme", { seat: "seat-1", bid_pay_minutes: 30 });
		expect([status, (body as unknown as ImportReport).difference.changed]).toEqual([200, 1]);
		expect(await get("/publishers/acme")).toMatchObject({ etag, body: { seat: "seat-1", bid_pay_minutes: 30, name: "Acme" } });
		await call("PATCH", "/publishers/acme", { seat: null });
		expect(await entryOf("/publishers/acme")).toMatchObject({ seat: null, bid_pay_minutes: 30 });
	});

	it.each([
		["/campaigns/2", { epcs: "1" }, "epcs", "is not a field of the network file; did you mean `epc`?"],
		["/campaigns/2", { epc: 1 }, "epc", 'must be a decimal string such as "0.4200"'],
		// In capitals it is SS, which is a country.
		["/campaigns/2", { country: "ß" }, "country", "must be a two-letter country code such as US"],
		["/campaigns/2", { campaign_id: 3 }, "campaign_id", "names another entry: it cannot be changed"],
		[
			"/brands/hats.example",
			{ campaigns: [{ campaign_id: 2, country: "X" }] },
			"campaigns[0].country",
			"must be a two-letter country code such as US",
		],
		["/publishers/acme", [], "", "must be an object of fields"],
	])("says what is wrong with fields: %s %o", async (path, fields, place, message) => {
		const { status, body } = await call("PATCH", path, fields);
		expect([status, body.faults]).toEqual([422, [{ path: place, message }]]);
	});

	it("is warned of in its own fields' names", async () => {
		const { body } = await call("PATCH", "/publishers/acme?dry_run=1", { blocked_brands: [{ domain: "nobody.example" }] });
		expect(body.warnings).toEqual([
			{ path: "blocked_brands[0].domain", message: "nobody.example is no brand's domain: nothing is blocked by it" },
		]);
	});

	it("a brand is found by its domain however that is written", async () => {
		expect(await entryOf("/brands/HATS.example")).toMatchObject({ domain: "hats.example" });
		const { status, body } = await call("PATCH", "/brands/Hats.Example?dry_run=1", { domain: "HATS.example", category: "Caps" });
		expect([status, body.difference]).toMatchObject([200, { entries: [{ section: "brands", id: "hats.example" }] }]);
	});

	it.each(["/campaigns/1", "/brands/shoes.example"])("a change of one does not take campaigns_complete: %s", async (path) => {
		expect((await call("PATCH", `${path}?dry_run=1&campaigns_complete=1`, { active: true })).status).toBe(422);
	});

	it("has every field, where an export of the network leaves out defaults; either imports to no difference", async () => {
		const one = await entryOf("/publishers/acme");
		const { body: whole } = await get("/network?sections=publishers");
		const [exported] = whole.publishers as Record<string, unknown>[];
		const defaults = { seat: null, response_profile: "contract", epc_learning: null };
		expect(one).toMatchObject(defaults);
		for (const field of Object.keys(defaults)) expect(exported).not.toHaveProperty(field);
		for (const entry of [one, exported]) {
			expect(await differenceOf({ publishers: [entry] })).toMatchObject({ added: 0, changed: 0, removed: 0 });
		}
	});

	it("that is none is not found, whatever its id", async () => {
		for (const path of [
			"/campaigns/999",
			"/campaigns/x",
			"/brands/%00",
			"/publishers/nobody",
			"/platforms/a%20b",
			"/campaigns/99999999999999999999",
		]) {
			const missing = { status: 404, body: { error: "Not found", message: expect.stringMatching(/^There is no such /) } };
			expect([await get(path), await call("PATCH", path, { name: "x" })]).toMatchObject([missing, missing]);
		}
	});

	it("imports are listed page by page, the newest first", async () => {
		const ids = (body: Record<string, unknown>) => (body.data as { id: string }[]).map(({ id }) => id);
		const { body: whole } = await get("/network/imports");
		const first = await get("/network/imports?limit=1");
		const second = await get(`/network/imports?limit=1&cursor=${String(first.body.next_cursor)}`);
		expect(ids(whole).length).toBeGreaterThan(1);
		expect([...ids(first.body), ...ids(second.body)]).toEqual(ids(whole).slice(0, 2));
	});

	it("lists are paged, filtered, and refuse what they do not know", async () => {
		const first = await get("/campaigns?limit=2");
		expect(first.body).toMatchObject({ data: [{ campaign_id: 1, brand: "shoes.example" }, { campaign_id: 2 }], limit: 2 });
		const next = await get(`/campaigns?limit=2&cursor=${String(first.body.next_cursor)}`);
		expect(next.body).toMatchObject({ data: [{ campaign_id: 3 }, { campaign_id: 4 }] });
		expect((await entryOf("/campaigns?brand=shoes.example&country=gb")).data).toMatchObject([{ campaign_id: 11 }]);
		expect((await entryOf("/campaigns?brand=shoes.example&active=true&platform=northwind&country=gb")).data).toMatchObject([
			{ campaign_id: 11 },
		]);
		expect((await entryOf("/brands?text=HAT")).data).toMatchObject([{ domain: "hats.example", campaigns: [{ campaign_id: 2 }] }]);
		const long = `Ünbeaten 100%_ of the kettles, ${"and of their lids ".repeat(3)}`;
		await importFile({ brands: [brandEntry("kettles.example", 12, { name: `All ${long}here` })] });
		expect((await entryOf(`/brands?text=${encodeURIComponent(long)}`)).data).toMatchObject([{ domain: "kettles.example" }]);
		expect((await entryOf("/brands?text=%25_")).data).toMatchObject([{ domain: "kettles.example" }]);
		expect((await entryOf("/publishers?status=suspended")).data).toEqual([]);
		for (const query of ["limit=0", "cursor=x", "cursor=WyJhIl0", "active=maybe", "brand=%00", "nothing=1", "platform=a%00"]) {
			expect((await get(`/campaigns?${query}`)).status, query).toBe(422);
		}
	});

	it("changes stand in the audit, with who made them, and without secrets", async () => {
		await call("PATCH", "/platforms/northwind", { name: "Northwind", postback_secret: "the third secret of northwind" });
		const { results } = await env.DB.prepare(
			"SELECT actor, verb, subject_kind, subject_id, before, after FROM audit ORDER BY id DESC LIMIT 2",
		).all<Record<string, string>>();
		expect(results).toContainEqual(
			expect.objectContaining({ actor: "operator", verb: "changePlatformEntry", subject_kind: "platform", subject_id: "northwind" }),
		);
		expect(results.map(({ subject_kind }) => subject_kind).sort()).toEqual(["import", "platform"]);
		expect(JSON.stringify(results)).not.toContain("secret of northwind");
	});
});

describe("worker: an import is undone", () => {
	it("is refused where others have changed the same since, unless it is confirmed; other fields stay as they are", async () => {
		const { id } = await importFile({ brands: [{ domain: "gloves.example", category: "Mittens", name: "Mittens" }] });
		await call("PATCH", "/brands/gloves.example", { category: "Muffs", new_deal: true });
		const refused = await call("POST", "/network/undo", { import: id ?? "" });
		expect(refused).toMatchObject({
			status: 409,
			body: { error: "Changed since", overwritten: [{ section: "brands", id: "gloves.example", field: "category" }] },
		});
		expect(refused.body.message).toMatch(/^1 field or entry has been changed since/);
		const undone = await call("POST", "/network/undo?yes=1", { import: id ?? "" });
		expect(undone.status).toBe(200);
		expect(await entryOf("/brands/gloves.example")).toMatchObject({ name: "gloves.example", category: "Gloves", new_deal: true });
		const again = await call("POST", "/network/undo", { import: id ?? "" });
		expect([again.status, again.body.message]).toEqual([
			409,
			expect.stringMatching(`^Import ${String(undone.body.id)} has undone it already. 2 fields`),
		]);
	});

	it("so is one that would remove a campaign that was new and has been changed since; one that is as it was is removed", async () => {
		const added = [96, 97].map((id) => brandEntry("", id, {}, { country: "GB" }).campaigns[0]);
		const { id } = await importFile({ brands: [{ domain: "gloves.example", campaigns: added }] });
		const undo = (query = "") => call("POST", `/network/undo${query}`, { import: id ?? "" });
		await call("PATCH", "/campaigns/96", { epc: "0.9000", keyword_epc: { mitts: "1.0000" } });
		await call("PATCH", "/campaigns/96", { epc: "0.8000" });
		const refused = await undo();
		expect([refused.status, refused.body.overwritten]).toEqual([
			409,
			["epc", "keyword_epc"].map((field) => ({ section: "campaigns", id: "96", field })),
		]);
		expect((await undo("?dry_run=1")).body).toMatchObject({ warning_count: 2, needs_confirmation: true, difference: { removed: 2 } });
		// As it was again, by whichever way.
		const again = await undo("?yes=1");
		expect(again).toMatchObject({ status: 200, body: { difference: { removed: 2 } } });
		await call("POST", "/network/undo", { import: String(again.body.id) });
		await call("PATCH", "/campaigns/96", { epc: "0.4000", keyword_epc: null });
		expect(await undo()).toMatchObject({ status: 200, body: { warnings: [], difference: { removed: 2 } } });
		expect((await entryOf("/brands/gloves.example")).campaigns).toMatchObject([{ campaign_id: 4 }]);
	});

	it("of an earlier version, which kept the United Kingdom as UK, finds that nobody has changed it since", async () => {
		const uk = brandEntry("", 94, {}, { country: "GB" }).campaigns[0];
		const { id: added } = await importFile({ brands: [{ domain: "gloves.example", campaigns: [uk] }] });
		const { id } = await importFile({
			publishers: [{ id: "acme", blocked_brands: [{ domain: "hats.example", country: "GB" }] }],
			brands: [{ domain: "gloves.example", blocked_countries: ["GB", "CA"], campaigns: [{ campaign_id: 4, country: "GB" }] }],
		});
		const { id: moved } = await importFile({ brands: [{ domain: "gloves.example", campaigns: [{ campaign_id: 94, country: "CA" }] }] });
		await env.DB.prepare(`UPDATE network_changes SET entries = replace(entries, '"GB"', '"UK"')`).run();
		await env.DB.prepare("UPDATE campaigns SET country = 'GB' WHERE campaign_id = 94").run();
		const undo = (undone: string | null) => call("POST", "/network/undo", { import: undone ?? "" });
		expect(await undo(id)).toMatchObject({ status: 200, body: { difference: { changed: 3 } } });
		expect(await entryOf("/publishers/acme")).toMatchObject({ blocked_brands: [] });
		expect(await entryOf("/campaigns/4")).toMatchObject({ country: "US" });
		expect((await undo(added)).body.overwritten).toBeUndefined();
		expect((await get("/campaigns/94")).status).toBe(404);
		expect((await undo(moved)).status).toBe(422);
	});

	it("says of a campaign that was removed since that its removal is to be undone first", async () => {
		const campaign = brandEntry("", 98, {}, { country: "GB" }).campaigns[0];
		const { id: added } = await importFile({ brands: [{ domain: "gloves.example", campaigns: [campaign] }] });
		const changed = await call("PATCH", "/campaigns/98", { epc: "0.3000" });
		const removed = await call("POST", "/network/undo?yes=1", { import: added ?? "" });
		const undo = () => call("POST", "/network/undo?yes=1", { import: String(changed.body.id) });
		expect(await undo()).toMatchObject({
			status: 422,
			body: { faults: [{ path: "campaigns 98", message: "was removed since: undo its removal first" }], fault_count: 1 },
		});
		await call("POST", "/network/undo", { import: String(removed.body.id) });
		expect((await undo()).status).toBe(200);
		expect(await entryOf("/campaigns/98")).toMatchObject({ epc: campaign?.epc });
		await call("POST", "/network/undo?yes=1", { import: added ?? "" });
	});

	it("stops what was new, and can be undone itself", async () => {
		const { id } = await importFile({ brands: [brandEntry("fresh.example", 95)] });
		const undone = await call("POST", "/network/undo", { import: id ?? "" });
		expect(undone.body).toMatchObject({ warnings: [{ message: "was new: it is stopped, and stays with its campaigns" }] });
		expect(await priceFor("fresh.example")).toBeNull();
		expect(await entryOf("/brands/fresh.example")).toMatchObject({ active: false, campaigns: [{ campaign_id: 95, active: true }] });
		await call("POST", "/network/undo", { import: String(undone.body.id) });
		expect(await priceFor("fresh.example")).toBe(0.2);
	});

	it("is refused where it is too old, though the network's last version stays", async () => {
		const { id } = await importFile({ brands: [{ domain: "gloves.example", category: "Mitts" }] });
		const deps = { ...DEPS, now: () => Date.now() + 31 * DAY_MS };
		await expect(undoImport(deps, { import: id ?? "" }, PLAIN_IMPORT)).rejects.toMatchObject({ status: 422 });
	});

	it("is refused where there was none", async () => {
		for (const body of [{ import: "nothing" }, { import: 1 }, {}, { id: "x" }]) {
			expect((await call("POST", "/network/undo", body)).status).toBe(422);
		}
	});
});

describe("worker: bids for publishers that stop", () => {
	it("a change that stops bids for more than half of the publishers, and for more than one, asks first", async () => {
		const confirmation = (stops: number, of: number) => ({
			error: "Confirmation needed",
			stops: 0,
			publishers: { stops, of },
			message: expect.stringMatching(`^${stops} of ${of} publishers would be bid for no more: .*yes=1`),
			difference: { bids: { stops: 0, publishers: { starts: 0, stops } } },
		});
		const others = ["one", "two"].map(publisherCalled);
		await importFile({ publishers: others });
		const suspended = (...ids: string[]) => ({ publishers: ids.map((id) => ({ id, status: "suspended" })) });
		const refused = await postNetwork(JSON.stringify(suspended("acme", "two")));
		expect([refused.status, await refused.json()]).toMatchObject([409, confirmation(2, 3)]);
		for (const fields of [{ status: "suspended" }, { openrtb_enabled: false }, { publisher_identity: "another" }, { revenue_share: 0 }]) {
			const file = {
				publishers: ["acme", "two"].map((id) => ({
					id,
					...fields,
					...("publisher_identity" in fields && { publisher_identity: `${id}_other` }),
				})),
			};
			expect((await postNetwork(JSON.stringify(file))).status).toBe(409);
		}
		expect(await importFile(suspended("acme", "one", "two"), "?dry_run=1")).toMatchObject({
			needs_confirmation: true,
			difference: { bids: { publishers: { starts: 0, stops: 3, started: [], stopped: ["acme", "one", "two"] } } },
		});
		expect((await call("PATCH", "/publishers/two", { status: "suspended" })).status).toBe(200);
		expect((await call("PATCH", "/publishers/acme", { openrtb_enabled: false })).status).toBe(200);
		expect(await priceFor("shoes.example")).toBeNull();
		expect((await call("PATCH", "/publishers/acme", { openrtb_enabled: true })).body).toMatchObject({
			difference: { bids: { publishers: { starts: 1, stops: 0, started: ["acme"] } } },
		});
		// An undo suspends the publishers that were new.
		const { id } = await importFile({
			publishers: ["three", "four", "five"].map((name) => ({
				...others[0],
				id: name,
				name,
				publisher_id: name,
				publisher_identity: name,
				access_key: `access-key-${name}`,
				publisher_key: `publisher-key-${name}`,
			})),
		});
		expect((await call("POST", "/network/undo", { import: id ?? "" })).status).toBe(409);
		expect((await call("POST", "/network/undo?yes=1", { import: id ?? "" })).status).toBe(200);
		// The only one that is left is one.
		expect((await call("PATCH", "/publishers/acme", { status: "suspended" })).status).toBe(200);
		expect((await call("PATCH", "/publishers/one", { status: "suspended" })).status).toBe(200);
		expect((await call("PATCH", "/publishers/acme", { status: "active" })).status).toBe(200);
		expect(await priceFor("shoes.example")).toBe(0.2);
	});
});
