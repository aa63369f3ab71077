/** Sales that were reported after all, when an amount had been granted for them. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { readStatus } from "../../../src/operator/status/read-status.ts";
import { capDeps, clickMessage, letters } from "../../support/click-messages.ts";
import { consume, importConversionNetwork, postbackMessage } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";

const AT = Date.parse("2026-11-17T10:00:00Z");
const CLAIMED_AT = "2026-11-18T15:00:00.000Z";
const UNDONE_AT = "2026-11-18T15:01:00.000Z";
const DAY_MS = 86_400_000;
/** What the publisher calls clicks, by the digit of their hash. */
const CLICKS = {
	...{ 4: "corrected", 5: "late", 6: "by-hash", 7: "shared", 8: "shared", 9: "early", 1: "difference", 2: "tiny" },
	...{ a: "moved-from", b: "moved-to", c: "twice", d: "anew" },
};

async function sendJson(path: string, headers: Record<string, string>, body: object) {
	const response = await exports.default.fetch(`http://localhost:8787${path}`, { method: "POST", headers, body: JSON.stringify(body) });
	expect([path, response.status]).toEqual([path, 200]);
	return response.json<{ id: string; claim: { id: string } }>();
}
const OF_CPA = { AccessKey: "access-key-cpa" };
const OPERATOR = { OperatorKey: env.OPERATOR_KEY };

/** Claims a sale, and grants 7 USD for it. @returns the adjustment's id */
async function grant(about: string, kind: "missing" | "wrong"): Promise<string> {
	const { claim } = await sendJson("/api/claims", OF_CPA, { kind, id: about, text: "It was bought." });
	const by = { kind: "amount", date: "2026-11-17", amount: "7.00" };
	await sendJson(`/operator/claims/${claim.id}/grant`, OPERATOR, { text: "Yes.", by });
	return `claim-${claim.id}`;
}

const report = (txnid: string, digit: string, status = "approved", payoutMicros = 1_000_000) =>
	consume(postbackMessage("west", { cid: digit.repeat(32), txnid, eventAt: AT, payoutMicros, status }));

async function paidTwice(days = 0) {
	const now = () => Date.parse(CLAIMED_AT) + days * DAY_MS;
	const queues = { clicks: undefined, postbacks: undefined, callbacks: undefined };
	const { problems } = await readStatus({ db: openDatabase(env.DB), products: openDatabase(env.PRODUCTS), kv: env.BOOK, queues, now });
	return problems.find(({ kind }) => kind === "paid_twice") ?? null;
}

beforeAll(async () => {
	setNow("2026-11-18T14:00:00Z");
	await importConversionNetwork();
	const click = (clickid: string, digit: string) =>
		clickMessage({ at: AT, campaignId: 11, kind: "link", publisher: "identity-cpa", hash: digit.repeat(32), texts: { clickid } });
	await consumeClicks(
		capDeps(() => AT),
		letters(...Object.entries(CLICKS).map(([digit, clickid]) => click(clickid, digit))),
	);
});

describe("worker: an amount granted for a sale that is reported after all", () => {
	it("is told with what undoes it, until it is undone, and for a month", async () => {
		await report("early-1", "9", "cancelled");
		await report("difference-1", "1", "pending");
		await report("corrected-1", "4");
		await report("tiny-1", "2");
		setNow(CLAIMED_AT);
		const late = await grant("late", "missing");
		const byHash = await grant("6".repeat(32).toUpperCase(), "missing");
		await grant("shared", "missing");
		const early = await grant("early-1", "wrong");
		await grant("difference", "wrong");
		await grant("tiny-1", "wrong");
		const corrected = await grant("corrected-1", "wrong");
		expect(await paidTwice()).toBeNull();

		setNow(UNDONE_AT);
		await report("shared-1", "7");
		await report("shared-2", "8");
		await report("difference-1", "1");
		await report("tiny-1", "2", "approved", 1_500_000);
		expect(await paidTwice()).toBeNull();
		await report("by-hash-1", "6", "pending");
		expect(await paidTwice()).toMatchObject({ count: 1, cost: "0.8000", text: expect.stringContaining(byHash) });
		await report("late-1", "5", "approved", 20_000_000);
		await report("early-1", "9");
		await report("corrected-1", "4", "approved", 3_000_000);
		const told = await paidTwice(29);
		expect(told).toMatchObject({ count: 4, cost: "10.2000", command: expect.stringMatching(/^adjust undo claim-\S+ --text "/) });
		expect(told?.command).toContain(late);
		expect(told?.text).toContain(`${late} (7.0000, earns 7.0000 more)`);
		for (const id of [byHash, early]) expect(told?.text).toContain(`${id} (7.0000, earns 0.8000 more)`);
		expect(told?.text).toContain(`${corrected} (7.0000, earns 1.6000 more)`);
		expect(await paidTwice(31)).toBeNull();

		await sendJson("/operator/adjustments", OPERATOR, { kind: "undo", adjustment: late, text: "Reported." });
		expect(await paidTwice()).toMatchObject({ count: 3, text: expect.not.stringContaining(late) });
		const listed = await exports.default.fetch("http://localhost:8787/api/claims?state=granted", { headers: OF_CPA });
		const { data } = await listed.json<{ data: { id: string; undone_at: string | null }[] }>();
		const undoneAt = Object.fromEntries(data.map(({ id, undone_at }) => [`claim-${id}`, undone_at]));
		expect([undoneAt[late], undoneAt[byHash]]).toEqual([UNDONE_AT, null]);
	});

	it("is told of what a sale of another click brings that is given the claimed one, and once, however many were granted", async () => {
		const before = await paidTwice();
		const rise = async () => (Number((await paidTwice())?.cost) - Number(before?.cost)).toFixed(4);
		await report("moved-1", "0");
		const attach = (click: string) => sendJson("/operator/conversions/west/moved-1/attach", OPERATOR, { click, text: "It is this one's." });
		const { id } = await attach("a".repeat(32));
		setNow("2026-11-18T15:02:00Z");
		const moved = await grant("moved-to", "missing");
		const first = await grant("twice", "missing");
		setNow("2026-11-18T15:02:30Z");
		const second = await grant("c".repeat(32), "missing");
		setNow("2026-11-18T15:03:00Z");
		expect(await rise()).toBe("0.0000");
		const undo = (adjustment: string) =>
			sendJson("/operator/adjustments", OPERATOR, { kind: "undo", adjustment, text: "It is another's." });
		await undo(id);
		await attach("b".repeat(32));
		expect(await rise()).toBe("0.8000");
		await report("twice-1", "c", "approved", 10_000_000);
		expect(await rise()).toBe("8.8000");
		const told = await paidTwice();
		for (const adjustment of [moved, first, second]) expect(told?.text).toContain(adjustment);
		expect(told?.text).toContain(`${second} (7.0000, earns 1.0000 more)`);
		// What the first amount was undone for is not of the second, too.
		await undo(first);
		expect((await paidTwice())?.text).toContain(`${second} (7.0000, earns 1.0000 more)`);
		expect(await rise()).toBe("1.8000");
		const third = await grant("twice-1", "wrong");
		setNow("2026-11-18T15:04:00Z");
		await report("twice-1", "c", "cancelled", 10_000_000);
		await report("twice-1", "c", "approved", 10_000_001);
		expect((await paidTwice())?.text).not.toContain(third);
	});

	it("is told of an amount that was granted anew, after one that was undone before there was a sale", async () => {
		setNow("2026-11-18T15:05:00Z");
		const first = await grant("anew", "missing");
		await sendJson("/operator/adjustments", OPERATOR, { kind: "undo", adjustment: first, text: "A mistake." });
		setNow("2026-11-18T15:06:00Z");
		const anew = await grant("anew", "missing");
		setNow("2026-11-18T15:07:00Z");
		await report("anew-1", "d", "approved", 10_000_000);
		expect((await paidTwice())?.text).toContain(`${anew} (7.0000, earns 7.0000 more)`);
	});
});
