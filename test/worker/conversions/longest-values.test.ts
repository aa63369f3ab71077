/** The longest values that senders may choose are stored on either engine: an index of PostgreSQL takes no more than 2,704 bytes. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../../src/worker.ts";
import { rowsOf } from "../../support/click-messages.ts";
import { clickRow, importConversionNetwork, platformEntry, publisherEntry, QUIET_ENV, storeClicks } from "../../support/conversions.ts";
import { faultsOf, importFile, publisherCalled } from "../../support/network-import.ts";

/** Text of three or four bytes a character that nothing compresses, as PostgreSQL would before it measures. */
function textOf(length: number, seed: number, isAstral = false): string {
	let state = seed;
	const next = (below: number) => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return Math.floor((state / 2 ** 31) * below);
	};
	const point = () => (isAstral ? 0x20000 + next(0xa000) : 0x4e00 + next(0x5000));
	return Array.from({ length }, () => String.fromCodePoint(point())).join("");
}

const MAX_BYTES = 255;
const PLATFORM = { id: textOf(MAX_BYTES / 3, 1), access_key: "platform-key-longest" };
const PUBLISHER = {
	id: textOf(MAX_BYTES / 3, 2),
	publisher_id: "longest",
	publisher_identity: "longest",
	access_key: "access-key-longest",
};
/** 2,048 bytes. */
const CLICK_ID = `${textOf(682, 3)}ab`;
const TXNID = textOf(255, 4, true);

const AT_ONCE = { ...QUIET_ENV };
Reflect.deleteProperty(AT_ONCE, "POSTBACKS");

async function report(fields: Record<string, string>): Promise<object> {
	const query = new URLSearchParams({ txnid: TXNID, cid: CLICK_ID, edate: "2026-11-10T12:00:00Z", payout: "10", ...fields });
	const ctx = createExecutionContext();
	const response = await worker.fetch(new Request(`https://base.example/api/postback/${PLATFORM.access_key}?${query}`), AT_ONCE, ctx);
	await waitOnExecutionContext(ctx);
	return response.json();
}

const RECEIVED = { message: "Postback received successfully" };

beforeAll(async () => {
	await importConversionNetwork();
	await importFile({
		platforms: [platformEntry("west", { ...PLATFORM, platform_id: 9 })],
		publishers: [publisherEntry("cpa", { ...PUBLISHER, publisher_key: "publisher-key-longest" })],
	});
	const click = { publisher_id: PUBLISHER.id, platform: PLATFORM.id };
	await storeClicks(clickRow({ ...click, publisher_click_id: CLICK_ID }), clickRow({ ...click, publisher_click_id: "short" }));
});

describe("worker: the longest values", () => {
	it("of a postback are stored: transaction, click id, and a word of any length", async () => {
		expect(await report({ status: "approved" })).toEqual(RECEIVED);
		expect(await rowsOf("SELECT platform, txnid, cid, publisher_id, stage FROM conversions")).toEqual([
			{ platform: PLATFORM.id, txnid: TXNID, cid: CLICK_ID, publisher_id: PUBLISHER.id, stage: "settled" },
		]);
		expect(await rowsOf("SELECT publisher_id, txnid, cid FROM callbacks")).toEqual([
			{ publisher_id: PUBLISHER.id, txnid: TXNID, cid: CLICK_ID },
		]);
		const word = textOf(950, 5);
		expect(await report({ txnid: "word", cid: "short", status: word })).toEqual(RECEIVED);
		expect(await rowsOf("SELECT network_status, status_unknown FROM conversions WHERE txnid = 'word'")).toEqual([
			{ network_status: word.slice(0, 255), status_unknown: 1 },
		]);
		const pairs = textOf(700, 6, true);
		expect(await report({ txnid: "pairs", cid: "short", status: pairs })).toEqual(RECEIVED);
		expect(await rowsOf("SELECT network_status FROM conversions WHERE txnid = 'pairs'")).toEqual([{ network_status: pairs.slice(0, 254) }]);
	});

	it("of a currency that nobody knows are stored, and wait for its rate", async () => {
		const currency = textOf(950, 7);
		expect(await report({ txnid: "currency", cid: "short", currency })).toEqual(RECEIVED);
		expect(await rowsOf("SELECT currency, held_for FROM conversions WHERE txnid = 'currency'")).toEqual([
			{ currency: currency.slice(0, 255), held_for: "no_rate" },
		]);
	});

	it("a click id that is longer is refused, whether it has more characters or more bytes", async () => {
		for (const cid of [textOf(683, 8), textOf(1_024, 8), "c".repeat(1_025)]) {
			expect(await report({ cid, txnid: "refused" })).toMatchObject({ errors: { cid: [expect.stringContaining("2048 bytes")] } });
		}
		expect(await rowsOf("SELECT txnid FROM postback_intake WHERE outcome = 'accepted' AND txnid = 'refused'")).toEqual([]);
	});

	it("of a claim are stored", async () => {
		const claim = async (id: string) => {
			const init = { method: "POST", headers: { AccessKey: PUBLISHER.access_key } };
			const body = JSON.stringify({ kind: "missing", id, text: "It was bought." });
			return (await exports.default.fetch("https://base.example/api/claims", { ...init, body })).status;
		};
		expect(await claim(`${textOf(682, 9)}ab`)).toBe(200);
		expect(await claim(textOf(683, 9))).toBe(422);
	});

	it("ids of platforms and publishers may have no more than 255 bytes", async () => {
		const id = `${PLATFORM.id}x`;
		const { faults } = await faultsOf({
			platforms: [platformEntry("west", { id, platform_id: 10, access_key: "platform-key-other" })],
			publishers: [publisherCalled("other")].map((entry) => ({ ...entry, id })),
		});
		expect(faults).toEqual([
			expect.objectContaining({ path: "platforms[0].id", message: expect.stringContaining("255 bytes") }),
			expect.objectContaining({ path: "publishers[0].id", message: expect.stringContaining("255 bytes") }),
		]);
	});
});
