/** What a publisher sees and does with its Access Key: account, conversions, earnings, brands, callbacks, explanations, and how often. */
import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { LinkTokens } from "../../src/click-token/link-token.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { openDatabase } from "../../src/db/client.ts";
import { writeCursor } from "../../src/http/pages.ts";
import { PublisherLimit } from "../../src/http/publisher-limit.ts";
import { KeyOwners } from "../../src/keys/key-owners.ts";
import { MINUTE_MS } from "../../src/lib/time.ts";
import { accountSchema } from "../../src/publisher-api/account-answer.ts";
import { publisherBrandsSchema } from "../../src/publisher-api/brands-answer.ts";
import { brandsQuerySchema } from "../../src/publisher-api/brands-request.ts";
import { publisherCallbacksSchema } from "../../src/publisher-api/callbacks-answer.ts";
import { clicksQuerySchema } from "../../src/publisher-api/clicks-request.ts";
import { type PublisherConversions, publisherConversionsSchema } from "../../src/publisher-api/conversions-answer.ts";
import { conversionsQuerySchema, readConversionsQuery } from "../../src/publisher-api/conversions-request.ts";
import { earningsSchema } from "../../src/publisher-api/earnings-answer.ts";
import { earningsQuerySchema, readEarningsQuery } from "../../src/publisher-api/earnings-request.ts";
import { ownExplanationSchema } from "../../src/publisher-api/explain-answer.ts";
import { linksSchema } from "../../src/publisher-api/links-answer.ts";
import { noBidsQuerySchema } from "../../src/publisher-api/no-bids.ts";
import { ownCallbacksQuerySchema, testOwnCallback } from "../../src/publisher-api/own-callbacks.ts";
import { lookAtConversions } from "../../src/publisher-api/read-conversions.ts";
import { earningsPage } from "../../src/publisher-api/read-earnings.ts";
import { publisherApiRoutes } from "../../src/publisher-api/routes.ts";
import { MAX_SOURCE_ROWS } from "../../src/publisher-api/source-rows.ts";
import { Outbox } from "../support/callback-outbox.ts";
import { receivedCalls, receiverUrl } from "../support/callback-receiver.ts";
import { ON_D1 } from "../support/engine.ts";
import { brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";
import { CPA_KEY, CPC_KEY, clickRow, conversionRow, importReportNetwork, setPublisher, store } from "../support/report-rows.ts";
import { openStoredBook } from "../support/stored-book.ts";

const DAY = "from=2026-11-10&to=2026-11-10";
const at = (time: string) => Date.parse(`2026-11-10T${time}Z`);

function call(path: string, { key = CPA_KEY, body }: { key?: string; body?: unknown } = {}): Promise<Response> {
	return exports.default.fetch(`https://base.example/api/${path}`, {
		headers: { AccessKey: key },
		...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
	});
}

async function read<const Schema extends v.GenericSchema>(
	schema: Schema,
	path: string,
	key = CPA_KEY,
	body?: unknown,
): Promise<v.InferOutput<Schema>> {
	const response = await call(path, { key, body });
	expect([response.status, path]).toEqual([200, path]);
	return v.parse(schema, await response.json());
}

async function faultOf(path: string, body?: unknown): Promise<unknown> {
	const response = await call(path, { body });
	const { faults } = await response.json<{ faults: { path: string; message: string }[] }>();
	expect(response.status).toBe(422);
	return faults[0]?.path;
}

/** One event of a conversion, as settling writes it. */
function event(txnid: string, seq: number, kind: string, set: object): D1PreparedStatement {
	return env.DB.prepare("INSERT INTO conversion_events (platform, txnid, seq, at, kind, details) VALUES ('northwind', ?, ?, ?, ?, ?)").bind(
		txnid,
		seq,
		at("09:00:00") + seq * MINUTE_MS,
		kind,
		JSON.stringify({ set }),
	);
}

function insert(table: string, row: Record<string, string | number | null>): D1PreparedStatement {
	const columns = Object.keys(row);
	const text = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
	return env.DB.prepare(text).bind(...Object.values(row));
}

function callback(id: string, fields: { txnid: string; seq: number; publisher: string }): D1PreparedStatement {
	return env.DB.prepare(
		`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at)
		VALUES (?1, 'northwind', ?2, ?3, ?4, 'approved', 'click-a', 5000000, ?5, 'delivered', 1, ?5)`,
	).bind(id, fields.txnid, fields.seq, fields.publisher, at("10:00:00") + fields.seq);
}

beforeAll(async () => {
	await importReportNetwork();
	await importFile({ platforms: [{ ...NORTHWIND, id: "harvest", platform_id: 8, access_key: "platform-key-harvest" }] });
	const [paid, other] = [
		clickRow({ publisher_id: "pa", pricing_model: "CPA", clicked_at: at("08:00:00"), publisher_click_id: "click-a", source_id: "s" }),
		clickRow({ publisher_id: "pc", pricing_model: "CPC", clicked_at: at("08:00:00"), publisher_click_id: "click-a", brand_id: 2 }),
	];
	await store(
		[paid, other],
		[
			conversionRow(paid, { txnid: "good" }),
			conversionRow(paid, { txnid: "off", status: "cancelled" }),
			conversionRow(paid, { txnid: "odd", stage: "quarantined", held_for: "review" }),
			conversionRow(paid, { txnid: "try", test: 1 }),
			conversionRow(other, { txnid: "good", platform: "harvest" }),
		],
	);
	const settled = {
		stage: "settled",
		status: "pending",
		revenueMicros: 4_000_000,
		grossMicros: 8_000_000,
		salesUsdMicros: null,
		test: false,
	};
	await env.DB.batch([
		event("good", 1, "received", { stage: "waiting", status: "pending", publisherId: null }),
		event("good", 2, "attributed", { ...settled, publisherId: "pc" }),
		event("good", 3, "changed", { publisherId: "pa" }),
		event("good", 4, "late", { networkStatus: "locked" }),
		event("good", 5, "quarantined", { stage: "quarantined", heldFor: "amount" }),
		event("good", 6, "judged", { stage: "settled", heldFor: null, status: "approved", revenueMicros: 5_000_000 }),
		event("odd", 1, "received", { stage: "waiting", status: "approved", publisherId: null }),
		event("odd", 2, "attributed", { publisherId: "pa", revenueMicros: null }),
		event("odd", 3, "quarantined", { stage: "quarantined", heldFor: "no_rate" }),
		event("odd", 4, "quarantined", { heldFor: "review" }),
		callback("a-1", { txnid: "good", seq: 1, publisher: "pa" }),
		callback("c-2", { txnid: "good", seq: 2, publisher: "pc" }),
	]);
});

describe("worker: GET /api/account", () => {
	it("shows how a publisher is set up, and no secret of its callback address", async () => {
		await setPublisher("pa", "callback_url", "https://pa.example/s2s/k3y5ecretk3y5ecret?token=secret&payout={payout}&kind=");
		const account = await read(accountSchema, "account");
		expect(account).toMatchObject({
			id: "pa",
			pricing_model: "CPA",
			revenue_share: 0.5,
			names: [
				{ kind: "publisher_id", value: "id-pa", expires_at: null },
				{ kind: "publisher_identity", value: "identity-pa", expires_at: null },
			],
			permissions: { flat_fees: false, sales_amounts: true, campaign_ids: true },
			callback: { url: "https://pa.example/s2s/***?token=***&payout={payout}&kind=", paused_since: null },
		});
		expect(JSON.stringify(account)).not.toContain("secret");
		expect(account.keys.map(({ kind }) => kind)).toEqual(["access_key", "publisher_key"]);
		// Whoever is paid by clicks sees no gross amounts, nor what they could be told by.
		expect(await read(accountSchema, "account", CPC_KEY)).not.toHaveProperty("revenue_share");
		await setPublisher("pa", "callback_url", "https://pa.example/s2s");
	});

	it("says since when its callback address is paused, and nothing of the one before", async () => {
		const pausedAt = at("07:00:00");
		await insert("callback_health", {
			publisher_id: "pa",
			url: "https://pa.example/s2s",
			failures_in_a_row: 20,
			paused_at: pausedAt,
		}).run();
		const callback = async () => (await read(accountSchema, "account")).callback;
		expect(await callback()).toMatchObject({ failures_in_a_row: 20, paused_since: new Date(pausedAt).toISOString() });
		await setPublisher("pa", "callback_url", "https://pa.example/s2s/2");
		expect(await callback()).toMatchObject({ failures_in_a_row: 0, paused_since: null });
		await setPublisher("pa", "callback_url", "https://pa.example/s2s");
		await env.DB.prepare("DELETE FROM callback_health WHERE publisher_id = 'pa'").run();
	});
});

describe("worker: GET /api/conversions", () => {
	const txnids = ({ data }: PublisherConversions) => data.map(({ transaction_id }) => transaction_id);

	it("shows all of a publisher's, and what holds them", async () => {
		const { data } = await read(publisherConversionsSchema, `conversions?${DAY}`);
		expect(data.map(({ transaction_id, status, held, revenue }) => [transaction_id, status, held, revenue])).toEqual([
			["good", "approved", null, "5.0000"],
			["odd", "approved", "review", "0.0000"],
			["off", "cancelled", null, "0.0000"],
			["try", "approved", "test", "0.0000"],
		]);
		expect(data[0]).toMatchObject({
			click_id: "click-a",
			brand: "shoes.example",
			campaign_id: "11",
			source_id: "s",
			gross_revenue: "10.0000",
		});
	});

	it("tells the history since it was the publisher's, where something changed that it sees", async () => {
		const [conversion] = (await read(publisherConversionsSchema, "conversions?id=good")).data;
		expect(conversion?.history.map(({ cause, status, held, revenue }) => [cause, status, held, revenue])).toEqual([
			["reported", "pending", null, "4.0000"],
			["held", "pending", "review", "0.0000"],
			["reviewed", "approved", null, "5.0000"],
		]);
	});

	it("says where more has happened than a page can tell; asked for alone, it has its whole history", async () => {
		const events = 6_000;
		await env.DB.prepare(
			`INSERT INTO conversion_events (platform, txnid, seq, at, kind, details)
			WITH RECURSIVE n (i) AS (SELECT 7 UNION ALL SELECT i + 1 FROM n WHERE i < ${events})
			SELECT 'northwind', 'good', i, ${at("11:00:00")} + i, 'late', '{"set":{"revenueMicros":' || i || '00}}' FROM n`,
		).run();
		const ofPage = (await read(publisherConversionsSchema, `conversions?${DAY}`)).data;
		expect(ofPage.map(({ history_truncated }) => history_truncated)).toEqual([true, false, false, false]);
		expect(ofPage[0]?.history).toHaveLength(3 + 5_000 - 6);
		const [alone] = (await read(publisherConversionsSchema, "conversions?id=good")).data;
		expect(alone).toMatchObject({ history_truncated: false });
		expect(alone?.history.at(-1)?.revenue).toBe("0.6000");
		await env.DB.prepare("DELETE FROM conversion_events WHERE txnid = 'good' AND seq > 6").run();
	});

	it("tells of what is found and held at once why it is held, and nothing of in between", async () => {
		const [conversion] = (await read(publisherConversionsSchema, "conversions?id=odd")).data;
		expect(conversion?.history.map(({ cause, held }) => [cause, held])).toEqual([
			["held", "no_exchange_rate"],
			["held", "review"],
		]);
	});

	it("says of a test that it is one, and has it among none that are held, though its rate is missing", async () => {
		const setStage = (stage: string, heldFor: string | null) =>
			env.DB.prepare("UPDATE conversions SET stage = ?, held_for = ? WHERE platform = 'northwind' AND txnid = 'try'")
				.bind(stage, heldFor)
				.run();
		await setStage("quarantined", "no_rate");
		const [shown] = (await read(publisherConversionsSchema, "conversions?id=try")).data;
		const held = await read(publisherConversionsSchema, `conversions?${DAY}&status=held`);
		await setStage("settled", null);
		expect(shown?.held).toBe("test");
		expect(txnids(held)).toEqual(["odd"]);
	});

	it("is each publisher's own, by whatever id, and has no gross amounts where clicks are paid", async () => {
		const [mine] = (await read(publisherConversionsSchema, "conversions?id=good")).data;
		for (const id of ["good", "click-a", mine?.click]) {
			const own = await read(publisherConversionsSchema, `conversions?id=${id}`);
			expect(own.data.every(({ click }) => click === mine?.click)).toBe(true);
			expect(txnids(own)).toContain("good");
			const others = await read(publisherConversionsSchema, `conversions?id=${id}`, CPC_KEY);
			expect(others.data.some(({ click }) => click === mine?.click)).toBe(false);
		}
		const { data } = await read(publisherConversionsSchema, "conversions?id=good", CPC_KEY);
		expect(data).toMatchObject([{ brand: "hats.example", revenue: "0.0000", sales_amount: "100.0000" }]);
		expect(data[0]).not.toHaveProperty("gross_revenue");
	});

	it.each([
		["status=held", ["odd"]],
		["status=cancelled", ["off"]],
		["status=approved", ["good", "odd", "try"]],
		["brand=hats.example", []],
		["source=s&id=off", ["off"]],
		["source=", ["good", "odd", "off", "try"]],
	])("%s chooses", async (filter, expected) => {
		const period = filter.includes("id=") ? "" : `${DAY}&`;
		expect(txnids(await read(publisherConversionsSchema, `conversions?${period}${filter}`))).toEqual(expected);
	});

	it.each([
		[1, "", ["good", "odd", "off", "try"]],
		[3, "&order=oldest", ["good", "odd", "off", "try"]],
		[1, "&order=newest", ["try", "off", "odd", "good"]],
		[3, "&order=newest", ["try", "off", "odd", "good"]],
		[1, "&order=newest&source=", ["try", "off", "odd", "good"]],
	])("by %i a page it is the same list%s", async (limit, filter, expected) => {
		const found: string[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page: PublisherConversions = await read(
				publisherConversionsSchema,
				`conversions?${DAY}&limit=${limit}${filter}&cursor=${cursor}`,
			);
			found.push(...txnids(page));
			cursor = page.next_cursor;
		}
		expect(found).toEqual(expected);
	});

	it.runIf(ON_D1)("reads what it looks at from indexes, in their order", async () => {
		for (const order of ["oldest", "newest"]) {
			const query = readConversionsQuery({ from: "2026-11-10", to: "2026-11-10", order }, 0);
			const details = await planOf(lookAtConversions("pa", query, 100));
			expect(details.filter((detail) => /^(SCAN|SEARCH)/.test(detail))).toEqual([
				expect.stringMatching(/^SEARCH conversions USING COVERING INDEX conversions_paid_by_event \(publisher_id=\? AND event_at>/),
				expect.stringMatching(/^SEARCH v USING (COVERING )?INDEX conversions_other_by_publisher \(publisher_id=\? AND event_at>/),
			]);
			expect(details.join()).not.toContain("TEMP B-TREE");
		}
		const sums = await planOf(earningsPage("pa", readEarningsQuery({ group: "day,brand", from: "2026-11-01", to: "2026-11-10" }, 0)));
		expect(sums.filter((detail) => /^SCAN (?!\(|g\b|s\b)/.test(detail))).toEqual([]);
		const rows = await planOf(
			earningsPage("pa", readEarningsQuery({ group: "source,brand,country", from: "2026-11-01", to: "2026-11-10" }, 0)),
		);
		expect(rows.filter((detail) => /^(SEARCH|SCAN) [cv]\b/.test(detail))).toEqual([
			expect.stringMatching(/^SEARCH c USING INDEX clicks_paid_by_publisher \(publisher_id=\? AND clicked_at>/),
			expect.stringMatching(/^SEARCH c USING INDEX clicks_other_by_publisher \(publisher_id=\? AND clicked_at>/),
			expect.stringMatching(/^SEARCH v USING INDEX conversions_paid_by_event \(publisher_id=\? AND event_at>/),
			expect.stringMatching(/^SEARCH v USING INDEX conversions_other_by_publisher \(publisher_id=\? AND event_at>/),
			expect.stringMatching(/^SEARCH v USING INDEX conversions_with_click_by_publisher \(publisher_id=\? AND clicked_at>/),
			"SEARCH c USING PRIMARY KEY (id=?)",
		]);
	});
});

describe("worker: GET /api/earnings", () => {
	it("names what it is of, and shows only what is for the publisher's eyes", async () => {
		const earnings = await read(earningsSchema, "earnings?group=day,source&from=2026-11-10&to=2026-11-10");
		const sums = { publisher_revenue: "5.0000", approved_revenue: "5.0000", pending_revenue: "0.0000", gross_revenue: "10.0000" };
		const total = { ...sums, sales_amount: "100.0000", click_count: 1, conversion_count: 1 };
		expect(earnings).toMatchObject({ group: ["day", "source"], data: [{ day: "2026-11-10", source_id: "s", ...total }], total });
		const ofClicks = await read(earningsSchema, "earnings?from=2026-11-10", CPC_KEY);
		expect(ofClicks.total).not.toHaveProperty("gross_revenue");
		expect(ofClicks.total.publisher_revenue).toBe("0.2000");
	});

	it("has a conversion of a publisher paid by clicks with its click, as reports do, also by campaign", async () => {
		const click = clickRow({ clicked_at: Date.parse("2026-10-10T12:00:00Z"), brand_id: 1 });
		const sale = conversionRow(click, { txnid: "later", event_at: Date.parse("2026-10-12T12:00:00Z") });
		const amounts = { gross_micros: 10_000_000, sales_micros: 100_000_000 };
		const clicked = { click_count: 1, click_revenue_micros: 200_000 };
		const place = { campaign_id: 11, brand_id: 1, publisher_id: "pc", platform: "north", country: "US", kind: "link" };
		await env.DB.batch([
			insert("clicks", click),
			insert("conversions", sale),
			insert("daily_publishers", { publisher_id: "pc", date: "2026-10-10", ...clicked, conversion_count: 1, ...amounts }),
			insert("daily_network", { ...place, reason: "", date: "2026-10-10", ...clicked }),
			insert("daily_network", { ...place, reason: "bot", date: "2026-10-10", click_count: 7 }),
			insert("daily_network", { ...place, reason: "", date: "2026-10-12", approved_count: 1, ...amounts }),
		]);
		const sums = { publisher_revenue: "0.2000", sales_amount: "100.0000", click_count: 1, conversion_count: 1 };
		for (const group of ["day,brand", "day,campaign", "day,country", "day", "day,source,brand", "country,day,source,campaign"]) {
			const { data, total } = await read(earningsSchema, `earnings?group=${group}&from=2026-10-01&to=2026-10-31`, CPC_KEY);
			expect([group, data.map(({ day }) => day)]).toEqual([group, ["2026-10-10"]]);
			expect([data[0], total]).toMatchObject([sums, sums]);
		}
	});

	it("has sources by brand, campaign and country of the clicks themselves: an amount is of none, and nothing that is cancelled, held or a test counts", async () => {
		await env.DB.prepare(
			"UPDATE daily_publishers SET adjustment_micros = -2500000 WHERE publisher_id = 'pa' AND date = '2026-11-10'",
		).run();
		const { data, total } = await read(earningsSchema, `earnings?group=source,brand,campaign,country&${DAY}`);
		const nothing = { brand: null, campaign_id: null, country: null, gross_revenue: "0.0000", sales_amount: "0.0000" };
		expect(data).toMatchObject([
			{ source_id: "", ...nothing, publisher_revenue: "-2.5000", click_count: 0, conversion_count: 0 },
			{ source_id: "s", brand: "shoes.example", campaign_id: "11", publisher_revenue: "5.0000", click_count: 1, conversion_count: 1 },
		]);
		expect(total).toMatchObject({ publisher_revenue: "2.5000", click_count: 1, conversion_count: 1 });
		const first = await read(earningsSchema, `earnings?group=source,brand,campaign,country&limit=1&${DAY}`);
		const rest = await read(earningsSchema, `earnings?group=source,brand,campaign,country&limit=1&cursor=${first.next_cursor}&${DAY}`);
		expect([...first.data, ...rest.data]).toEqual(data);
		await env.DB.prepare("UPDATE daily_publishers SET adjustment_micros = 0 WHERE publisher_id = 'pa'").run();
	});

	it("refuses sources by brand where that takes too many rows, or rows that are removed, and has them alone even so", async () => {
		const place = { date: "2026-11-10", campaign_id: 11, publisher_id: "pa", brand_id: 1, platform: "", country: "", kind: "" };
		const setClicks = (click_count: number) =>
			env.DB.batch([
				env.DB.prepare("DELETE FROM daily_network WHERE reason = 'bot'"),
				insert("daily_network", { ...place, reason: "bot", click_count }),
			]);
		const status = async (group: string) => (await call(`earnings?group=${group}&${DAY}`)).status;
		await setClicks(MAX_SOURCE_ROWS - 1);
		expect(await status("source,brand")).toBe(200);
		await setClicks(MAX_SOURCE_ROWS);
		expect(await faultOf(`earnings?group=source,brand&${DAY}`)).toBe("group");
		expect([await status("day,source"), await status("day,brand")]).toEqual([200, 200]);
		await setClicks(0);
		await env.DB.prepare("UPDATE daily_publishers SET click_count = 2 WHERE publisher_id = 'pa' AND date = '2026-11-10'").run();
		expect(await faultOf(`earnings?group=source,brand&${DAY}`)).toBe("group");
		expect(await status("day,source")).toBe(200);
		await env.DB.prepare("UPDATE daily_publishers SET click_count = 1 WHERE publisher_id = 'pa' AND date = '2026-11-10'").run();
		expect(await status("source,brand")).toBe(200);
	});

	it.each([
		["group=hour", "group"],
		["group=day,day", "group"],
		["from=2026-02-30", "from"],
		["from=2024-01-01&to=2026-01-01", "from"],
		["from=2026-01-02&to=2026-01-01", "to"],
		[`group=day&cursor=${writeCursor([5])}`, "cursor"],
		[`group=campaign&cursor=${writeCursor(["5"])}`, "cursor"],
		["cursor=%00", "cursor"],
	])("%s is a fault", async (query, path) => {
		expect(await faultOf(`earnings?${query}`)).toBe(path);
	});
});

describe("worker: GET /api/brands", () => {
	beforeAll(async () => {
		await importFile({
			brands: [
				{ ...brandEntry("socks.example", 21, { name: "Socks & Co", category: "Clothes", new_deal: true, traffic_types: ["Email"] }) },
				{
					...brandEntry("caps.example", 0, { name: "CAPS", last_updated_date: "2026-11-05", restricted_traffic: ["Coupons"] }),
					campaigns: [
						...brandEntry("", 22, {}, { epc: "0.2000" }).campaigns,
						...brandEntry("", 23, {}, { epc: "0.6000", commission_rate: "6%" }).campaigns,
						...brandEntry("", 24, {}, { epc: "0.9000", daily_click_cap: 0 }).campaigns,
						...brandEntry("", 25, {}, { country: "CA", epc: "0.1000" }).campaigns,
					],
				},
				brandEntry("gone.example", 26, { active: false }),
			],
			publishers: [
				{ ...publisherEntry("pa", CPA_KEY), blocked_brands: [{ domain: "hats.example" }, { domain: "caps.example", country: "CA" }] },
			],
		});
	});

	const domains = async (query: string, key = CPA_KEY) =>
		(await read(publisherBrandsSchema, `brands?${query}`, key)).data.map(({ domain }) => domain);

	it("has the brands of the brand list, with the offer that links lead to", async () => {
		const list = await (await call("brands-list")).json<{ data: { domain: string }[] }>();
		const { data } = await read(publisherBrandsSchema, "brands");
		expect(data.map(({ domain }) => domain)).toEqual(list.data.map(({ domain }) => domain));
		expect(data.map(({ domain }) => domain)).toEqual(["shoes.example", "socks.example", "caps.example"]);
		expect(data[2]?.offers).toMatchObject([{ country: "US", campaign_id: 23, price: "0.3000", available: true, commission_rate: "6%" }]);
	});

	it("says of an offer whether any campaign of it that takes clicks has such links, as /api/links does", async () => {
		const homepage = { deeplink_url: null, deeplink_verified: false, epc: "0.6000" };
		const deeplink = { homepage_url: null, deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true };
		const shown = async (cap: number) => {
			const second = brandEntry("", 42, {}, { ...deeplink, daily_click_cap: cap }).campaigns;
			const first = brandEntry("boots.example", 41, {}, homepage);
			await importFile({ brands: [{ ...first, campaigns: [...first.campaigns, ...second] }] });
			const [brand] = (await read(publisherBrandsSchema, "brands?q=boots")).data;
			const { data } = await read(linksSchema, "links", CPA_KEY, { urls: ["https://boots.example/", "https://boots.example/wide"] });
			return [
				brand?.offers.map(({ campaign_id, homepage, deeplinks }) => [campaign_id, homepage, deeplinks]),
				data.map((one) => "link" in one),
			];
		};
		expect(await shown(1_000)).toEqual([[[41, true, true]], [true, true]]);
		expect(await shown(0)).toEqual([[[41, true, false]], [true, false]]);
		await importFile({ brands: [brandEntry("boots.example", 41, { active: false })] });
	});

	it.each([
		["q=socks%20%26", ["socks.example"]],
		["q=EXAMPLE", ["shoes.example", "socks.example", "caps.example"]],
		["q=%25", []],
		["category=clothes", ["socks.example"]],
		["country=ca", []],
		["country=us", ["shoes.example", "socks.example", "caps.example"]],
		["traffic_type=email", ["socks.example"]],
		["allows=coupons", ["shoes.example", "socks.example"]],
		["min_price=0.2001", ["caps.example"]],
		["min_price=0.3001", []],
		["min_price=900000000000", []],
		["new_deal=1", ["socks.example"]],
		["updated_since=2026-11-05", ["caps.example"]],
		["updated_since=2026-11-06", []],
	])("%s chooses", async (query, expected) => {
		expect(await domains(query)).toEqual(expected);
	});

	it("is each publisher's own, page by page", async () => {
		expect(await domains("country=CA", CPC_KEY)).toEqual(["caps.example"]);
		const found: string[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page: v.InferOutput<typeof publisherBrandsSchema> = await read(publisherBrandsSchema, `brands?limit=1&cursor=${cursor}`);
			found.push(...page.data.map(({ domain }) => domain));
			cursor = page.next_cursor;
		}
		expect(found).toEqual(await domains(""));
	});
});

describe("worker: /api/callbacks", () => {
	it("lists one's own, without the platform", async () => {
		const { data } = await read(publisherCallbacksSchema, "callbacks?txnid=good");
		expect(data).toMatchObject([{ id: "a-1", txnid: "good", payout: "5.0000", state: "delivered" }]);
		expect(data[0]).not.toHaveProperty("platform");
		expect((await read(publisherCallbacksSchema, "callbacks?id=c-2")).data).toEqual([]);
		expect((await read(publisherCallbacksSchema, "callbacks?from=2026-11-10&to=2026-11-10&state=delivered")).data).toHaveLength(1);
		expect((await read(publisherCallbacksSchema, "callbacks?to=2026-11-09")).data).toEqual([]);
	});

	it("looks at so many for those of a state, and the cursor goes on behind them", async () => {
		const rows = JSON.stringify(Array.from({ length: 20_001 }, (_, n) => n));
		await env.DB.prepare(
			`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at)
			SELECT 'many-' || atom, 'northwind', 'many-' || atom, 1, 'pc', 'approved', '', 0, 0, CASE WHEN CAST(atom AS BIGINT) = 0 THEN 'exhausted' ELSE 'delivered' END,
				1, CAST(atom AS BIGINT) FROM json_each(?)`,
		)
			.bind(rows)
			.run();
		const found: string[][] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page: v.InferOutput<typeof publisherCallbacksSchema> = await read(
				publisherCallbacksSchema,
				`callbacks?state=exhausted&to=1970-01-02&cursor=${cursor}`,
				CPC_KEY,
			);
			found.push(page.data.map(({ id }) => id));
			cursor = page.next_cursor;
		}
		expect(found).toEqual([[], ["many-0"]]);
		for (const chosen of ["txnid=many-0", "id=many-0"])
			expect((await read(publisherCallbacksSchema, `callbacks?state=exhausted&${chosen}`, CPC_KEY)).data).toMatchObject([{ id: "many-0" }]);
		await env.DB.prepare("DELETE FROM callbacks WHERE publisher_id = 'pc' AND id <> 'c-2'").run();
	});

	it("sends one's own again, and nothing of another's", async () => {
		expect(await faultOf("callbacks/a-1/replay", { dry_run: true })).toBe("dry_run");
		expect((await call("callbacks/c-2/replay", { body: {} })).status).toBe(404);
		expect(await (await call("callbacks/a-1/replay", { body: {} })).json()).toEqual({ replayed: 1 });
		const audited = await env.DB.prepare(
			"SELECT actor, role, subject_kind, subject_id, counts FROM audit WHERE verb = 'replayOwnCallback'",
		).all();
		expect(audited.results).toEqual([
			{ actor: expect.any(String), role: "publisher", subject_kind: "callback", subject_id: "a-1", counts: '{"callbacks":1}' },
		]);
		const { results } = await env.DB.prepare("SELECT id, state FROM callbacks WHERE state <> 'delivered'").all();
		expect(results.map(({ id }) => id)).toEqual(["a-1"]);
	});

	it("calls the address that is stored, if it may be called, and masks it", async () => {
		const deps = new Outbox().deps;
		await setPublisher("pa", "callback_url", receiverUrl("answer", "own-test?token=secret&sum={payout}&of={cid}"));
		const actor = { name: "pa", role: "publisher", requestId: "own-test" } as const;
		const report = await testOwnCallback(deps, "pa", actor);
		const audited = await env.DB.prepare("SELECT actor, role, subject_id FROM audit WHERE verb = 'testCallback'").all();
		expect(audited.results).toEqual([{ actor: "pa", role: "publisher", subject_id: "pa" }]);
		const called = expect.stringMatching(/\?token=\*\*\*&sum=0\.0000&of=test&txnid=test-/);
		expect(report).toMatchObject({ http_status: 200, confirmed: true, called });
		expect((await receivedCalls("own-test"))[0]?.url).toContain("token=secret");
		for (const url of ["https://127.0.0.1/s2s", "https://metadata.internal/", "http://pa.example/"]) {
			await setPublisher("pa", "callback_url", url);
			const refused = await call("callbacks/test", { body: {} });
			expect([url, refused.status]).toEqual([url, 422]);
		}
		await env.DB.prepare("UPDATE publishers SET callback_url = NULL WHERE id = 'pa'").run();
		expect(await faultOf("callbacks/test", { url: "https://elsewhere.example/" })).toBe("url");
	});
});

describe("worker: POST /api/explain", () => {
	const explain = (body: unknown, key?: string) => read(ownExplanationSchema, "explain", key, body);

	it("names the advertiser as the answer to the bid request does", async () => {
		const request = { id: "1", imp: [{ id: "1" }], site: { domain: "shoes.example" } };
		const bid = await exports.default.fetch("https://rtb.example/openrtb/identity-pa", { method: "POST", body: JSON.stringify(request) });
		const { seatbid } = await bid.json<{ seatbid: { bid: { ext: { advertiser_id: string } }[] }[] }>();
		const { advertiser_id } = seatbid[0]?.bid[0]?.ext ?? {};
		expect([advertiser_id, (await explain(request)).decision]).toEqual([expect.any(String), expect.objectContaining({ advertiser_id })]);
	});

	it("explains a query and a bid request of one's own, whatever they name", async () => {
		expect(await explain({ query: "bd=shoes.example&cc=US&pubi=id-pc&pubi=other" })).toMatchObject({
			endpoint: "serving-engine",
			decision: { outcome: "bid", domain: "shoes.example", campaign_id: 11, price: "0.2000" },
		});
		expect(await explain({ id: "1", imp: [{ id: "1" }], site: { domain: "hats.example" } })).toMatchObject({
			endpoint: "openrtb",
			decision: { outcome: "no-bid", reason: "advertiser_blocked" },
		});
		expect((await explain({ query: "cc=US" })).decision.outcome).toBe("invalid");
		const many = { id: "1", imp: [{ id: "1" }], site: { domain: "hats.example" }, ext: { list: Array<number>(9_000).fill(1) } };
		expect((await explain(many)).decision.outcome).toBe("invalid");
		expect(await explain({ query: "bd=shoes.example&cc=US&gdpr=0&gdpr=1" })).toMatchObject({
			privacy: "gdpr",
			decision: { outcome: "bid", stripped: true },
		});
	});

	it("tells nothing of caps and hours", async () => {
		await importFile({
			brands: [
				brandEntry("capped.example", 31, {}, { daily_click_cap: 0 }),
				brandEntry("night.example", 32, {}, { allowed_hours: [(new Date().getUTCHours() + 12) % 24] }),
			],
		});
		for (const domain of ["capped.example", "night.example"]) {
			const told = await explain({ query: `bd=${domain}&cc=US` });
			expect(told.decision).toEqual({
				outcome: "no-bid",
				reason: "not_available_now",
				code: 506,
				explanation: "the campaign takes no bids now",
			});
			expect(JSON.stringify(told)).not.toMatch(/cap_met|outside_hours|paused|hour/);
		}
	});

	it.each([["[]"], ["{"], ['"bd=shoes.example"'], ['{"query":1}'], ['{"query":"","publisher":"pc"}']])("%s is a fault", async (body) => {
		const response = await exports.default.fetch("https://base.example/api/explain", {
			method: "POST",
			headers: { AccessKey: CPA_KEY },
			body,
		});
		expect(response.status).toBe(422);
	});
});

/** The routes with a clock of the test's own, which no limit holds up. */
function openApp(now: () => number): { request: (path: string, init?: RequestInit) => Promise<Response> } {
	const db = openDatabase(env.DB);
	const keys = env.TOKEN_KEYS.split(",");
	const bidding = {
		book: openStoredBook(),
		tokens: new ClickTokens(keys),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => Date.now(),
	};
	const app = publisherApiRoutes({
		db,
		kv: env.BOOK,
		dataThrough: async () => null,
		keys: new KeyOwners({ db, now: () => Date.now() }),
		now: () => Date.now(),
		limit: new PublisherLimit({ now, shared: undefined }),
		bidding,
		links: new LinkTokens(keys),
		trackerUrl: "https://click.example",
		callbacks: () => new Outbox().deps,
	});
	return {
		request: async (path, init = {}) => app.request(path, { ...init, headers: { AccessKey: CPA_KEY } }, env, createExecutionContext()),
	};
}

describe("worker: limits of a publisher's calls", () => {
	it("are told with each answer, end with the minute, and are each publisher's own", async () => {
		let now = at("10:00:30");
		const { request } = openApp(() => now);
		const [first] = [await request("/account")];
		expect([first.headers.get("ratelimit-policy"), first.headers.get("ratelimit")]).toEqual([
			'"publisher";q=600;w=60',
			'"publisher";r=599;t=30',
		]);
		const statuses = new Set<number>();
		for (let n = 0; n < 12; n++) statuses.add((await request("/callbacks/none/replay", { method: "POST" })).status);
		const refused = await request("/callbacks/none/replay", { method: "POST" });
		expect([[...statuses], refused.status, refused.headers.get("retry-after"), refused.headers.get("ratelimit")]).toEqual([
			[404, 429],
			429,
			"30",
			'"calling";r=0;t=30',
		]);
		expect((await request("/account")).status).toBe(200);
		now += MINUTE_MS;
		expect((await request("/callbacks/none/replay", { method: "POST" })).status).toBe(404);
	});

	it("hold by the binding, too, and where that fails, none does", async () => {
		const now = () => at("10:00:00");
		const refusing = new PublisherLimit({ now, shared: { limit: async () => ({ success: false }) } });
		expect((await refusing.take("pa")).refused?.status).toBe(429);
		const failing = new PublisherLimit({ now, shared: { limit: () => Promise.reject(new Error("no limiter")) } });
		expect((await failing.take("pa")).refused).toBeNull();
	});

	it("are not those of the interface", async () => {
		for (const path of ["brands-list", "brands-list-by-traffic-type?traffic_type=All"]) {
			const { headers, body } = await call(path);
			await body?.cancel();
			expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null]);
		}
	});
});

describe("worker: a publisher's endpoints, whatever they are asked", () => {
	const text = fc.oneof(
		fc.string({ unit: "binary" }),
		fc.constantFrom("2026-11-10", "2026-11-10T10:00:00Z", "0", "1", "1000", "-1", "day,brand", "source", "shoes.example", "click-a", "US"),
		fc.constantFrom("\0", "\ud800", "%00", "'", "\\", "9".repeat(30), "a".repeat(3_000)),
		fc.json().map((json) => new TextEncoder().encode(json).toBase64({ alphabet: "base64url", omitPadding: true })),
		fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger()), { maxLength: 3 }).map(writeCursor),
		fc.tuple(fc.maxSafeInteger(), fc.string(), fc.string({ unit: "binary" })).map(writeCursor),
	);
	const lists: Record<string, readonly string[]> = {
		account: [],
		clicks: Object.keys(clicksQuerySchema.entries),
		conversions: Object.keys(conversionsQuerySchema.entries),
		earnings: Object.keys(earningsQuerySchema.entries),
		brands: Object.keys(brandsQuerySchema.entries),
		callbacks: Object.keys(ownCallbacksQuerySchema.entries),
		"no-bids": Object.keys(noBidsQuerySchema.entries),
	};
	const query = fc.dictionary(fc.constantFrom(...new Set(Object.values(lists).flat())), text, { maxKeys: 5 });
	const body = fc.oneof(
		fc.json(),
		text,
		fc.record({ urls: fc.array(fc.oneof(text, fc.webUrl()), { maxLength: 5 }) }).map((value) => JSON.stringify(value)),
		fc.record({ query: text }).map((value) => JSON.stringify(value)),
		fc.record({ id: text, imp: fc.jsonValue(), site: fc.record({ domain: text }) }).map((value) => JSON.stringify(value)),
	);

	it.each([
		["clicks", "reasons=unpaid"],
		["conversions", "statuss=held"],
		["earnings", "groups=brand"],
		["brands", "contry=CA"],
		["callbacks", "status=due"],
		["no-bids", "hour=1"],
		["days", "day=2026-11-10"],
		["conversions/changes", "cursor=x"],
		["brands/changes", "cursor=x"],
	])("GET /api/%s refuses %s, which it does not know", async (list, parameter) => {
		const [name = ""] = parameter.split("=");
		expect((await call(`${list}?${name}=`)).status).toBe(200);
		expect(await faultOf(`${list}?${parameter}`)).toBe(name);
	});

	it("GET /api/account takes no query", async () => {
		expect(await faultOf("account?detail=1")).toBe("detail");
	});

	it.each(["callbacks/test", "callbacks/a-1/replay", "links", "explain"])("POST /api/%s takes no query", async (verb) => {
		expect(await faultOf(`${verb}?dry_run=1`, {})).toBe("dry_run");
	});

	it("POST /api/claims/{id}/withdraw takes no body", async () => {
		expect(await faultOf("claims/none/withdraw", { dry_run: true })).toBe("dry_run");
		expect(await faultOf("claims/none/withdraw", ["dry_run"])).toBe("");
		for (const body of [{}, [], null]) expect((await call("claims/none/withdraw", { body })).status).toBe(404);
	});

	it("answer 200, 404 or 422, and list nothing of another's", async () => {
		let now = 0;
		const { request } = openApp(() => (now += MINUTE_MS));
		const check = async (path: string, init?: RequestInit) => {
			const response = await request(path, init);
			expect([path, [200, 404, 422].includes(response.status) ? 200 : await response.text()]).toEqual([path, 200]);
			expect(await response.text()).not.toContain("identity-pc");
		};
		await fc.assert(
			fc.asyncProperty(query, body, text, async (asked, sent, id) => {
				for (const [list, known] of Object.entries(lists)) {
					const parameters = Object.entries(asked).filter(([name]) => known.includes(name));
					const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`);
					await check(`/${list}?${search.join("&")}`);
				}
				for (const verb of ["links", "explain"]) await check(`/${verb}`, { method: "POST", body: sent });
				const name = encodeURIComponent(id.toWellFormed());
				if (name !== "" && !/^\.+$/.test(name)) await check(`/callbacks/${name}/replay`, { method: "POST" });
			}),
			{ numRuns: Number(env.PROPERTY_RUNS || 60) },
		);
	}, 600_000);
});

/** An entry of the report network with its key. */
function publisherEntry(id: string, access_key: string) {
	return {
		id,
		name: "Acme",
		publisher_id: `id-${id}`,
		publisher_identity: `identity-${id}`,
		serving_engine_enabled: true,
		openrtb_enabled: true,
		publisher_key: `publisher-key-${id}`,
		access_key,
		revenue_share: 0.5,
		pricing_model: "CPA",
		sales_data_enabled: true,
		campaign_id_enabled: true,
	};
}
