/** What operators' pages show, over the same ledger as their endpoints: real clicks and postbacks, taken in by their consumers. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
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
		for (const name of ["gross_revenue", "publisher_revenue", "margin"]) expect(text).toContain(`value="${total[name]}"`);
		expect(text).toContain("A known bot called");
	});

	it.each(["publisher", "publisher,source", "brand", "campaign", "platform", "country", "kind", "day"])("traffic by %s", async (group) => {
		expect(await textOf(`/console/operator/traffic?${PERIOD}&group=${group}`)).toContain("Traffic from 2026-11-11 to 2026-11-18");
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
		expect(await textOf("/console/operator/dead-letters")).toContain("&lt;b&gt;");
		expect((await shown(post("/console/operator/dead-letters/replay", visitors.viewer, { queue: "postbacks" }))).status).toBe(403);
		const response = await post("/console/operator/dead-letters/replay", visitors.finance, { queue: "postbacks" });
		expect([response.status, response.headers.get("location")]).toEqual([303, "/console/operator/dead-letters?replayed=1&queue=postbacks"]);
		expect(await textOf("/console/operator/audit?verb=replayDeadLetters")).toContain("the finance");
	});
});
