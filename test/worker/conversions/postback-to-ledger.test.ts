/** The whole way, through the real queue: a postback becomes a settled conversion, an outbox row and part of the daily sums. */
import { beforeAll, describe, expect, test } from "vitest";
import {
	callPostback,
	clickRow,
	importConversionNetwork,
	postbackFields,
	readAll,
	storeClicks,
	WEST_KEY,
} from "../../support/conversions.ts";

describe("worker: a postback on its way through the queue", () => {
	beforeAll(importConversionNetwork);

	test("settles, owes the publisher a credit, and counts on the day of the event", async () => {
		// Without an address nobody is called.
		const click = clickRow({ publisher_id: "quiet" });
		await storeClicks(click);
		const fields = postbackFields({ cid: String(click.click_hash).toUpperCase(), payout: "12.34", sales: "100" });
		const { status, body } = await callPostback(WEST_KEY, new URLSearchParams(fields).toString());
		expect(status).toBe(200);
		expect(body).toEqual({ message: "Postback received successfully" });
		await expect
			.poll(() => readAll("SELECT stage, status, revenue_micros FROM conversions"), { timeout: 20_000 })
			.toEqual([{ stage: "settled", status: "approved", revenue_micros: 9_872_000 }]);
		expect(await readAll("SELECT platform, txnid, seq, status, cid, payout_micros, event_at, publisher_id FROM callbacks")).toEqual([
			{
				platform: "west",
				txnid: "t-1",
				seq: 1,
				status: "approved",
				cid: click.publisher_click_id,
				payout_micros: 9_872_000,
				event_at: Date.parse("2026-11-10T12:00:00Z"),
				publisher_id: "quiet",
			},
		]);
		const sums = { conversion_count: 1, conversion_revenue_micros: 9_872_000, gross_micros: 12_340_000, sales_micros: 100_000_000 };
		const columns = Object.keys(sums).join(", ");
		expect(await readAll(`SELECT publisher_id, date, ${columns} FROM daily_publishers`)).toEqual([
			{ publisher_id: "quiet", date: "2026-11-10", ...sums },
		]);
		expect(await readAll(`SELECT source_id, date, ${columns} FROM daily_sources`)).toEqual([
			{ source_id: click.source_id, date: "2026-11-10", ...sums },
		]);
		const ofNetwork = columns.replace("conversion_count", "approved_count AS conversion_count");
		expect(await readAll(`SELECT campaign_id, brand_id, date, ${ofNetwork} FROM daily_network`)).toEqual([
			{ campaign_id: 11, brand_id: 1, date: "2026-11-10", ...sums },
		]);
		expect(await readAll("SELECT platform, method, txnid, cid, outcome, answer FROM postback_intake")).toEqual([
			{ platform: "west", method: "GET", txnid: "t-1", cid: fields.cid, outcome: "accepted", answer: JSON.stringify(body) },
		]);
	});

	test("that outran its click finds it some seconds later, without the sweep", async () => {
		const click = clickRow({ publisher_id: "quiet" });
		await callPostback(WEST_KEY, new URLSearchParams(postbackFields({ txnid: "early", cid: String(click.click_hash) })).toString());
		const stage = () => readAll("SELECT stage FROM conversions WHERE txnid = 'early'");
		await expect.poll(stage, { timeout: 20_000 }).toEqual([{ stage: "waiting" }]);
		await storeClicks(click);
		await expect.poll(stage, { timeout: 20_000 }).toEqual([{ stage: "settled" }]);
	}, 120_000);
});
