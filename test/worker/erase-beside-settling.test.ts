/** What is written while a user is erased: nothing of them comes back, nothing of it is lost, and the ledger differs in nothing. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { ledgerAnswerSchema } from "../../src/ledger-check/ledger-answers.ts";
import { eraseRows } from "../../src/operator/erase/erase-rows.ts";
import { readOwnIds } from "../../src/operator/erase/own-ids.ts";
import { ACTOR } from "../support/actor.ts";
import { rowsOf } from "../support/click-messages.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, storeClicks } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { interrupted } from "../support/interrupted.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";
import "../support/worker-env.ts";

const PERSONAL = { s2: "s2-mark", surl: "https://shop.example/secret" };

beforeAll(importConversionNetwork);
beforeEach(() => forgetTraffic("day_digests", "claims"));

async function eraseBeside(click: ReturnType<typeof clickRow>, meanwhile: () => Promise<unknown>) {
	const of = { publisherId: "cpa", publisherClickId: "own-click-77", clickedAt: Number(click.clicked_at) };
	const clicks = [{ id: String(click.id), clickHash: String(click.click_hash), ...of }];
	const own = await readOwnIds(openDatabase(env.DB), clicks);
	const erased = { ids: new Set(clicks.map(({ id }) => id)), hashes: new Set(clicks.map(({ clickHash }) => clickHash)), own };
	return eraseRows(
		interrupted(meanwhile),
		{ clicks, gone: [], own, erased, refused: new Set<string>(), counted: 0 },
		{ actor: ACTOR, at: 1, id: "receipt" },
	);
}

async function expectErased(): Promise<void> {
	const tables = ["clicks", "conversions", "conversion_events", "conversion_history", "postback_intake", "callbacks", "claims"];
	const left = JSON.stringify(await Promise.all(tables.map((table) => rowsOf(`SELECT * FROM ${table}`))));
	for (const trace of ["own-click-77", "s2-mark", "secret"]) expect(left).not.toContain(trace);
	const request = { method: "POST", headers: OPERATOR_HEADERS, body: "{}" };
	const response = await exports.default.fetch("https://base.example/operator/check-ledger", request);
	expect(v.parse(ledgerAnswerSchema, await response.json()).differences).toEqual([]);
}

describe("worker: erasing beside other writers", () => {
	const click = (): ReturnType<typeof clickRow> => {
		const row = clickRow({ uid: "u", publisher_click_id: "own-click-77", platform: "west" });
		return { ...row, click_hash: String(row.click_hash).replace(/0$/, "a") };
	};

	it("takes in a postback of a conversion that is known", async () => {
		const mine = click();
		await storeClicks(mine);
		const cid = String(mine.click_hash);
		await consume(postbackMessage("west", { txnid: "t", cid, status: "pending" }));
		const counts = await eraseBeside(mine, () => consume(postbackMessage("west", { txnid: "t", cid, status: "approved", ...PERSONAL })));
		expect(counts).toMatchObject({ conversions: 1, conversion_events: 3, postbacks: 2, callbacks: 1 });
		await expectErased();
		expect(await rowsOf("SELECT status, payout_micros FROM conversions")).toEqual([{ status: "approved", payout_micros: 10_000_000 }]);
		expect(await rowsOf("SELECT count(*) AS n FROM audit WHERE subject_id = 'receipt'")).toEqual([{ n: 1 }]);
	});

	it("takes in a postback of a conversion that is new", async () => {
		const mine = click();
		await storeClicks(mine);
		const cid = String(mine.click_hash);
		const counts = await eraseBeside(mine, () => consume(postbackMessage("west", { txnid: "t", cid, status: "approved", ...PERSONAL })));
		expect(counts).toMatchObject({ conversions: 1, postbacks: 1, callbacks: 1 });
		await expectErased();
	});

	it.each([
		["one that names it", (hash: string) => hash],
		["one that names it in letters of both cases", (hash: string) => `C${hash.slice(1)}`],
	])("takes in the click that a conversion finds meanwhile, %s", async (_which, spell) => {
		const mine = click();
		const cid = spell(String(mine.click_hash));
		await consume(postbackMessage("west", { txnid: "t", cid, status: "approved" }));
		await storeClicks(mine);
		await eraseBeside(mine, () => consume({ format: 1, kind: "look_again", platform: "west", txnid: "t" }));
		await expectErased();
		expect(await rowsOf("SELECT stage, click_id FROM conversions")).toEqual([{ stage: "settled", click_id: mine.id }]);
	});

	it("takes in a postback that changes nothing but the intake", async () => {
		const mine = click();
		await storeClicks(mine);
		const cid = String(mine.click_hash);
		const refused = postbackMessage("west", { txnid: "t", cid });
		const intake = { ...refused.intake, query: `txnid=t&cid=${cid}&s2=s2-mark`, outcome: "rejected" };
		await eraseBeside(mine, () => consume({ ...refused, intake, postback: null }));
		await expectErased();
	});

	it("takes in what a publisher says of it", async () => {
		const mine = click();
		await storeClicks(mine);
		await env.DB.prepare(
			"INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at) VALUES ('c', 'cpa', 'missing', 'own-click-77', 'open', '[]', 1, 1, 1)",
		).run();
		await eraseBeside(mine, () =>
			env.DB.prepare(`UPDATE claims SET thread = '[{"by":"publisher","text":"own-click-77"}]', version = version + 1`).run(),
		);
		await expectErased();
		expect(await rowsOf("SELECT thread, version FROM claims")).toEqual([{ thread: '[{"by":"publisher","text":""}]', version: 3 }]);
	});
});
