/** What a publisher's pages show, over the same ledger as its endpoints: real clicks and postbacks, taken in by their consumers. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { capDeps, clickMessage, letters } from "../../support/click-messages.ts";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { consume, importConversionNetwork, postbackMessage } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";

const NOW = "2026-11-18T15:00:00Z";
const AT = Date.parse("2026-11-17T10:00:00Z");
const PERIOD = "from=2026-11-11&to=2026-11-18";

const visitors: Record<string, Visitor> = {};

async function textOf(path: string, who = "cpa"): Promise<string> {
	const { status, text } = await shown(get(path, visitors[who]));
	expect([path, status]).toEqual([path, 200]);
	return text;
}

beforeAll(async () => {
	setNow(NOW);
	await importConversionNetwork();
	for (const publisher of ["cpa", "cpc", "quiet"])
		visitors[publisher] = await signIn({ publisher, name: `of ${publisher}`, role: "analyst" });
	const click = (fields: object) => clickMessage({ at: AT, campaignId: 11, kind: "link", ...fields });
	await consumeClicks(
		capDeps(() => AT),
		letters(
			click({ publisher: "identity-cpa", hash: "a".repeat(32), texts: { clickid: "mine <1>", subi: "blog" } }),
			click({ publisher: "identity-cpa", hash: "b".repeat(32), reason: "bot", at: AT + 1_000 }),
			click({ publisher: "identity-cpc", hash: "c".repeat(32), texts: { clickid: "theirs" } }),
		),
	);
	await env.DB.batch(
		[13, 14].map((hour) =>
			env.DB.prepare("INSERT INTO bid_hours (hour, endpoint, publisher_id, outcome, requests) VALUES (?, 'openrtb', 'cpa', 'bid', 1)").bind(
				Date.parse(`2026-11-17T${hour}:00:00Z`) / 3_600_000,
			),
		),
	);
	const sale = { cid: "a".repeat(32), eventAt: AT };
	await consume(
		postbackMessage("west", { ...sale, txnid: "sale-1" }, AT),
		postbackMessage("west", { ...sale, eventAt: AT + 1_000, txnid: "sale-2", payoutMicros: 5_000_000, status: "pending" }, AT),
	);
});

describe("worker: a publisher's pages", () => {
	it.each([
		["/console/earnings", "from=2026-11-18&to=2026-11-11", "To: must not be before from"],
		["/console/clicks", "from=2020-01-01&to=2026-11-11", "From: must be at most"],
	])("%s that cannot be shown as it was asked for says why, and leads on", async (path, query, why) => {
		const { status, text } = await shown(get(`${path}?${query}`, visitors.cpa));
		expect([status, text]).toEqual([422, expect.stringContaining(why)]);
		expect(text).toContain(`<a href="${path}">see this page without filters</a>`);
		expect(text).not.toContain("Nothing was changed");
		// As it was asked for, to be corrected beside what is wrong.
		for (const [name, value] of new URLSearchParams(query)) expect(text).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`));
		expect(text).toContain('class="fault"');
	});

	it.each(["day", "source", "brand", "country"])("earnings by %s say what the endpoint says", async (group) => {
		const response = await exports.default.fetch(`http://localhost:8787/api/earnings?${PERIOD}&group=${group}`, {
			headers: { AccessKey: "access-key-cpa" },
		});
		const { total, data, unpaid_clicks, conversions } = await response.json<{
			total: Record<string, string>;
			data: Record<string, string>[];
			unpaid_clicks: Record<string, number>;
			conversions: Record<string, number>;
		}>();
		expect([total.publisher_revenue, total.approved_revenue, unpaid_clicks, conversions]).toEqual([
			"12.0000",
			"8.0000",
			{ bot: 1 },
			{ approved: 1, pending: 1, cancelled: 0 },
		]);
		const text = await textOf(`/console/earnings?${PERIOD}&group=${group}`);
		for (const amount of ["publisher_revenue", "approved_revenue", "pending_revenue"]) {
			for (const row of [total, ...data]) expect(text).toContain(`value="${row[amount]}"`);
		}
		expect(text).toContain("A known bot called");
	});

	it("earnings of a whole year by day are drawn, the newest day first beneath", async () => {
		const days = Array.from({ length: 120 }, (_, at) => new Date(Date.parse("2026-03-01") + at * 86_400_000).toISOString().slice(0, 10));
		await env.DB.prepare(
			"INSERT INTO daily_publishers (publisher_id, date, click_count, click_revenue_micros) SELECT 'quiet', atom, 1, 10000 FROM json_each(?)",
		)
			.bind(JSON.stringify(days))
			.run();
		const text = await textOf("/console/earnings?from=2026-01-01&to=2026-11-18", "quiet");
		expect([text.includes("Earned by day"), text.includes('rel="next"')]).toEqual([true, false]);
		const [, table = ""] = text.split("Earnings by day, the newest first");
		const listed = [...table.matchAll(/<time datetime="([\d-]{10})">/g)].map(([, day]) => day);
		expect(listed).toEqual(days.toReversed());
	});

	it("earnings as CSV have the rows of all pages", async () => {
		const lines = (await textOf(`/console/earnings.csv?${PERIOD}&group=source`)).trim().split("\r\n");
		expect(lines[0]?.split(",")).toEqual(expect.arrayContaining(["source_id", "publisher_revenue"]));
		expect(lines.some((line) => line.startsWith("blog,"))).toBe(true);
		const empty = await textOf("/console/earnings.csv?from=2026-01-01&to=2026-01-02&group=source");
		expect(empty).toBe(`${lines[0]}\r\n`);
		// Whoever follows the link to it is told by pages.
		const byLink = { "sec-fetch-dest": "document" };
		const ended = await get("/console/earnings.csv", { cookie: "__Host-session=1" }, byLink);
		expect([ended.status, ended.headers.get("location")]).toEqual([303, "/console/sign-in?ended=1&next=%2Fconsole%2Fearnings.csv"]);
		const refused = await shown(get("/console/earnings.csv?from=soon", visitors.cpa, byLink));
		expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("<h1>Earnings as CSV</h1>")]);
	});

	it("clicks and conversions are found by any id, and only one's own", async () => {
		expect(await textOf(`/console/clicks?id=${encodeURIComponent("mine <1>")}`)).toContain("mine &lt;1&gt;");
		expect(await textOf(`/console/clicks?reason=unpaid&${PERIOD}`)).toContain("A known bot called");
		const conversion = await textOf("/console/conversions/sale-1");
		expect(conversion).toContain("Matched to its click");
		expect(conversion).toContain('value="8.0000"');
		expect(await textOf(`/console/conversions?status=pending&${PERIOD}`)).toMatch(/sale-2/);
		for (const other of ["cpc", "quiet"]) {
			expect(await textOf(`/console/clicks?id=${encodeURIComponent("mine <1>")}`, other)).toContain("No click was found");
			expect((await shown(get("/console/conversions/sale-1", visitors[other]))).status).toBe(404);
			expect(await textOf("/console/conversions?id=sale-1", other)).toContain("No conversion was found");
		}
	});

	it.each([
		["/console/clicks", "Clicks", "a".repeat(32), "b".repeat(32)],
		["/console/conversions", "Conversions", "sale-1", "sale-2"],
		["/console/no-bids", "Requests by hour", "2026-11-17T13:00:00", "2026-11-17T14:00:00"],
	])("%s has its rows in the order that it says: the newest first, unless another is asked for", async (path, what, earlier, later) => {
		for (const [order, caption, rows] of [
			["", `${what}, the newest first`, [later, earlier]],
			["&order=newest", `${what}, the newest first`, [later, earlier]],
			["&order=oldest", `${what}, the oldest first`, [earlier, later]],
		] as const) {
			const text = await textOf(`${path}?${PERIOD}${order}`);
			const places = [caption, ...rows].map((part) => text.indexOf(part));
			expect(places).not.toContain(-1);
			expect(places).toEqual(places.toSorted((one, other) => one - other));
		}
	});

	it("links are made, or refused with the reason, and a fault is shown beside its field with what was typed", async () => {
		const urls = "https://shoes.example/\nhttps://unknown.example/ javascript:alert(1)";
		const made = await shown(post("/console/links", visitors.cpa, { urls, subi: "blog" }));
		expect(made.status).toBe(200);
		const [, link = ""] = /<code>(http[^<]*encyp[^<]*)<\/code>/.exec(made.text) ?? [];
		expect(link).toContain("&amp;subi=blog");
		expect(made.text).toContain("no brand has this host");
		expect(made.text).toContain("no http(s) address of a page");
		// The browser leaves out an end of a line that a text begins with: the lines stay beside their addresses.
		const turned = await shown(post("/console/links", visitors.cpa, { urls: urls.split(/\s/).toReversed().join("\n"), subi: "blog" }));
		const all = (text: string) => /<textarea [^>]*name="links"[^>]*>\n?([^<]*)</.exec(text)?.[1]?.split("\n");
		expect([all(made.text), all(turned.text)]).toEqual([
			[link, "", ""],
			["", "", link],
		]);
		expect(all((await shown(post("/console/links", visitors.cpa, { urls: "https://shoes.example/" }))).text)).toBeUndefined();
		const opened = await exports.default.fetch(link.replaceAll("&amp;", "&"), {
			redirect: "manual",
			headers: { "user-agent": "Mozilla/5.0" },
		});
		expect(opened.status).toBe(302);
		const refused = await shown(post("/console/links", visitors.cpa, { urls, country: "<x>" }));
		expect(refused.status).toBe(422);
		expect(refused.text).toContain("must be an ISO country code");
		expect(refused.text).toContain('value="&lt;x&gt;"');
		expect((await shown(post("/console/links", visitors.cpa, {}))).status).toBe(422);
	});

	it("brands are filtered, and a brand has its offers", async () => {
		expect(await textOf("/console/brands?q=shoes")).toContain("shoes.example");
		expect(await textOf("/console/brands?min_price=900")).toContain("No brand was found");
		expect(await textOf("/console/brands/shoes.example")).toContain("Offers of shoes.example");
		expect((await shown(get("/console/brands/nowhere.example", visitors.cpa))).status).toBe(404);
		expect((await shown(get("/console/brands?min_price=cheap", visitors.cpa))).status).toBe(422);
	});

	it("a request is tried with one's own identity, and what is no request is a fault of its field", async () => {
		const bid = await shown(post("/console/no-bids/try", visitors.cpa, { request: "https://rtb.example/bid?bd=shoes.example&cc=US" }));
		expect(bid.text).toContain("What it gets");
		expect(bid.text).toContain("shoes.example");
		expect(bid.text).toContain("&quot;bid_amount&quot;: &quot;");
		const warning = "a click on its link counts as any other";
		expect(bid.text).toContain(warning);
		const none = await shown(post("/console/no-bids/try", visitors.cpa, { request: "bd=nobody.example&cc=US" }));
		expect([none.text.includes("&quot;status&quot;: 0"), none.text.includes(warning)]).toEqual([true, false]);
		for (const request of ["", "nonsense", "[1]", '{"query":5}']) {
			const refused = await shown(post("/console/no-bids/try", visitors.cpa, { request }));
			expect([request, refused.status]).toEqual([request, 422]);
			// The fault leads to the field, which says it too.
			expect(refused.text).toMatch(/<textarea[^>]*aria-describedby="[^"]*field-request-fault"[^>]*aria-invalid="true"/);
		}
		expect(await textOf("/console/no-bids")).toContain("No request was counted");
	});

	it("a bid request is answered as an adapter gets it, as a test: nothing is counted, and its link is shown as an ad", async () => {
		const signal = { regs: { us_privacy: "1YYN" }, user: { id: "user-7", buyeruid: "buyer-7" } };
		const ask = (more: object) =>
			shown(
				post("/console/no-bids/try", visitors.cpa, {
					request: JSON.stringify({ id: "auction-7", imp: [{ id: "1" }], site: { domain: "shoes.example" }, test: 0, ...more }),
				}),
			);
		const bid = await ask(signal);
		expect(bid.text).toContain("HTTP 200");
		expect(bid.text).toContain("US Privacy says no: the link has nothing of the user");
		const [, link = "", shownAs] = /<a href="([^"]*)" target="_blank" rel="noopener noreferrer">([^<]*)<\/a>/.exec(bid.text) ?? [];
		const { searchParams } = new URL(link.replaceAll("&amp;", "&"));
		expect([shownAs, searchParams.get("tsts"), searchParams.get("uid"), searchParams.get("clickid")]).toEqual([
			"shoes.example",
			"1",
			null,
			null,
		]);
		expect(bid.text).toContain("&quot;price&quot;: 0,");
		const none = await ask({ site: { domain: "nobody.example" } });
		expect(none.text).toContain("HTTP 204");
		expect(none.text).toContain("The answer has no body");
		expect((await ask({ id: null })).text).toContain("Invalid OpenRTB bid request");
		expect((await shown(post("/console/no-bids/try", visitors.cpa, { request: " { } " }))).text).toContain("HTTP 400");
		expect(await textOf("/console/no-bids")).toContain("No request was counted");
	});

	it("products are searched in both catalogues", async () => {
		expect(await textOf("/console/products")).toContain("What are you looking for?");
		expect(await textOf("/console/products?keyword=boots")).toContain("No product was found");
		expect(await textOf("/console/products?catalogue=sellers&q=boots")).toContain("No product was found");
	});

	it("a sale that is held is waiting, and nothing else, here and for staff", async () => {
		const cid = "a".repeat(32);
		await consume(
			postbackMessage("west", { cid, eventAt: AT, txnid: "large-1", payoutMicros: 20_000_000_000, status: "approved" }, AT),
			postbackMessage("west", { cid, eventAt: AT, txnid: "test-1", status: "approved" }, AT),
		);
		await env.DB.prepare("UPDATE conversions SET test = 1 WHERE txnid = 'test-1'").run();
		const rowOf = (text: string, txnid: string) => text.split("<tr>").find((row) => row.includes(`<code>${txnid}</code>`)) ?? "none";
		const statesIn = (text: string) => [...text.matchAll(/<span class="state \w+">([^<]*)</g)].map(([, word]) => word);
		const all = await textOf(`/console/conversions?${PERIOD}`);
		expect(statesIn(rowOf(all, "large-1"))).toEqual(["waiting"]);
		expect(rowOf(all, "large-1")).toContain("It waits for a review");
		expect(statesIn(rowOf(all, "test-1"))).toEqual(["test"]);
		expect(statesIn(rowOf(all, "sale-1"))).toEqual(["approved"]);
		const approved = await textOf(`/console/conversions?${PERIOD}&status=approved`);
		expect(["large-1", "test-1", "sale-1"].map((txnid) => approved.includes(`<code>${txnid}</code>`))).toEqual([false, false, true]);
		expect(await textOf(`/console/conversions?${PERIOD}&status=held`)).toContain("<code>large-1</code>");
		expect(new Set(statesIn((await textOf("/console/conversions/large-1")).split("<main")[1] ?? ""))).toEqual(new Set(["waiting"]));
		visitors.staff = await signIn({ staff: "bo", role: "viewer" });
		expect(statesIn(rowOf(await textOf("/console/operator/conversions?status=approved", "staff"), "large-1"))).toEqual(["quarantined"]);
	});

	it("a suspended publisher still sees its earnings, and gets no links", async () => {
		await env.DB.prepare("UPDATE publishers SET status = 'suspended' WHERE id = 'quiet'").run();
		const earnings = await textOf("/console/earnings", "quiet");
		expect(earnings).toContain("Nothing was earned in this time");
		expect((await shown(get("/console/brands", visitors.quiet))).status).toBe(403);
		expect((await shown(post("/console/links", visitors.quiet, { urls: "https://shoes.example/" }))).status).toBe(403);
		expect(await textOf("/console/no-bids", "quiet")).not.toContain('action="/console/no-bids/try"');
		visitors.looking = await signIn({ staff: "who looks", role: "viewer" });
		await post("/console/view-as", visitors.looking, { publisher: "quiet" });
		for (const who of ["quiet", "looking"]) {
			const links = [...(await textOf("/console/earnings", who)).matchAll(/ href="(\/console\/[^"?#]+)/g)].map(([, path = ""]) => path);
			expect(links).toContain("/console/conversions");
			const pages = links.filter((path) => !path.startsWith("/console/assets/"));
			for (const path of pages) expect([who, path, (await get(path, visitors[who])).status]).toEqual([who, path, 200]);
		}
		expect((await shown(get("/console/links", visitors.looking))).text).toContain(
			"This publisher&#39;s account is suspended: until it is active",
		);
		const active = await textOf("/console/earnings");
		for (const path of ["links", "brands", "products"]) {
			expect([path, earnings.includes(`"/console/${path}"`), active.includes(`"/console/${path}"`)]).toEqual([path, false, true]);
		}
	});

	it("a conversion is reached whatever its transaction id is, and each of two platforms' that have the same stands by itself", async () => {
		const hats = { at: AT, campaignId: 12, kind: "link", publisher: "identity-cpa", hash: "d".repeat(32) } as const;
		await consumeClicks(
			capDeps(() => AT),
			letters(clickMessage({ ...hats, texts: { clickid: "hats" } })),
		);
		await consume(
			postbackMessage("west", { cid: "a".repeat(32), eventAt: AT, txnid: ".." }, AT),
			postbackMessage("east", { cid: "d".repeat(32), eventAt: AT, txnid: ".." }, AT),
		);
		expect(await textOf(`/console/conversions?${PERIOD}`)).toContain('href="/console/conversions/..%20"');
		const text = await textOf("/console/conversions/..%20");
		for (const caption of ["History of .. (1 of 2)", "History of .. (2 of 2)"]) expect(text).toContain(caption);
	});
});
