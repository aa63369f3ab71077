/** An import between a click, and postbacks of its conversion: what was said before goes on meaning what it meant when it was said. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { type Judgement, judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { capDeps, letters } from "../../support/click-messages.ts";
import {
	clickRow,
	consume,
	importConversionNetwork,
	platformEntry,
	postbackMessage,
	readAll,
	storeClicks,
} from "../../support/conversions.ts";
import { brandEntry, importExactly, importUnpublished } from "../../support/network-import.ts";
import { frozenRedirect } from "../../support/stops.ts";

const DOLLAR = 1_000_000;

/** A click, stored, and postbacks of `west` about it. */
async function clicked(fields: Parameters<typeof clickRow>[0] = {}) {
	const click = clickRow(fields);
	await storeClicks(click);
	const txnid = `between-${String(click.id)}`;
	const cid = String(click.click_hash);
	return {
		txnid,
		say: (fields: Parameters<typeof postbackMessage>[1] = {}) => postbackMessage("west", { txnid, cid, ...fields }),
		stands: async () => {
			const [row] = await readAll("SELECT status, payout_micros AS payout FROM conversions WHERE txnid = ?", txnid);
			const callbacks = await readAll("SELECT status FROM callbacks WHERE txnid = ? ORDER BY seq", txnid);
			return [row?.status, Number(row?.payout) / DOLLAR, ...callbacks.map(({ status }) => status)];
		},
		judge: (verdict: "voided" | "released" | null): Promise<Judgement | null> =>
			judgeConversion(
				{ db: openDatabase(env.DB), callbacks: undefined, now: Date.now },
				{ platform: "west", txnid },
				verdict,
				"adjustment-1",
			),
	};
}

const importWest = (fields: object) =>
	importExactly({ platforms: [platformEntry("west", { negative_payout: "adjust", ...fields })] }, importUnpublished);

beforeAll(importConversionNetwork);
beforeEach(async () => void (await importWest({})));

describe("worker: a status map that changes between two postbacks", () => {
	test("a correction corrects the amount, and reads no earlier word anew", async () => {
		const { say, stands } = await clicked();
		await consume(say({ payoutMicros: 80 * DOLLAR, status: "paid" }));
		await importWest({ status_map: { paid: "cancelled" } });
		await consume(say({ payoutMicros: -8 * DOLLAR, status: "paid" }));
		expect(await stands()).toEqual(["approved", 72, "approved"]);
	});

	test("nor does an older postback that comes late", async () => {
		const { say, stands } = await clicked();
		const older = say({ payoutMicros: 10 * DOLLAR, status: "hold" });
		await consume(say({ payoutMicros: 20 * DOLLAR, status: "paid" }));
		await importWest({ status_map: { paid: "cancelled" } });
		await consume(older);
		expect(await stands()).toEqual(["approved", 20, "approved"]);
	});

	test("nor an operator's word that is taken back", async () => {
		const { say, stands, judge } = await clicked();
		await consume(say({ status: "paid" }));
		await judge("voided");
		await importWest({ status_map: { paid: "pending" } });
		await judge(null);
		expect(await stands()).toEqual(["approved", 10, "approved", "cancelled", "approved"]);
	});

	test("nor the end of a review", async () => {
		const { say, stands, judge } = await clicked({ reason: "embedded" });
		await consume(say({ status: "paid" }));
		expect(await stands()).toEqual(["pending", 10]);
		await importWest({ status_map: { paid: "cancelled" } });
		await judge("released");
		expect(await stands()).toEqual(["approved", 10, "approved"]);
	});

	test("the same postback again is read by the new one", async () => {
		const { say, stands } = await clicked();
		await consume(say({ status: "lead" }));
		expect(await stands()).toEqual(["pending", 10]);
		await importWest({ status_map: { lead: "approved" } });
		await consume(say({ status: "lead" }));
		expect(await stands()).toEqual(["approved", 10, "approved"]);
	});
});

describe("worker: a platform's currency that changes between two conversions", () => {
	test("a payout without one is in that which its own conversion began with", async () => {
		const [before, since] = [await clicked(), await clicked()];
		await consume(before.say());
		await importWest({ currency: "EUR" });
		await consume(since.say({ eventAt: Date.parse("2026-11-09") }));
		await consume(before.say({ eventAt: Date.parse("2026-11-10"), payoutMicros: 20 * DOLLAR }));
		await consume(since.say({ eventAt: Date.parse("2026-11-10"), payoutMicros: 20 * DOLLAR }));
		const worth = "SELECT stage, currency, gross_micros AS gross FROM conversions WHERE txnid = ?";
		expect(await readAll(worth, before.txnid)).toEqual([{ stage: "settled", currency: "USD", gross: 20 * DOLLAR }]);
		expect(await readAll(worth, since.txnid)).toEqual([{ stage: "settled", currency: "EUR", gross: 22 * DOLLAR }]);
	});
});

describe("worker: a campaign that goes to another platform between a redirect and the counting of its click", () => {
	const importShoes = (platform: string) => importExactly({ brands: [brandEntry("shoes.example", 11, {}, { platform })] });

	test("the sale is paid that the platform reports which the user was sent to", async () => {
		const [brand] = await readAll<{ id: number }>("SELECT id FROM brands WHERE domain = 'shoes.example'");
		const of = { publisher: "identity-cpa", advertiserId: brand?.id ?? 0, domain: "shoes.example", campaignId: 11 };
		const click = await frozenRedirect().click(of);
		await importShoes("east");
		await consumeClicks(capDeps(), letters(click));
		const say = (platform: string) => postbackMessage(platform, { txnid: `moved-${platform}`, cid: String(click?.hash), status: "paid" });
		await consume(say("west"), say("east"));
		expect(
			await readAll("SELECT platform, stage, status FROM conversions WHERE txnid IN ('moved-west', 'moved-east') ORDER BY platform"),
		).toEqual([
			{ platform: "east", stage: "waiting", status: "approved" },
			{ platform: "west", stage: "settled", status: "approved" },
		]);
		expect(await readAll("SELECT platform FROM daily_network WHERE click_count > 0")).toEqual([{ platform: "west" }]);
		await importShoes("west");
	});
});
