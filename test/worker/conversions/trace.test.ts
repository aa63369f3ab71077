/** POST /operator/trace: the whole way of a sale. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { type Trace, traceAnswerSchema } from "../../../src/conversions/trace-answer.ts";
import { openDatabase } from "../../../src/db/client.ts";
import {
	callPostback,
	clickRow,
	consume,
	importConversionNetwork,
	postbackFields,
	postbackMessage,
	readAll,
	storeClicks,
	WEST_KEY,
} from "../../support/conversions.ts";
import { OPERATOR_HEADERS } from "../../support/network-import.ts";

async function ask(body: string, headers: Record<string, string> = OPERATOR_HEADERS): Promise<Response> {
	return exports.default.fetch("https://base.example/operator/trace", { method: "POST", headers, body });
}

function acceptedRequest({ postbacks }: Trace): string {
	return String(postbacks.find(({ outcome }) => outcome === "accepted")?.id);
}

async function trace(id: string): Promise<Trace> {
	const response = await ask(JSON.stringify({ id }));
	expect(response.status).toBe(200);
	return v.parse(traceAnswerSchema, await response.json());
}

describe("worker: tracing a sale", () => {
	const click = clickRow({ publisher_click_id: "click-77" });

	beforeAll(async () => {
		await importConversionNetwork();
		await storeClicks(click);
		const cid = String(click.click_hash);
		await callPostback(WEST_KEY, new URLSearchParams({ ...postbackFields({ txnid: "T-1001", cid }), payout: "lots" }).toString());
		await vi.waitFor(async () => expect(await readAll("SELECT id FROM postback_intake")).toHaveLength(1), { timeout: 20_000 });
		await consume(postbackMessage("west", { txnid: "T-1001", cid: cid.toUpperCase(), salesMicros: 50_000_000 }));
		await consume(postbackMessage("west", { txnid: "T-1001", cid: cid.toUpperCase(), status: "void" }));
		const [callback] = await readAll("SELECT id FROM callbacks WHERE seq = 1");
		await env.DB.prepare(
			"INSERT INTO callback_attempts (id, callback_id, started_at, http_status, latency_ms, answer) VALUES ('a1', ?, 1794312000000, 503, 12, 'busy')",
		)
			.bind(String(callback?.id))
			.run();
	});

	test("tells the click, each postback with its answer, each event, the attribution and each callback attempt", async () => {
		const { clicks, postbacks, conversions } = await trace("T-1001");
		expect(clicks).toMatchObject([
			{
				id: click.id,
				click_hash: click.click_hash,
				billed: true,
				publisher: "cpa",
				publisher_click_id: "click-77",
				campaign_id: 11,
				brand: "shoes.example",
			},
		]);
		expect(postbacks).toMatchObject([
			{ outcome: "rejected", answer: { error_code: 1, errors: { payout: ["The payout must be a number."] } } },
			{ outcome: "accepted", platform: "west" },
			{ outcome: "accepted", platform: "west" },
		]);
		expect(conversions).toMatchObject([
			{
				platform: "west",
				txnid: "T-1001",
				stage: "settled",
				status: "cancelled",
				attribution: "click_hash",
				payout: "10.0000",
				publisher_revenue: "8.0000",
				sales_usd: "50.0000",
				revenue_share: 0.8,
				event_at: "2026-11-10T12:00:00.000Z",
				events: [
					{ kind: "received" },
					{ kind: "attributed", set: { stage: "settled" } },
					{ kind: "changed", set: { status: "cancelled" } },
				],
				callbacks: [
					{
						seq: 1,
						status: "approved",
						payout: "8.0000",
						attempts: [{ at: "2026-11-10T12:00:00.000Z", http_status: 503, latency_ms: 12, answer: "busy" }],
					},
					{ seq: 2, status: "cancelled", attempts: [] },
				],
			},
		]);
	});

	test("its events, one after the other, come to what it is now, by the same names and in the same forms", async () => {
		const [conversion] = (await trace("T-1001")).conversions;
		const { events, ...shown } = conversion as unknown as Record<string, unknown> & { events: { set: Record<string, unknown> }[] };
		const told: Record<string, unknown> = Object.assign({}, ...events.map(({ set }) => set));
		const { brand_id, clicked_at, held_for, ...others } = told;
		expect(shown).toMatchObject(others);
		expect(Object.keys(others)).toEqual(expect.arrayContaining(["payout", "usd_rate", "gross_usd", "revenue_share", "publisher_revenue"]));
		expect([brand_id, clicked_at, held_for]).toEqual([expect.any(Number), expect.stringMatching(/Z$/), undefined]);
	});

	test("the id of a request leads through the queue to the callback that came of it", async () => {
		const { postbacks, conversions } = await trace("T-1001");
		const callbacks = conversions[0]?.callbacks as { request_id: string }[];
		expect(callbacks.map(({ request_id }) => request_id)).toEqual(postbacks.slice(1).map(({ id }) => id));
	});

	test("is found by transaction, by click hash in any case, by the publisher's click id, and by a request's id", async () => {
		const whole = await trace("T-1001");
		for (const id of [String(click.click_hash), String(click.click_hash).toUpperCase(), "click-77", acceptedRequest(whole)]) {
			const { id: _, ...told } = (await trace(id)) as Trace & { id: string };
			expect(told).toEqual({ ...whole, id: undefined });
		}
	});

	test("is found by a click that its platform named first, and then another", async () => {
		for (const cid of ["named-first", "named-then"]) await consume(postbackMessage("west", { txnid: "T-renamed", cid }));
		const { conversions } = await trace("named-first");
		expect(conversions).toMatchObject([{ txnid: "T-renamed", cid: "named-then" }]);
	});

	test("says why no click is found, as things are now", async () => {
		const elsewhere = clickRow({ platform: "east" });
		await consume(postbackMessage("west", { txnid: "early", cid: String(elsewhere.click_hash) }));
		expect((await trace("early")).conversions).toMatchObject([{ stage: "waiting", why: "no_click" }]);
		await storeClicks(elsewhere);
		expect((await trace("early")).conversions).toMatchObject([{ stage: "waiting", why: "other_platform" }]);
		expect((await trace("T-1001")).conversions).toMatchObject([{ why: null }]);
	});

	test("says what a conversion is held for, and what operators said of it", async () => {
		const stuffed = clickRow({ reason: "embedded" });
		await storeClicks(stuffed);
		const cid = String(click.click_hash);
		const huge = { txnid: "huge", cid, payoutMicros: 9_000_000_000_000_000 };
		await consume(postbackMessage("west", huge), postbackMessage("west", { txnid: "stuffed", cid: String(stuffed.click_hash) }));
		const held = { stage: "quarantined", verdict: null, publisher_revenue: null };
		expect((await trace("huge")).conversions).toMatchObject([{ ...held, status: "approved", why: "amount" }]);
		expect((await trace("stuffed")).conversions).toMatchObject([{ ...held, status: "pending", why: "review" }]);
		const deps = { db: openDatabase(env.DB), callbacks: undefined, now: () => Date.now() };
		await judgeConversion(deps, { platform: "west", txnid: "stuffed" }, "voided", "adjustment-7");
		const [judged] = (await trace("stuffed")).conversions;
		expect(judged).toMatchObject({ status: "cancelled", verdict: "voided", why: null });
		expect(judged?.events).toContainEqual(expect.objectContaining({ kind: "judged", adjustment: "adjustment-7", postback: null }));
	});

	test("says that two publishers have used a click id", async () => {
		await storeClicks(
			clickRow({ publisher_click_id: "both" }),
			clickRow({ publisher_click_id: "both", publisher_id: "quiet", reason: "bot" }),
		);
		await consume(postbackMessage("west", { txnid: "of-both", cid: "both" }));
		expect((await trace("of-both")).conversions).toMatchObject([{ stage: "waiting", why: "ambiguous" }]);
	});

	test("nothing is nothing, and no error", async () => {
		expect(await trace("never-heard-of")).toMatchObject({ clicks: [], postbacks: [], conversions: [] });
		expect(await trace("'; DROP TABLE conversions; --")).toMatchObject({ conversions: [] });
	});

	test.each([
		["", ""],
		["[]", ""],
		["{}", "id"],
		['{"id":7}', "id"],
		['{"id":" "}', "id"],
		[`{"id":"${"x".repeat(1_025)}"}`, "id"],
		['{"id":"T-1001","from":1}', "from"],
	])("a question %j is refused with 422", async (body, path) => {
		const response = await ask(body);
		expect([response.status, await response.json()]).toEqual([
			422,
			{ error: "Validation failed", faults: [{ path, message: expect.any(String) }], fault_count: 1 },
		]);
	});

	test("needs the operator's key", async () => {
		const response = await ask('{"id":"T-1001"}', {});
		expect(response.status).toBe(401);
		await response.body?.cancel();
	});
});
