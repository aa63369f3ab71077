/** Callbacks on both consoles, and a publisher's replay of all that failed. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { CALLING_LIMIT } from "../../../src/http/limits.ts";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { importConversionNetwork } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";
import { setPublisher } from "../../support/report-rows.ts";

const DAY = Date.parse("2026-11-17T00:00:00Z");
/** Nobody answers there. */
const ADDRESS = "https://publisher.invalid/s2s?token=secret";
const who: Record<string, Visitor> = {};

type Sent = { id: string; publisher?: string; txnid?: string; seq?: number; state?: string; at?: number; held?: string | null };

async function writeCallback({
	id,
	publisher = "cpa",
	txnid = id,
	seq = 1,
	state = "exhausted",
	at = DAY,
	held = null,
}: Sent): Promise<void> {
	await env.DB.prepare(
		`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, held_for, attempt_count, created_at, delivered_at)
		VALUES (?, 'west', ?, ?, ?, 'approved', 'mine <1>', 8000000, ?, ?, ?, 2, ?, ?)`,
	)
		.bind(id, txnid, seq, publisher, at, state, held, at, state === "delivered" ? at : null)
		.run();
}

async function statesOf(ids: string): Promise<Record<string, string>> {
	const { results } = await env.DB.prepare("SELECT id, state FROM callbacks WHERE id LIKE ? ORDER BY id")
		.bind(`${ids}%`)
		.all<{ id: string; state: string }>();
	return Object.fromEntries(results.map(({ id, state }) => [id, state]));
}

async function audited(verb: string) {
	const { results } = await env.DB.prepare(
		"SELECT actor, role, subject_id, counts FROM audit WHERE verb LIKE ? ORDER BY at, subject_id DESC, actor",
	)
		.bind(verb)
		.all();
	return results;
}

const replayByKey = (body: object, key = "access-key-cpa") =>
	exports.default.fetch("http://localhost:8787/api/callbacks/replay", {
		method: "POST",
		headers: { AccessKey: key },
		body: JSON.stringify(body),
	});

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importConversionNetwork();
	await setPublisher("cpa", "callback_url", ADDRESS);
	who.owner = await signIn({ publisher: "cpa", name: "Ada" });
	who.analyst = await signIn({ publisher: "cpa", name: "Ben", role: "analyst" });
	who.other = await signIn({ publisher: "quiet", name: "Cy" });
	who.viewer = await signIn({ staff: "viv", role: "viewer" });
	who.manager = await signIn({ staff: "max", role: "manager" });
	await writeCallback({ id: "a-1", txnid: "sale <1>" });
	await writeCallback({ id: "a-2", txnid: "sale <1>", seq: 2, state: "delivered" });
	await writeCallback({ id: "a-3", state: "delivered" });
	await writeCallback({ id: "a-4", at: DAY - 1 });
	await writeCallback({ id: "a-5", state: "due", held: "pause" });
	await writeCallback({ id: "b-1", publisher: "cpc" });
	await env.DB.prepare(
		"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, http_status, answer) VALUES ('try', 'a-1', ?, 52, 500, '<b>busy</b>')",
	)
		.bind(DAY)
		.run();
	await env.DB.prepare("INSERT INTO callback_health (publisher_id, url, failures_in_a_row, paused_at) VALUES ('cpa', ?, 20, ?)")
		.bind(ADDRESS, DAY)
		.run();
});

describe("worker: a publisher's callbacks in the console", () => {
	it("stand with tries and answers, next to the address and its pause; forms are the owner's alone", async () => {
		const owner = await shown(get("/console/callbacks", who.owner));
		expect(owner.status).toBe(200);
		for (const told of [
			"2 tries, the last 500",
			"&lt;b&gt;busy&lt;/b&gt;",
			"sale &lt;1&gt;",
			"Your address is paused",
			"20 times in a row",
			"to answer again",
			"token=***",
			"Send again",
			"Send a test",
		]) {
			expect(owner.text).toContain(told);
		}
		expect(owner.text).not.toContain("token=secret");
		expect(owner.text).not.toContain(">b-1<");
		const { text } = await shown(get("/console/callbacks?state=exhausted", who.analyst));
		expect(text).toContain("sale &lt;1&gt;");
		expect(text).not.toMatch(/Send again|Send a test|a-3/);
		expect((await shown(get("/console/callbacks?txnid=a-3", who.other))).text).toContain("No callback was found");
		expect((await shown(get("/console/callbacks?state=lost", who.owner))).status).toBe(422);
		const unread = await shown(get("/console/callbacks/replay?from=yesterday", who.owner));
		expect([unread.status, unread.text]).toEqual([
			422,
			expect.stringContaining('<a href="/console/callbacks">see the list without filters</a>'),
		]);
		expect(unread.text).toMatch(/<form method="get" action="\/console\/callbacks\/replay"[\s\S]*name="from"[^>]* value="yesterday"/);
		const without = await shown(get("/console/callbacks/replay", who.owner));
		expect([without.status, without.text]).toEqual([422, expect.stringMatching(/class="fault"[\s\S]*name="from"/)]);
	});

	it("that failed since a day are counted, then sent again with later ones of their transactions, and audited as whoever asked", async () => {
		expect((await shown(get("/console/callbacks/replay?from=2026-11-17&to=2026-11-17", who.owner))).text).toContain("Send 2 again");
		expect(await statesOf("a-1")).toEqual({ "a-1": "exhausted" });
		for (const form of [{ from: "2026-11-17" }, { id: "b-1" }, { id: "" }, {}]) {
			expect([form, (await post("/console/callbacks/replay", who.analyst, form)).status]).toEqual([form, 403]);
		}
		expect((await post("/console/callbacks/replay", who.owner, { id: "b-1" })).status).toBe(404);
		expect((await post("/console/callbacks/replay", who.owner, {})).status).toBe(422);
		const sent = await post("/console/callbacks/replay", who.owner, { from: "2026-11-17" });
		expect([sent.status, sent.headers.get("location")]).toEqual([303, "/console/callbacks?replayed=2"]);
		expect(await statesOf("a-")).toEqual({ "a-1": "due", "a-2": "due", "a-3": "delivered", "a-4": "exhausted", "a-5": "due" });
		expect(await statesOf("b-")).toEqual({ "b-1": "exhausted" });
		const one = await post("/console/callbacks/replay", who.owner, { id: "a-3" });
		expect(one.headers.get("location")).toBe("/console/callbacks?replayed=1&id=a-3");
		expect((await shown(get("/console/callbacks?replayed=1&id=a-3", who.owner))).text).toContain("Sent again: 1");
		expect((await shown(get("/console/callbacks?replayed=%3Cb%3E", who.owner))).text).not.toContain("Sent again");
		expect(await audited("replay%")).toEqual([
			{ actor: "Ada (cpa)", role: "owner", subject_id: "cpa", counts: '{"callbacks":2}' },
			{ actor: "Ada (cpa)", role: "owner", subject_id: "a-3", counts: '{"callbacks":1}' },
		]);
	});

	it("are sent again by a key, too: of a time and a state, of its publisher alone", async () => {
		setNow("2026-11-18T15:01:00Z");
		await writeCallback({ id: "k-1" });
		await writeCallback({ id: "k-2", state: "delivered" });
		expect(await (await replayByKey({ from: "2026-11-17", dry_run: true })).json()).toEqual({ replayed: 1, dry_run: true });
		expect(await (await replayByKey({ from: "2026-11-17", to: "2026-11-17T00:00:00Z" })).status).toBe(422);
		expect(await (await replayByKey({ from: "2026-11-17T00:00:01Z" })).json()).toEqual({ replayed: 0, dry_run: false });
		for (const body of [
			{},
			{ from: "2026-11-17", publisher: "cpc" },
			{ from: 5 },
			{ from: "2026-02-30" },
			{ from: "2026-11-17", state: "lost" },
			{ from: "2026-11-18", to: "2026-11-17" },
		]) {
			expect([body, (await replayByKey(body)).status]).toEqual([body, 422]);
		}
		expect((await replayByKey({ from: "2026-11-17" }, "access-key-nobody")).status).toBe(401);
		expect(await (await replayByKey({ from: "2026-11-17" })).json()).toEqual({ replayed: 1, dry_run: false });
		expect(await statesOf("k-")).toEqual({ "k-1": "due", "k-2": "delivered" });
		expect(await audited("replay%")).toContainEqual({
			actor: "cpa",
			role: "publisher",
			subject_id: "cpa",
			counts: '{"callbacks":1}',
		});
	});

	it("are tested, so many times a minute, and the address is told masked", async () => {
		expect((await post("/console/callbacks/test", who.analyst)).status).toBe(403);
		expect((await post("/console/callbacks/test", who.other)).status).toBe(422);
		setNow("2026-11-18T15:02:00Z");
		const tested = await shown(post("/console/callbacks/test", who.owner));
		expect([tested.status, tested.text]).toEqual([200, expect.stringContaining("token=***&amp;txnid=test-")]);
		expect(tested.text).toContain("no answer");
		for (let call = 1; call < CALLING_LIMIT; call++) await post("/console/callbacks/replay", who.owner, { id: "a-3" });
		expect((await post("/console/callbacks/test", who.owner)).status).toBe(429);
		expect((await replayByKey({ from: "2026-11-17" })).status).toBe(429);
	});
});

describe("worker: all callbacks in the operators' console", () => {
	it("are narrowed down, and a selection is counted before it is sent again", async () => {
		const { text } = await shown(get("/console/operator/callbacks?state=exhausted", who.viewer));
		expect(text).toContain("/console/operator/conversions/west/b-1");
		expect(text).toContain("/console/operator/publishers/cpc");
		expect(text).not.toMatch(/Send again|Test an address/);
		expect((await shown(get("/console/operator/callbacks?state=lost", who.viewer))).status).toBe(422);
		const asked = "publisher=cpc&state=exhausted";
		expect((await shown(get(`/console/operator/callbacks?${asked}`, who.manager))).text).toContain("count them first");
		expect((await get(`/console/operator/callbacks/replay?${asked}`, who.viewer)).status).toBe(403);
		expect((await shown(get(`/console/operator/callbacks/replay?${asked}`, who.manager))).text).toContain("Send 1 again");
		expect((await get("/console/operator/callbacks/replay?state=exhausted", who.manager)).status).toBe(422);
		expect((await post("/console/operator/callbacks/replay", who.viewer, { publisher: "cpc" })).status).toBe(403);
		expect((await post("/console/operator/callbacks/replay", who.manager, { state: "exhausted" })).status).toBe(422);
		expect(await statesOf("b-")).toEqual({ "b-1": "exhausted" });
		const sent = await post("/console/operator/callbacks/replay", who.manager, { publisher: "cpc", state: "exhausted" });
		expect(sent.headers.get("location")).toBe("/console/operator/callbacks?publisher=cpc&state=exhausted&replayed=1");
		expect(await statesOf("b-")).toEqual({ "b-1": "due" });
		expect(await audited("replay%")).toContainEqual({
			actor: "max",
			role: "manager",
			subject_id: "cpc",
			counts: '{"callbacks":1}',
		});
	});

	it("are tested, which is audited", async () => {
		expect((await post("/console/operator/callbacks/test", who.viewer, { publisher: "cpa" })).status).toBe(403);
		for (const publisher of ["", "nobody", "quiet"]) {
			expect([publisher, (await post("/console/operator/callbacks/test", who.manager, { publisher })).status]).toEqual([publisher, 422]);
		}
		const refused = await shown(post("/console/operator/callbacks/test", who.manager, { publisher: "No <body>" }));
		expect(refused.text).toMatch(/class="fault"[\s\S]*name="publisher"[^>]* value="No &lt;body&gt;"/);
		const tested = await shown(post("/console/operator/callbacks/test", who.manager, { publisher: "cpa" }));
		expect([tested.status, tested.text]).toEqual([200, expect.stringContaining("txnid=test-")]);
		expect(await audited("testCallback")).toEqual(
			[
				["Ada (cpa)", "owner"],
				["max", "manager"],
			].map(([actor, role]) => ({ actor, role, subject_id: "cpa", counts: null })),
		);
	});
});
