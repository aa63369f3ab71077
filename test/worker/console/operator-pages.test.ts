/** What operators' pages show, over the same ledger as their endpoints: real clicks and postbacks, taken in by their consumers. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { RECEIVED_AT } from "../../../src/operator/postback-problems/replay-request.ts";
import { capDeps, clickMessage, letters } from "../../support/click-messages.ts";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { consume, importConversionNetwork, postbackMessage } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";

const AT = Date.parse("2026-11-17T10:00:00Z");
const PERIOD = "from=2026-11-11&to=2026-11-18";
const visitors: Record<string, Visitor> = {};

async function textOf(path: string, who = "viewer"): Promise<string> {
	const { status, text } = await shown(get(path, visitors[who]));
	expect([path, status]).toEqual([path, 200]);
	return text;
}

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importConversionNetwork();
	for (const role of ["viewer", "finance"]) visitors[role] = await signIn({ staff: `the ${role}`, role });
	const click = (fields: object) => clickMessage({ at: AT, campaignId: 11, kind: "link", ...fields });
	await consumeClicks(
		capDeps(() => AT),
		letters(
			click({ publisher: "identity-cpa", hash: "a".repeat(32), texts: { clickid: "mine <1>", subi: "blog" } }),
			click({ publisher: "identity-cpa", hash: "b".repeat(32), reason: "bot" }),
			click({ publisher: "identity-cpc", hash: "c".repeat(32) }),
		),
	);
	await consume(
		postbackMessage("west", { cid: "a".repeat(32), txnid: "sale-1", eventAt: AT }, AT),
		postbackMessage("west", { cid: "0".repeat(32), txnid: "lost-1", eventAt: AT }, AT),
	);
});

describe("worker: operators' pages", () => {
	it("home has what the status and the reports have", async () => {
		const text = await textOf(`/console/operator?${PERIOD}`);
		const response = await exports.default.fetch(`http://localhost:8787/operator/reports?${PERIOD}`, {
			headers: { OperatorKey: env.OPERATOR_KEY },
		});
		const { total } = await response.json<{ total: Record<string, string> }>();
		expect(total.gross_revenue).toBe("10.0000");
		expect(text).toMatch(new RegExp(`value="${total.pending_revenue}".{0,99} of it pending`));
		for (const name of ["gross_revenue", "publisher_revenue", "margin"]) expect(text).toContain(`value="${total[name]}"`);
		expect(text).toContain("A known bot called");
	});

	it("home leads from its figures to what they count", async () => {
		const home = await textOf("/console/operator");
		for (const [name, at, chosen] of [
			["Conversions waiting", "conversions?stage=waiting", "waiting"],
			["Conversions quarantined", "conversions?stage=quarantined", "quarantined"],
			["Callbacks not confirmed yet", "callbacks?state=due", "due"],
		]) {
			expect(home).toContain(`<a href="/console/operator/${at}">${name}</a>`);
			expect(await textOf(`/console/operator/${at}`)).toContain(`<option value="${chosen}" selected`);
		}
	});

	it("home leads to conversions that differ from the ledger, and says what mends each", async () => {
		expect(await textOf("/console/operator")).not.toContain("What mends it");
		await env.DB.batch(
			[
				["sale-1", "callbacks", "no_credit", null, "8.0000"],
				["lost-1", "history", "payout_micros", "1", "2"],
			].map((values) =>
				env.DB.prepare(
					`INSERT INTO ledger_differences (platform, publisher_id, txnid, kind, field, stored, expected, found_at)
					VALUES ('west', 'cpa', ?, ?, ?, ?, ?, 1)`,
				).bind(...values),
			),
		);
		const text = await textOf("/console/operator");
		const [, anchor = "none"] = /<a href="#([^"]+)">conversions differ from their events/.exec(text) ?? [];
		expect(text).toContain(`id="${anchor}"`);
		expect(text).toContain("Void it, then restore it");
		expect(text).toContain("payout micros is not what its events give");
		expect(text).toContain('<a href="/console/operator/conversions/west/sale-1">');
		await env.DB.prepare("DELETE FROM ledger_differences").run();
	});

	it("home has money of times whose requests are not counted any more, and says so", async () => {
		const NOTE = "those of earlier days are not known any more";
		const year = await textOf("/console/operator?from=2026-01-01&to=2026-11-18");
		expect([year.includes('value="10.0000"'), year.includes(NOTE), year.includes("Fill")]).toEqual([true, true, true]);
		const before = await textOf("/console/operator?from=2026-08-01&to=2026-08-31");
		expect([before.includes(NOTE), before.includes("There was no request in this time")]).toEqual([true, false]);
		expect(await textOf("/console/operator?from=2026-10-15&to=2026-11-30")).not.toContain(NOTE);
	});

	it.each(["publisher", "publisher,source", "brand", "campaign", "platform", "country", "kind", "day"])("traffic by %s", async (group) => {
		expect(await textOf(`/console/operator/traffic?${PERIOD}&group=${group}`)).toContain("Traffic from 2026-11-11 to 2026-11-18");
	});

	it("traffic by day has the newest day first, and all of them", async () => {
		await env.DB.prepare(
			`INSERT INTO daily_network (date, publisher_id, campaign_id, brand_id, platform, country, kind, reason, click_count)
			VALUES ('2026-11-12', 'cpa', 11, 1, 'west', 'US', 'link', 'bot', 9)`,
		).run();
		const text = await textOf(`/console/operator/traffic?${PERIOD}&group=day`);
		expect(text.indexOf('scope="row">2026-11-17')).toBeGreaterThan(0);
		expect(text.indexOf('scope="row">2026-11-12')).toBeGreaterThan(text.indexOf('scope="row">2026-11-17'));
		await env.DB.prepare("DELETE FROM daily_network WHERE date = '2026-11-12'").run();
	});

	it("traffic says what of a month's money is pending, and sums up what stands on all pages; as CSV, too", async () => {
		await env.DB.prepare(
			`INSERT INTO daily_network (date, publisher_id, campaign_id, brand_id, platform, country, kind, reason, pending_count,
				conversion_revenue_micros, pending_revenue_micros, gross_micros, pending_gross_micros)
			VALUES ('2026-11-12', 'quiet', 11, 1, 'west', 'US', 'link', '', 2, 3000000, 3000000, 4000000, 4000000)`,
		).run();
		const path = `?${PERIOD}&group=publisher&limit=1`;
		const text = await textOf(`/console/operator/traffic${path}`);
		const [, sums = ""] = text.split("<tfoot>");
		expect(text).toMatch(/Of it pending/);
		const amounts = [...sums.matchAll(/<data [^>]*value="(-?\d+\.\d{4})"/g)].map(([, usd]) => usd);
		const response = await exports.default.fetch(`http://localhost:8787/operator/reports${path}`, {
			headers: { OperatorKey: env.OPERATOR_KEY },
		});
		const { total } = await response.json<{ total: Record<string, string> }>();
		const { gross_revenue, pending_gross_revenue, publisher_revenue, pending_revenue, margin } = total;
		expect([pending_gross_revenue, pending_revenue]).toEqual(["4.0000", "3.0000"]);
		expect(amounts.slice(-5)).toEqual([gross_revenue, pending_gross_revenue, publisher_revenue, pending_revenue, margin]);

		const [, link = ""] = /href="([^"]+)">As CSV/.exec(text) ?? [];
		const csv = await get(link.replaceAll("&amp;", "&"), visitors.viewer);
		expect(csv.headers.get("content-disposition")).toBe('attachment; filename="network-publisher-2026-11-11-2026-11-18.csv"');
		const lines = (await csv.text()).trim().split("\r\n");
		expect(lines[0]).toMatch(/^publisher,gross_revenue,publisher_revenue,pending_revenue,.*,pending_gross_revenue,/);
		expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(["cpa", "cpc", "quiet"]);
		await env.DB.prepare("DELETE FROM daily_network WHERE date = '2026-11-12'").run();
	});

	it("traffic as CSV is refused where it has more rows than it takes, and has all up to there", async () => {
		const path = "/console/operator/traffic.csv?from=2026-01-01&to=2026-01-01&group=source";
		const add = (from: number, to: number) =>
			env.DB.prepare(
				`INSERT INTO daily_sources (publisher_id, date, source_id, click_count)
				WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT 'quiet', '2026-01-01', 's-' || i, 1 FROM n`,
			).run();
		// One row more is what the others lack.
		await add(1, 19_999);
		expect((await (await get(path, visitors.viewer)).text()).trim().split("\r\n")).toHaveLength(1 + 20_000);
		await add(20_000, 20_000);
		const refused = await get(path, visitors.viewer);
		expect([refused.status, (await refused.text()).includes("more than 20000 rows")]).toEqual([422, true]);
		await env.DB.prepare("DELETE FROM daily_sources WHERE date = '2026-01-01'").run();
	});

	const CLICKS = "/console/operator/clicks";
	const hashesIn = (text: string) => [...text.matchAll(/<code>([abc])\1{31}<\/code>/g)].map(([, letter]) => letter);

	it.each([
		["", ["c", "b", "a"]],
		["publisher=cpa", ["b", "a"]],
		["reason=unpaid", ["b"]],
		["reason=bot", ["b"]],
		["reason=paid&brand=https://www.shoes.example/x", ["c", "a"]],
		["campaign=11&platform=west&country=us&kind=link&from=2026-11-17&to=2026-11-17", ["c", "b", "a"]],
		["to=2026-11-16", []],
		["source=blog", ["a"]],
		["id=mine+%3C1%3E", ["a"]],
		[`id=${"b".repeat(32)}`, ["b"]],
	])("clicks by %s", async (query, hashes) => {
		const text = await textOf(`${CLICKS}?${query}`);
		expect(hashesIn(text).toSorted()).toEqual(hashes.toSorted());
		expect(text.includes("A known bot called</td>")).toBe(hashes.includes("b"));
		expect(text.includes("mine &lt;1&gt;")).toBe(hashes.includes("a"));
	});

	it("each click leads to what is known of it, and pages follow each other", async () => {
		const seen: (string | undefined)[] = [];
		for (let path: string | undefined = `${CLICKS}?limit=1&publisher=cpa`; path !== undefined; ) {
			const text: string = await textOf(path);
			const [, found = ""] = /href="(\/console\/operator\/find\?id=[^"]+)"/.exec(text) ?? [];
			expect(await textOf(found)).toContain("Clicked at");
			seen.push(...hashesIn(text));
			path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
		}
		expect(seen.toSorted()).toEqual(["a", "b"]);
	});

	it.each(["reason=no", "campaign=x", "cursor=x", "country=USA", "from=soon", "limit=0", "unknown=1"])(
		"clicks by %s are a fault",
		async (query) => {
			expect((await shown(get(`${CLICKS}?${query}`, visitors.viewer))).status).toBe(422);
		},
	);

	/** Addresses of a page's links that begin so. */
	const linksOf = (text: string, beginning: string) =>
		[...text.matchAll(/href="([^"]+)"/g)]
			.map(([, href = ""]) => href.replaceAll("&amp;", "&"))
			.filter((href) => href.startsWith(beginning));

	it.each([
		["publisher", 3],
		["publisher,source", 1],
		["brand", 2],
		["campaign", 2],
		["platform", 2],
		["country", 2],
		["kind", 2],
		["day", 2],
	])("traffic by %s leads to the clicks that it counts", async (group, count) => {
		const links = linksOf(await textOf(`/console/operator/traffic?${PERIOD}&group=${group}`), `${CLICKS}?`);
		expect(links).toHaveLength(count);
		const listed = await Promise.all(links.map(async (link) => hashesIn(await textOf(link))));
		expect(listed.flat().toSorted()).toEqual(group === "publisher,source" ? ["a"] : ["a", "b", "c"]);
	});

	it("entries, the home page and a conversion lead to their clicks", async () => {
		for (const [page, query] of [
			["publishers/cpa", "publisher=cpa"],
			["brands/shoes.example", "brand=shoes.example"],
			["campaigns/11", "campaign=11"],
			["platforms/west", "platform=west"],
		]) {
			expect(linksOf(await textOf(`/console/operator/${page}`), CLICKS)).toEqual([CLICKS, `${CLICKS}?${query}`]);
		}
		const unpaid = linksOf(await textOf(`/console/operator?${PERIOD}`), `${CLICKS}?`);
		expect(unpaid).toEqual([`${CLICKS}?reason=bot&${PERIOD}`]);
		expect(linksOf(await textOf("/console/operator/conversions/west/sale-1"), "/console/operator/find?")).toHaveLength(1);
	});

	it("what leads to voiding clicks means those that are listed: days up to the last, and the paid ones alone", async () => {
		const voids = async (path: string) => linksOf(await textOf(path), "/console/operator/adjustments?");
		const VOID = "/console/operator/adjustments?";
		expect(await voids(`/console/operator/traffic?${PERIOD}&publisher=cpa`)).toEqual([`${VOID}${PERIOD}&publisher=cpa`]);
		expect(await voids(`${CLICKS}?publisher=cpa&to=2026-11-17&reason=paid`)).toEqual([`${VOID}publisher=cpa&to=2026-11-17`]);
		expect(await voids(`${CLICKS}?source=blog&to=2026-11-17T10:30:00Z`)).toEqual([`${VOID}source=blog&to=2026-11-17T10%3A30%3A00Z`]);
		for (const query of ["", "reason=unpaid&publisher=cpa", "publisher=cpa&country=US", "id=1&publisher=cpa"]) {
			expect(await voids(`${CLICKS}?${query}`)).toEqual([]);
		}
	});

	it("find knows clicks, transactions, publishers' click ids, entries and keys", async () => {
		expect(await textOf(`/console/operator/find?id=${"a".repeat(32)}`)).toContain("sale-1");
		expect(await textOf("/console/operator/find?id=sale-1")).toContain("/console/operator/conversions/west/sale-1");
		expect(await textOf("/console/operator/find?id=mine+%3C1%3E")).toContain("mine &lt;1&gt;");
		for (const [id, address] of [
			["cpa", "/console/operator/publishers/cpa"],
			["shoes.example", "/console/operator/brands/shoes.example"],
			["11", "/console/operator/campaigns/11"],
			["west", "/console/operator/platforms/west"],
		]) {
			const response = await get(`/console/operator/find?id=${id}`, visitors.viewer);
			expect([response.status, response.headers.get("location")]).toEqual([303, address]);
		}
		const key = await env.DB.prepare(
			"SELECT substr(hash, 1, 12) AS id FROM access_keys WHERE owner_id = 'cpa' AND kind = 'access_key'",
		).first("id");
		const found = await get(`/console/operator/find?id=${key}`, visitors.viewer);
		expect(found.headers.get("location")).toBe("/console/operator/keys?owner=cpa&kind=access_key");
		expect(await textOf("/console/operator/find?id=nobody")).toContain("Nothing of this id is known");
		for (const hostile of ["'; DROP TABLE clicks --", "%", "\0", "<script>"]) {
			expect(await textOf(`/console/operator/find?id=${encodeURIComponent(hostile)}`)).not.toContain("<script>");
		}
		expect((await shown(get(`/console/operator/find?id=${"x".repeat(2_000)}`, visitors.viewer))).status).toBe(422);
	});

	it("explains a Serving Engine's query and a bid request, and says what is neither", async () => {
		const explain = (who: string, request: string) => shown(post("/console/operator/explain", visitors.viewer, { who, request }));
		expect((await explain("id-cpa", "bd=shoes.example&cc=US")).text).toContain("What it gets");
		expect((await explain("", "https://rtb.example/bid?bd=shoes.example&cc=US&pubi=id-cpa")).text).toContain("What it gets");
		const body = JSON.stringify({ id: "1", imp: [{ id: "1" }], site: { domain: "shoes.example" }, device: { geo: { country: "USA" } } });
		expect((await explain("identity-cpa", body)).text).toContain("What it gets");
		for (const request of ["", "nonsense"]) expect((await explain("id-cpa", request)).status).toBe(422);
	});

	it("dead letters are shown, and sent again by those who may", async () => {
		await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d-1', 'postbacks', '{\"x\":\"<b>\"}', ?)")
			.bind(AT)
			.run();
		const listed = await textOf("/console/operator/dead-letters");
		expect([listed.includes("&lt;b&gt;"), listed.includes("Send again…")]).toEqual([true, false]);
		expect(await textOf("/console/operator/dead-letters", "finance")).toContain("Send again…");
		expect((await shown(post("/console/operator/dead-letters/replay", visitors.viewer, { queue: "postbacks" }))).status).toBe(403);
		const response = await post("/console/operator/dead-letters/replay", visitors.finance, { queue: "postbacks" });
		expect([response.status, response.headers.get("location")]).toEqual([303, "/console/operator/dead-letters?replayed=1&queue=postbacks"]);
		expect(await textOf("/console/operator/audit?verb=replayDeadLetters")).toContain("the finance");
	});

	const CONVERSION = "/console/operator/conversions/west";

	it("conversions have the time by which they count, and no amount once they are cancelled", async () => {
		await env.DB.prepare("UPDATE conversions SET event_at = ? WHERE txnid = 'sale-1'").bind(Date.parse("2026-10-31T23:59:59Z")).run();
		for (const [status, earned] of [
			["approved", ["10.0000", "8.0000"]],
			["cancelled", []],
		] as const) {
			await env.DB.prepare("UPDATE conversions SET status = ? WHERE txnid = 'sale-1'").bind(status).run();
			const text = await textOf("/console/operator/conversions?platform=west");
			const [row = ""] = text.split("<tr>").filter((part) => part.includes("sale-1"));
			expect(row).toContain('datetime="2026-10-31T23:59:59.000Z"');
			expect([...row.matchAll(/value="([\d.]+)"/g)].map(([, usd]) => usd)).toEqual(earned);
			const [found = ""] = (await textOf("/console/operator/find?id=sale-1")).split("<tr>").filter((part) => part.includes("/sale-1"));
			expect([status, found.includes('value="8.0000"')]).toEqual([status, status === "approved"]);
		}
		await env.DB.prepare("UPDATE conversions SET status = 'approved', event_at = ? WHERE txnid = 'sale-1'").bind(AT).run();
	});

	it("a conversion without a click is found, attached after a look at what that comes to, voided and restored; each once", async () => {
		expect(await textOf("/console/operator/conversions?platform=west")).toContain("lost-1");
		expect(await textOf(`${CONVERSION}/lost-1`)).not.toContain('method="post" action="/console/operator');
		const found = await textOf(`${CONVERSION}/lost-1?click=${"c".repeat(32)}`, "finance");
		const [, click = ""] = /name="click" value="([^"]+)"/.exec(found) ?? [];
		expect(click).not.toBe("");
		expect((await shown(post(`${CONVERSION}/lost-1/attach`, visitors.viewer, { click, text: "seen" }))).status).toBe(403);
		expect((await shown(post(`${CONVERSION}/lost-1/attach`, visitors.finance, { click }))).status).toBe(422);
		const long = `seen ${"x".repeat(2_000)}`;
		for (const verb of ["attach", "void"]) {
			const refused = await shown(post(`${CONVERSION}/lost-1/${verb}`, visitors.finance, { click, text: long }));
			expect([refused.status, refused.text.includes(`value="${long}"`), refused.text.includes("<details open")]).toEqual([422, true, true]);
		}
		const look = await shown(post(`${CONVERSION}/lost-1/attach`, visitors.finance, { click, text: "seen <b>" }));
		expect([look.status, look.text.includes('value="seen &lt;b&gt;"')]).toEqual([200, true]);
		for (const told of ["<h1>Attach conversion lost-1</h1>", "<dd>seen &lt;b&gt;</dd>", `<code>${click}</code>`])
			expect(look.text).toContain(told);
		const [, id = ""] = /name="id" value="([^"]+)"/.exec(look.text) ?? [];
		const stageOf = () => env.DB.prepare("SELECT stage FROM conversions WHERE txnid = 'lost-1'").first("stage");
		expect(await stageOf()).not.toBe("settled");
		for (let times = 0; times < 2; times++) {
			const done = await post(`${CONVERSION}/lost-1/attach`, visitors.finance, { click, text: "seen <b>", step: "do", id });
			expect([done.status, done.headers.get("location")]).toEqual([303, `${CONVERSION}/lost-1?done=attach`]);
		}
		expect(await stageOf()).toBe("settled");
		expect(await env.DB.prepare("SELECT count(*) AS n FROM adjustments WHERE kind = 'attach_conversion'").first("n")).toBe(1);
		for (const verb of ["void", "restore"]) {
			const done = await post(`${CONVERSION}/lost-1/${verb}`, visitors.finance, { text: "checked", step: "do" });
			expect(done.headers.get("location")).toBe(`${CONVERSION}/lost-1?done=${verb}`);
		}
		expect(await textOf(`${CONVERSION}/lost-1`)).toContain("the finance");
		expect((await shown(get(`${CONVERSION}/nothing`, visitors.viewer))).status).toBe(404);
		expect((await shown(get(`${CONVERSION}/lost-1?from=soon`, visitors.viewer))).status).toBe(422);
	});

	it("a conversion is released for what was shown: not what its platform has made of it meanwhile", async () => {
		const sale = (payoutMicros: number) =>
			consume(postbackMessage("west", { cid: "a".repeat(32), txnid: "raised-1", eventAt: AT, payoutMicros }, Date.now()));
		const address = `${CONVERSION}/raised-1/release`;
		await sale(20_000_000_000);
		const look = await shown(post(address, visitors.finance, { text: "checked" }));
		const [, up_to = ""] = /name="up_to" value="([^"]+)"/.exec(look.text) ?? [];
		expect([look.status, up_to]).toEqual([200, "20000.0000"]);
		await sale(900_000_000_000);
		const refused = await shown(post(address, visitors.finance, { text: "checked", up_to, step: "do" }));
		expect([refused.status, refused.text.includes("it is worth by now, 900000.0000 USD")]).toEqual([422, true]);
		await sale(20_000_000_000);
		expect((await post(address, visitors.finance, { text: "checked", up_to, step: "do" })).status).toBe(303);
		expect(await env.DB.prepare("SELECT stage FROM conversions WHERE txnid = 'raised-1'").first("stage")).toBe("settled");
	});

	it.each([".", ".."])("a conversion whose transaction id is %j is led to, and settled there", async (txnid) => {
		await consume(postbackMessage("west", { cid: "a".repeat(32), txnid, eventAt: AT }, AT));
		const address = `${CONVERSION}/${txnid}%20`;
		for (const path of ["/console/operator/conversions?platform=west", `/console/operator/find?id=${txnid}`])
			expect(await textOf(path)).toContain(`href="${address}"`);
		expect(await textOf(address, "finance")).toContain(`action="${address}/void"`);
		const done = await post(`${address}/void`, visitors.finance, { text: "checked", step: "do" });
		expect(done.headers.get("location")).toBe(`${address}?done=void`);
		expect(await env.DB.prepare("SELECT verdict FROM conversions WHERE txnid = ?").bind(txnid).first("verdict")).toBe("voided");
		const shownByVerb = await exports.default.fetch(`http://localhost:8787/operator/conversions/west/${txnid}%20`, {
			headers: { OperatorKey: env.OPERATOR_KEY },
		});
		expect([shownByVerb.status, await shownByVerb.json()]).toMatchObject([200, { conversion: { txnid } }]);
	});

	it("a conversion without a rate is told what ends that, and offers no word that would be refused", async () => {
		await consume(postbackMessage("west", { cid: "a".repeat(32), txnid: "no-rate-1", eventAt: AT, currency: "XYZ" }, AT));
		await consume(postbackMessage("west", { cid: "a".repeat(32), txnid: "large-1", eventAt: AT, payoutMicros: 20_000_000_000 }, AT));
		const PATH = "/console/operator/conversions/west";
		const text = await textOf(`${PATH}/no-rate-1`, "finance");
		expect(text).toContain("An exchange rate of its currency and day: import it");
		expect([text.includes(`${PATH}/no-rate-1/release`), text.includes(`${PATH}/no-rate-1/void`)]).toEqual([false, true]);
		const large = await textOf(`${PATH}/large-1`, "finance");
		expect([large.includes(`${PATH}/large-1/release`), large.includes("What ends that")]).toEqual([true, false]);
	});

	it("an amount is looked at, added once, and undone", async () => {
		const amount = { kind: "amount", publisher: "cpa", date: "2026-11-17", amount: "1.50", text: "goodwill" };
		const PATH = "/console/operator/adjustments";
		expect((await shown(post(PATH, visitors.viewer, amount))).status).toBe(403);
		expect(await textOf(PATH)).not.toContain(`method="post" action="${PATH}"`);
		for (const wrong of [{ ...amount, amount: "much" }, { ...amount, publisher: "nobody" }, { kind: "unknown" }, {}]) {
			expect((await shown(post(PATH, visitors.finance, wrong as Record<string, string>))).status).toBe(422);
		}
		const look = await shown(post(PATH, visitors.finance, amount));
		const [, id = ""] = /name="id" value="([^"]+)"/.exec(look.text) ?? [];
		expect(look.text).toContain('value="1.5000"');
		for (let times = 0; times < 2; times++) expect((await post(PATH, visitors.finance, { ...amount, step: "do", id })).status).toBe(303);
		const listed = await textOf(PATH);
		expect(listed).toContain("goodwill");
		expect(listed).toContain('publisher <a href="/console/operator/publishers/cpa">cpa</a>, date 2026-11-17, amount 1.50</td>');
		const long = "x".repeat(2_000);
		const refused = await shown(post(PATH, visitors.finance, { kind: "undo", adjustment: id, text: long }));
		expect([refused.status, refused.text.includes(`value="${long}"`), refused.text.includes('href="#field-undo-text"')]).toEqual([
			422,
			true,
			true,
		]);
		const undo = await post(PATH, visitors.finance, { kind: "undo", adjustment: id, text: "by mistake", step: "do" });
		expect(undo.status).toBe(303);
		const sum = await env.DB.prepare("SELECT SUM(adjustment_micros) AS sum FROM daily_publishers WHERE publisher_id = 'cpa'").first("sum");
		expect(sum).toBe(0);
	});

	it("a revaluation, which earlier rates undo, is offered no undo", async () => {
		const revalued = "INSERT INTO adjustments (id, kind, actor, at, text, request) VALUES ('rates-1', 'revalue', 'x', 0, 'y', '{}')";
		await env.DB.prepare(revalued).run();
		const listed = await textOf("/console/operator/adjustments", "finance");
		expect([listed.includes("<td>revalue</td>"), listed.includes('value="rates-1"')]).toEqual([true, false]);
	});

	it("problems with postbacks have their fix, the address to give to the platform, and a replay", async () => {
		await exports.default.fetch(
			"http://localhost:8787/api/postback/platform-key-west?txnid=bad-1&cid=x&edate=2026-11-17&payout={{commission}}",
		);
		await vi.waitFor(async () => expect(await textOf("/console/operator/postback-problems")).toContain("placeholder"), { timeout: 20_000 });
		const text = await textOf("/console/operator/postback-problems?platform=west");
		expect(text).toContain("/api/postback/{access_key}?");
		expect([text.includes("Issue a key"), text.includes("Send through again")]).toEqual([false, false]);
		expect(await textOf("/console/operator/postback-problems?platform=west", "finance")).toContain("Send through again");
		expect(await textOf("/console/operator/postback-problems?platform=nobody")).toContain("No platform has this id");
		const replay = (form: Record<string, string>) => shown(post("/console/operator/postback-problems/replay", visitors.finance, form));
		expect((await replay({ platform: "west" })).text).toContain("Nothing was sent through yet");
		expect((await replay({ platform: "west", step: "do" })).text).toContain("They were sent through");
		expect((await replay({ platform: "west", map_payout: RECEIVED_AT })).status).toBe(422);
		expect((await replay({ platform: "nobody" })).status).toBe(422);
		const refused = (await replay({ platform: "west", map_sales: "amount", from: "soon" })).text;
		expect(refused).toContain('<a href="#field-from">Received from</a>');
		expect(refused).toMatch(/<details open[^>]*>[\s\S]*name="map_sales"[^>]* value="amount"/);
		expect(refused).toContain("<h1>Problems with postbacks</h1>");
	});
});
