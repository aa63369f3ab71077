/** How a publisher is paid for a click, and its share of what comes of it, are those of the bid or of the click: no later import changes them. */
import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { MANIFEST_KEY, type Manifest } from "../../src/campaign-book/format.ts";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import worker from "../../src/worker.ts";
import { capDeps, checkCounters, letters, rowsOf } from "../support/click-messages.ts";
import { clickRows, clickUrlFor } from "../support/clicks.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";
import { linkTo, person, servingEngineUrl } from "../support/traffic.ts";

const SHOES = "shoes.example";
const DOLLAR = 1_000_000;

const setPublisher = (fields: object) =>
	importFile({
		platforms: [NORTHWIND],
		publishers: [{ ...ACME, callback_url: "https://publisher.example/s2s", ...fields }],
		brands: [brandEntry(SHOES, 5001, {}, { epc: "0.4000", keyword_epc: { "running shoes": "0.33333" } })],
	});

/** Calls a click URL on an edge that has just read the book, and keeps its message back from the consumer. */
async function heldClick(url: string, visitor = 1): Promise<ClickMessage> {
	const sent: ClickMessage[] = [];
	const queue = { send: async (message: ClickMessage) => void sent.push(message) } as unknown as Queue;
	const ctx = createExecutionContext();
	const response = await worker.fetch(new Request(url, { headers: person(visitor) }), { ...env, CLICKS: queue }, ctx);
	expect(response.status).toBe(302);
	await waitOnExecutionContext(ctx);
	const [message] = sent;
	if (message === undefined) throw new Error("the click was not sent");
	return message;
}

const write = (...messages: unknown[]) => consumeClicks(capDeps(Date.now), letters(...messages));

const CPC_HALF = { pricing_model: "CPC", revenue_share: 0.5 };
const CPA_HALF = { pricing_model: "CPA", revenue_share: 0.5 };
const PAID_AS_CPC = {
	pricing_model: "CPC",
	revenue_share_ppm: 500_000,
	bid_micros: 200_000,
	gross_micros: 400_000,
	revenue_micros: 200_000,
};
const PAID_AS_CPA = { ...PAID_AS_CPC, pricing_model: "CPA", revenue_micros: 0 };

const SOURCES: [what: string, url: () => Promise<string>][] = [
	["a tracking link", () => linkTo(SHOES)],
	["an OpenRTB bid", () => clickUrlFor(SHOES)],
	["a bid of the Serving Engine", () => servingEngineUrl(SHOES)],
];

beforeEach(async () => {
	await forgetTraffic();
});

describe("worker: an import between a click and its consumer", () => {
	it.each(SOURCES)("leaves a click on %s paid as its publisher was then, with the share of then", async (_, url) => {
		await setPublisher(CPC_HALF);
		const ofCpc = await heldClick(await url(), 1);
		await setPublisher({ pricing_model: "CPA", revenue_share: 0.9 });
		await write(ofCpc);
		expect(await clickRows({})).toMatchObject([PAID_AS_CPC]);
		await checkCounters();
	});

	it.each(SOURCES)("pays nothing for a click on %s that was of a CPA publisher", async (_, url) => {
		await setPublisher(CPA_HALF);
		const ofCpa = await heldClick(await url(), 1);
		await setPublisher({ pricing_model: "CPC", revenue_share: 0.9 });
		await write(ofCpa);
		expect(await clickRows({})).toMatchObject([PAID_AS_CPA]);
	});

	it.each([
		["CPC", "CPA", PAID_AS_CPC],
		["CPA", "CPC", PAID_AS_CPA],
	])("of a dead letter that is replayed much later: %s stays so, whoever is %s now", async (then, now, row) => {
		await setPublisher({ pricing_model: then, revenue_share: 0.5 });
		const body = await heldClick(await linkTo(SHOES));
		const letter = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 101, body };
		await worker.queue(createMessageBatch("clickbourse-clicks-dead", [letter]), env, createExecutionContext());
		await setPublisher({ pricing_model: now, revenue_share: 0.9 });
		const init = { method: "POST", headers: OPERATOR_HEADERS, body: "{}" };
		expect((await exports.default.fetch("http://origin.example/operator/replay", init)).status).toBe(200);
		expect(await clickRows({})).toMatchObject([row]);
	});
});

describe("worker: an import between a bid and its click", () => {
	it.each(SOURCES.slice(1))("leaves the promise of %s: amount, pricing model, share, and what the click costs", async (_, url) => {
		await setPublisher(CPC_HALF);
		const bid = await url();
		await setPublisher({ pricing_model: "CPA", revenue_share: 0.25 });
		await write(await heldClick(bid));
		expect(await clickRows({})).toMatchObject([PAID_AS_CPC]);
	});

	it("what a click costs is exact where its bid is rounded", async () => {
		await setPublisher({ pricing_model: "CPC", revenue_share: 0.7 });
		await write(await heldClick(await servingEngineUrl(SHOES, "&kw=running%20shoes")));
		expect(await clickRows({})).toMatchObject([{ bid_micros: 233_300, gross_micros: 333_330 }]);
	});

	it("a link is worth what it is when it is clicked", async () => {
		await setPublisher(CPC_HALF);
		const link = await linkTo(SHOES);
		await setPublisher({ pricing_model: "CPC", revenue_share: 0.25 });
		await write(await heldClick(link));
		expect(await clickRows({})).toMatchObject([{ revenue_share_ppm: 250_000, bid_micros: 100_000, gross_micros: 400_000 }]);
	});
});

describe("worker: an import between a click and its conversion", () => {
	const report = (cid: string, txnid: string) => consume(postbackMessage("northwind", { cid, txnid, payoutMicros: 10 * DOLLAR }));
	const credits = () => rowsOf("SELECT txnid, revenue_micros, revenue_share_ppm, pricing_model FROM conversions ORDER BY txnid");

	it.each(SOURCES)("leaves the share of a click on %s; what the publisher is told is the same", async (_, url) => {
		await setPublisher(CPA_HALF);
		const click = await heldClick(await url());
		await write(click);
		await setPublisher({ pricing_model: "CPA", revenue_share: 0.8 });
		await report(click.hash, "t-1");
		expect(await credits()).toEqual([{ txnid: "t-1", revenue_micros: 5 * DOLLAR, revenue_share_ppm: 500_000, pricing_model: "CPA" }]);
		expect(await rowsOf("SELECT payout_micros FROM callbacks")).toEqual([{ payout_micros: 5 * DOLLAR }]);
	});

	it("also where the conversion waited for the click; a click of an earlier version has today's share, as before", async () => {
		await setPublisher(CPA_HALF);
		const click = await heldClick(await linkTo(SHOES), 1);
		const old = await heldClick(await linkTo(SHOES), 2);
		await report(click.hash, "t-1");
		await setPublisher({ pricing_model: "CPA", revenue_share: 0.8 });
		await write(click, old);
		await env.DB.prepare("UPDATE clicks SET revenue_share_ppm = NULL WHERE id = ?").bind(old.id).run();
		await consume({ format: 1, kind: "look_again", platform: "northwind", txnid: "t-1" });
		await report(old.hash, "t-2");
		expect(await credits()).toMatchObject([
			{ txnid: "t-1", revenue_micros: 5 * DOLLAR },
			{ txnid: "t-2", revenue_micros: 8 * DOLLAR },
		]);
	});
});

describe("worker: books and messages of an earlier version", () => {
	const deps = { db: openDatabase(env.DB), kv: env.BOOK, now: Date.now, bookFormat: 1 } as const;

	/** As earlier code wrote the first format. */
	async function forgetModels(): Promise<void> {
		await publishBook(deps);
		const manifest = JSON.parse((await env.BOOK.get(MANIFEST_KEY)) ?? "{}") as Manifest;
		const publishers = manifest.publishers.map(({ model: _, ...rest }) => rest);
		await env.BOOK.put(MANIFEST_KEY, JSON.stringify({ ...manifest, publishers }));
	}

	it("a click whose book names no pricing model is paid as its publisher is when it is written", async () => {
		await setPublisher(CPC_HALF);
		const link = await linkTo(SHOES);
		await forgetModels();
		const click = await heldClick(link);
		expect(click.pricingModel).toBeUndefined();
		await write(click);
		expect(await clickRows({})).toMatchObject([PAID_AS_CPC]);
	});

	it("a message with a bid alone: the rest is as publisher and campaign have it", async () => {
		await setPublisher(CPC_HALF);
		const { pricingModel: _, sharePpm: _1, grossMicros: _2, ...click } = await heldClick(await clickUrlFor(SHOES));
		await write(click);
		expect(await clickRows({})).toMatchObject([PAID_AS_CPC]);
	});

	it("the hourly look at KV replaces a manifest without pricing models", async () => {
		await setPublisher(CPC_HALF);
		await forgetModels();
		expect((await publishBook(deps)).manifest).toBeNull();
		expect(JSON.parse((await publishBook(deps, true)).manifest ?? "{}").publishers).toMatchObject([{ id: "acme", model: "CPC" }]);
		expect((await publishBook(deps, true)).manifest).toBeNull();
	});
});
