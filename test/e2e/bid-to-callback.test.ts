/** The whole way, on bundles as they are deployed: bid, click, postback, callback, report; as one Worker, and as edge and origin. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRtbRules } from "../../scripts/certify/openrtb-rules.ts";
import { runRules } from "../../scripts/certify/run-rules.ts";
import { SERVING_ENGINE_RULES } from "../../scripts/certify/serving-engine-rules.ts";
import { readSupplyChain } from "../../scripts/certify/supply-chain.ts";
import example from "../../scripts/examples/network.json" with { type: "json" };
import { clickLink } from "../../scripts/stack/click-link.ts";
import { buildBundles, type Stack, startStack, type Topology } from "../../scripts/stack/start-stack.ts";

const ACCESS_KEY = "access-key-of-the-test";
const PLATFORM_KEY = "platform-key-of-the-test";
const DEADLINE_MS = 30_000;
/** A user at the exchange. */
const BUYER = "buyer-51cc";

const folder = mkdtempSync(join(tmpdir(), "clickbourse-stack-"));
const called: URLSearchParams[] = [];
let receiver: Server;
let receiverUrl: string;

beforeAll(async () => {
	receiver = createServer((request, response) => {
		called.push(new URL(request.url ?? "", "http://receiver").searchParams);
		response.writeHead(204).end();
	}).listen(0, "127.0.0.1");
	await once(receiver, "listening");
	receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/s2s?source=clickbourse`;
});

afterAll(() => {
	receiver.close();
	rmSync(folder, { recursive: true, force: true });
});

async function until<Found>(what: string, find: () => Promise<Found | undefined> | Found | undefined): Promise<Found> {
	const deadline = Date.now() + DEADLINE_MS;
	for (;;) {
		const found = await find();
		if (found !== undefined) return found;
		if (Date.now() > deadline) throw new Error(`${what} did not come within ${DEADLINE_MS / 1_000} s`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

async function readJson<Body>(response: Response): Promise<Body> {
	const text = await response.text();
	if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`);
	return JSON.parse(text);
}

describe.each<[string, Topology]>([
	["one Worker", "one"],
	["edge and origin", "split"],
])("e2e: bid to callback with %s", (_name, topology) => {
	let stack: Stack;

	beforeAll(async () => {
		const bundles = await buildBundles(topology, join(folder, topology));
		stack = await startStack({ topology, bundles, folder: join(folder, topology), variables: { ALLOW_INSECURE_CALLBACKS: "true" } });
	}, 120_000);

	afterAll(() => stack?.[Symbol.asyncDispose]());

	/** Of the click that is paid, and when it was made. */
	let hash = "";
	let clickedAt = "";

	/** Its sale is of the click's day, also where midnight has passed since: reports tell of that one day. */
	function postback(txnid: string, status: string): Promise<Response> {
		const query = `txnid=${txnid}&cid=${hash}&edate=${clickedAt}&payout=10&status=${status}`;
		return fetch(`${stack.origin}/api/postback/${PLATFORM_KEY}?${query}`);
	}

	async function report(type: string): Promise<{ data: { publisher_revenue: string; click_count: number; click_id?: string }[] }> {
		const day = clickedAt.slice(0, 10);
		return readJson(
			await fetch(`${stack.origin}/api/reporting/revenue-share`, {
				method: "POST",
				headers: { AccessKey: ACCESS_KEY },
				body: new URLSearchParams({ report_type: type, start_date: day, end_date: day }),
			}),
		);
	}

	/** What `npm run operator` prints. @throws Error where it does not end with 0 */
	async function operator(...command: readonly string[]): Promise<string> {
		const { stdout } = await promisify(execFile)(process.execPath, ["scripts/operator.ts", ...command, "--url", stack.origin], {
			env: { ...process.env, OPERATOR_KEY: stack.operatorKey },
		});
		return stdout;
	}

	test("what a click earns is credited once, reported, called back, and taken back when it is cancelled", {
		timeout: 120_000,
	}, async () => {
		called.splice(0);
		const [publisher] = example.publishers;
		const withChain = {
			...publisher,
			id: "chain-notes",
			publisher_id: "2002",
			publisher_identity: "chain_notes",
			callback_url: null,
			response_profile: "full",
			openrtb: { schain: { parties: [{ asi: "ssp.example", sid: "1" }] } },
		};
		const imported = await fetch(`${stack.origin}/operator/network`, {
			method: "POST",
			headers: { OperatorKey: stack.operatorKey },
			body: JSON.stringify({
				...example,
				platforms: example.platforms.map((platform) => ({ ...platform, access_key: PLATFORM_KEY })),
				publishers: [
					...example.publishers.map((publisher) => ({ ...publisher, access_key: ACCESS_KEY, callback_url: receiverUrl })),
					withChain,
				],
			}),
		});
		expect(await readJson<{ counts: { brands: number } }>(imported)).toMatchObject({ counts: { brands: expect.any(Number) } });

		const subject = {
			auctionId: "auction",
			identity: "kitchen_notes",
			publisherId: "2001",
			domain: "kettles.example",
			keyword: "electric kettle",
			deeplink: "https://kettles.example/copper",
			supplyChain: null,
		};
		for (const rules of [openRtbRules("contract"), SERVING_ENGINE_RULES]) {
			const verdicts = await runRules(stack.edge, rules, subject);
			expect(verdicts.filter(({ outcome, faults }) => outcome !== "pass" && !faults.includes("needs --schain"))).toEqual([]);
		}
		const chained = { ...subject, identity: "chain_notes", publisherId: "2002", supplyChain: readSupplyChain("1.0,1!ssp.example,1,1") };
		const verdicts = await runRules(stack.edge, openRtbRules("full"), chained);
		expect(verdicts.filter(({ outcome }) => outcome !== "pass")).toEqual([]);

		const bid = await readJson<{ seatbid: [{ bid: [{ adm: string }] }] }>(
			await fetch(`${stack.edge}/openrtb/kitchen_notes`, {
				method: "POST",
				body: JSON.stringify({
					id: "auction-1",
					imp: [{ id: "1", tagid: "sidebar" }],
					site: { domain: "kettles.example", publisher: { id: "my-click-1" } },
					user: { buyeruid: BUYER },
				}),
			}),
		);
		const clickUrl = new URL(JSON.parse(bid.seatbid[0].bid[0].adm).native.link.url);
		const click = `${stack.edge}${clickUrl.pathname}${clickUrl.search}`;
		const [target, again] = await Promise.all([clickLink(click), clickLink(click)]);
		clickedAt = new Date().toISOString();
		expect(again?.href).toBe(target?.href);
		hash = target?.searchParams.get("sub") ?? "";
		expect(hash).toMatch(/^[0-9a-f]{32}$/);

		for (let i = 0; i < 2; i++)
			expect(await readJson(await postback("order-1", "approved"))).toEqual({ message: "Postback received successfully" });

		// A postback that outruns its click waits for it: the minutely work tries it again.
		const credit = await until("the credit", async () => {
			if (called.length === 0) await stack.runCron();
			return called.find((query) => query.get("status") === "approved");
		});
		expect(Object.fromEntries(credit)).toMatchObject({ source: "clickbourse", txnid: "order-1", cid: "my-click-1", status: "approved" });
		expect(Number(credit.get("payout"))).toBe(7.5);

		expect((await report("daywise")).data).toMatchObject([{ publisher_revenue: "7.5000", click_count: 1 }]);
		expect((await report("source_level")).data).toMatchObject([{ source_id: "sidebar", publisher_revenue: "7.5000" }]);
		expect((await report("clickid_level")).data).toMatchObject([{ click_id: "my-click-1", publisher_revenue: "7.5000", rev_type: "CPA" }]);

		expect(await readJson(await postback("order-1", "cancelled"))).toEqual({ message: "Postback received successfully" });
		await until("the cancellation", () => called.find((query) => query.get("status") === "cancelled"));
		expect((await report("daywise")).data).toMatchObject([{ publisher_revenue: "0.0000" }]);
		expect(called.map((query) => query.get("status"))).toEqual(["approved", "cancelled"]);
	});

	test("a user is erased by the command line: once, with a receipt, and the money stays", { timeout: 120_000 }, async () => {
		await readJson(await postback("order-2", "approved"));
		await until("the second credit", () => called.find((query) => query.get("txnid") === "order-2"));
		const money = async () => [(await report("source_level")).data, (await report("daywise")).data];
		const before = await money();
		expect(before[0]).toMatchObject([{ source_id: "sidebar", publisher_revenue: "7.5000", click_count: 1 }]);
		expect((await report("clickid_level")).data).toMatchObject([{ click_id: "my-click-1", publisher_revenue: "7.5000" }]);

		const preview = await operator("erase", "--uid", BUYER, "--dry-run");
		expect(preview).toMatch(/^Would erase: 2 clicks, 2 conversions, \d conversion events, 3 callbacks\n$/);
		expect((await report("clickid_level")).data).toMatchObject([{ click_id: "my-click-1" }]);
		const printed = await operator("erase", "--uid", BUYER);
		expect(printed.split("\n")[0]).toBe(preview.trim().replace("Would erase", "Erased"));
		const [, id, receipt] = /^Receipt (\S+) of \S+, hash ([0-9a-f]{64})$/m.exec(printed) ?? [];
		expect(receipt).toBe(createHash("sha256").update(`${id}\n${BUYER}`).digest("hex"));

		expect(await operator("erase", "--uid", BUYER)).toMatch(/^Erased: nothing is known\nReceipt /);
		for (const known of [hash, "order-2"]) expect(await operator("trace", known)).not.toMatch(/my-click-1|buyer-51cc/);
		expect((await report("clickid_level")).data).not.toMatchObject([{ click_id: "my-click-1" }]);
		// What is known by its hash still is, without anything of the user: there is nothing to erase, and nothing changes.
		const again: unknown = JSON.parse(await operator("erase", "--click", hash, "--json"));
		expect(again).toMatchObject([{ complete: true, counts: { clicks: 0, conversions: 0, postbacks: 0, callbacks: 0 } }]);
		expect(await money()).toEqual(before);
		expect(await operator("audit", "--verb", "eraseUser")).toContain(id);
		expect(await operator("check-ledger")).toContain("each is what its events say");
	});
});
