/** A publisher's click id, from its bid or link over the click and the postback to the callback: one id all the way. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { buildCallbackUrl, NO_LINK_FACTS } from "../../src/callbacks/build-callback-url.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { readTexts } from "../../src/clicks/read-parameters.ts";
import { saysNoId } from "../../src/conversions/match-click.ts";
import { pickValues, splitFields } from "../../src/conversions/read-fields.ts";
import { readPostback } from "../../src/conversions/read-postback.ts";
import { traceConversion } from "../../src/conversions/trace.ts";
import { openDatabase } from "../../src/db/client.ts";
import { normaliseClickId } from "../../src/lib/click-id.ts";
import { Query } from "../../src/lib/query.ts";
import worker from "../../src/worker.ts";
import { anyClickId, ENCODINGS } from "../support/click-ids.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { clickUrlFor } from "../support/clicks.ts";
import { QUIET_ENV } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { linkTo, person, servingEngineUrl } from "../support/traffic.ts";

const SHOES = "shoes.example";
const sent: ClickMessage[] = [];
/** Clicks are held back, and postbacks are settled at once. */
const HELD = { ...QUIET_ENV, CLICKS: { send: async (message: ClickMessage) => void sent.push(message) } as unknown as Queue };
const AT_ONCE = { ...QUIET_ENV };
Reflect.deleteProperty(AT_ONCE, "POSTBACKS");

async function fetchNow(url: string, bindings: typeof AT_ONCE, headers: Record<string, string> = {}): Promise<Response> {
	const { response, ended } = await begin(url, bindings, headers);
	await ended;
	return response;
}

/** An answer, and the end of what goes on behind it. */
async function begin(
	url: string,
	bindings: typeof AT_ONCE,
	headers: Record<string, string>,
): Promise<{ response: Response; ended: Promise<void> }> {
	const ctx = createExecutionContext();
	const response = await worker.fetch(new Request(url, { headers }), bindings, ctx);
	return { response, ended: waitOnExecutionContext(ctx) };
}

async function report(txnid: string, raw: string): Promise<unknown> {
	const query = `txnid=${txnid}&edate=2026-11-18&payout=10&cid=${raw}`;
	return (await fetchNow(`https://base.example/api/postback/${NORTHWIND.access_key}?${query}`, AT_ONCE)).json();
}

async function forget(): Promise<void> {
	sent.length = 0;
	await forgetTraffic();
}

let link = "";

beforeAll(async () => {
	const publisher = { ...ACME, callback_url: "https://publisher.example/s2s" };
	await importFile({ platforms: [NORTHWIND], publishers: [publisher], brands: [brandEntry(SHOES, 5001, {}, { daily_click_cap: null })] });
	link = await linkTo(SHOES);
});

/** A click URL of each kind with a click id. */
const URLS: readonly ((text: string, encode: (text: string) => string) => Promise<string>)[] = [
	async (text, encode) => link.replace("{clickid}", encode(text)),
	(text) => clickUrlFor(SHOES, { clickId: text }),
	(text, encode) => servingEngineUrl(SHOES, `&clickid=${encode(text)}`),
];

describe("worker: click ids", () => {
	it("property: what a click took finds it as cid, and goes back to the publisher", async () => {
		const case_ = fc.record({
			text: anyClickId,
			url: fc.constantFrom(...URLS),
			ofClick: fc.constantFrom(...ENCODINGS),
			ofPostback: fc.constantFrom(...ENCODINGS),
		});
		const cases = fc.uniqueArray(case_, { minLength: 12, maxLength: 12, selector: ({ text }) => normaliseClickId(text) });
		await fc.assert(
			fc.asyncProperty(cases, async (texts) => {
				await forget();
				const ids: (string | null)[] = [];
				// A click is sent at once, and its request waits for a while all the same: all of them together.
				const ends: Promise<void>[] = [];
				for (const [at, { text, url, ofClick }] of texts.entries()) {
					const { response, ended } = await begin(await url(text, ofClick), HELD, person(at));
					expect(response.status).toBe(302);
					await vi.waitUntil(() => sent.length === at + 1, { timeout: 20_000, interval: 5 });
					ids.push(sent.at(-1)?.texts?.clickid ?? null);
					ends.push(ended);
				}
				await Promise.all(ends);
				await consumeClicks(capDeps(Date.now), letters(...sent));
				for (const [at, { text, ofPostback }] of texts.entries()) if (ids[at] != null) await report(`t-${at}`, ofPostback(text));
				const told = await rowsOf<{ txnid: string; cid: string; click_id: string }>(
					"SELECT v.txnid, b.cid, v.click_id FROM conversions v JOIN callbacks b ON b.txnid = v.txnid",
				);
				for (const [at, { text }] of texts.entries()) {
					const id = ids[at] ?? null;
					if (id === null) continue;
					const found = saysNoId(id) ? [] : [{ txnid: `t-${at}`, cid: id, click_id: sent[at]?.id }];
					expect(told.filter(({ txnid }) => txnid === `t-${at}`)).toEqual(found);
					const facts = { ...NO_LINK_FACTS, id, txnid: "t", cid: id, payoutMicros: 0, status: "approved", eventAt: 0 } as const;
					expect(new URL(buildCallbackUrl("https://publisher.example/", facts)).searchParams.get("cid")).toBe(normaliseClickId(text));
				}
			}),
			{ numRuns: 7 },
		);
	});

	it.each([
		["a blank behind it", "abc%20"],
		["300 characters", "x".repeat(300)],
		["1,024 characters", "x".repeat(1_024)],
		["control characters", "a%0d%0ab%00"],
	])("with %s it finds its click, and trace finds both", async (_, raw) => {
		await forget();
		await fetchNow(link.replace("{clickid}", raw), HELD, person(1));
		await consumeClicks(capDeps(Date.now), letters(...sent));
		expect(await report("t-1", raw)).toEqual({ message: "Postback received successfully" });
		expect(await rowsOf("SELECT stage, attribution FROM conversions")).toEqual([{ stage: "settled", attribution: "publisher_click_id" }]);
		const trace = await traceConversion(openDatabase(env.DB), decodeURIComponent(raw));
		expect([trace.clicks.length, trace.postbacks.length, trace.conversions.length]).toEqual([1, 1, 1]);
	});

	it("a message that an earlier version sent is stored as click ids are read", async () => {
		await forget();
		await consumeClicks(capDeps(), letters(clickMessage({ texts: { clickid: " abc\u0007 ", subi: " s " } })));
		expect(await rowsOf("SELECT publisher_click_id, subi FROM clicks")).toEqual([{ publisher_click_id: "abc", subi: " s " }]);
	});
});

const NOW = Date.parse("2026-11-20T12:00:00Z");
const takenBy = (raw: string) => readTexts(new Query(`clickid=${raw}`))?.clickid ?? null;
const namedBy = (raw: string) => {
	const { postback } = readPostback(pickValues(splitFields(`txnid=t&edate=2026-11-10&payout=1&cid=${raw}`)), NOW);
	return postback?.cid ?? null;
};

describe("worker: the two readers of click ids", () => {
	it("whatever a click took, that same text as cid is that id, in whatever encoding either came", () => {
		let taken = 0;
		fc.assert(
			fc.property(anyClickId, fc.constantFrom(...ENCODINGS), fc.constantFrom(...ENCODINGS), (text, ofClick, ofPostback) => {
				const id = takenBy(ofClick(text));
				if (id === null) return;
				taken++;
				expect(namedBy(ofPostback(text))).toBe(id);
				expect(namedBy(ofPostback(id))).toBe(id);
			}),
			{ numRuns: 5_000 },
		);
		expect(taken).toBeGreaterThan(1_000);
	});

	it("escapes that are broken are the same on both sides", () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom("a", "%", "2", "0", "f", "+", "é", "{", "}", "_"), maxLength: 12 }), (raw) => {
				const id = takenBy(raw);
				if (id !== null) expect(namedBy(raw)).toBe(id);
			}),
			{ numRuns: 5_000 },
		);
	});
});
