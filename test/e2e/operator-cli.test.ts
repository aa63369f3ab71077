import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Adjusted } from "../../src/adjustments/adjustment-answer.ts";
import type { AuditPage } from "../../src/audit/audit-answer.ts";
import type { Explanation } from "../../src/bidding/explain-answer.ts";
import type { TestReport } from "../../src/callbacks/operator-answers.ts";
import type { OperatorClaim, SettledClaim } from "../../src/claims/claim-answers.ts";
import type { Trace } from "../../src/conversions/trace-answer.ts";
import type { MoveAnswer } from "../../src/database-move/move-answers.ts";
import type { LedgerAnswer } from "../../src/ledger-check/ledger-answers.ts";
import type { NetworkReport } from "../../src/network-reports/report-answer.ts";
import type { ClickPage } from "../../src/operator/clicks/clicks-answer.ts";
import type { ConversionPage } from "../../src/operator/conversions/conversions-answers.ts";
import type { Replayed } from "../../src/operator/dead-letters/replay-answers.ts";
import type { CredentialState, Issued, KeysPreview, Revoked } from "../../src/operator/keys/keys-answers.ts";
import type { ImportReport } from "../../src/operator/network/import-answer.ts";
import type { ShownImport } from "../../src/operator/network/imports-answer.ts";
import { DIFFERENCE_KINDS } from "../../src/operator/statement/compare-statement.ts";
import type { DifferenceCounts, Reconciled, Statements } from "../../src/operator/statement/statement-answers.ts";
import type { ReconcileAnswer } from "../../src/reconcile/reconcile-answers.ts";
import { Commands } from "./support/commands.ts";
import { freePort, Project } from "./support/project.ts";

const NO_DIFFERENCE = {
	added: 0,
	changed: 0,
	removed: 0,
	entries: [],
	entries_left_out: 0,
	losses: [],
	loss_count: 0,
	bids: {
		starts: 0,
		stops: 0,
		started: [],
		stopped: [],
		prices: [],
		price_count: 0,
		publishers: { starts: 0, stops: 0, started: [], stopped: [] },
		blocked: 0,
	},
} satisfies ImportReport["difference"];
const REPORT = {
	id: "i-1",
	version: 3,
	dry_run: false,
	needs_confirmation: false,
	difference: {
		...NO_DIFFERENCE,
		changed: 1,
		entries: [
			{
				section: "campaigns",
				id: "9001",
				brand: "shoes.example",
				kind: "changed",
				fields: [{ field: "commission_rate", before: "5% CPS", after: null }],
			},
		],
		losses: [{ section: "campaigns", id: "9001", field: "commission_rate", before: "5% CPS", after: null }],
		loss_count: 1,
	},
	counts: { platforms: 0, publishers: 0, brands: 2, campaigns: 3, exchange_rates: 0, products: 0, seller_products: 0 },
	book: { version: 7, complete: true, shards_written: 1 },
	issued: [{ owner: "publisher acme-media", kind: "access_key", value: "ak_issued" }],
	warnings: [{ path: "brands[0]", message: "bids without a cap" }],
	warning_count: 1,
} satisfies ImportReport;

describe("npm run operator", () => {
	const project = new Project();
	const commands = new Commands(project);
	let server: Server;
	let url: string;
	type Seen = {
		key: IncomingMessage["headers"][string];
		path: string | undefined;
		body: string;
		method: string | undefined;
		ifMatch?: string;
	};
	let seen: Seen[] = [];
	/** Null for a line that ends before there is one. */
	let answer: { status: number; body: string } | null;
	/** Given before `answer`, each once. */
	let answersBefore: (typeof answer)[] = [];

	beforeAll(async () => {
		server = createServer(async (request, response) => {
			const { operatorkey: key, "if-match": ifMatch } = request.headers;
			const { method, url: path } = request;
			seen.push({ key, path, body: await text(request), method, ...(ifMatch !== undefined && { ifMatch }) });
			const given = answersBefore.shift() ?? answer;
			if (given === null) return request.socket.destroy();
			const { status, body } = given;
			response.writeHead(status, { "content-type": "application/json", etag: '"7"' }).end(body);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		writeFileSync(join(project.folder, ".dev.vars"), "OPERATOR_KEY=key-from-dev-vars\n");
		writeFileSync(join(project.folder, "key.txt"), "key-from-file\n");
		writeFileSync(join(project.folder, "network.json"), '{"brands":[]}');
		writeFileSync(join(project.folder, "broken.json"), '{"brands":[\n{"domain":"a.example"},\n{"domain":tru}\n]}');
	});

	afterAll(async () => {
		server.close();
		await commands.end();
		await project.dispose();
	});

	async function run(...arguments_: string[]) {
		seen = [];
		return commands.run(arguments_);
	}

	it("takes the key from --key-file, then the environment, then .dev.vars", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		const command = ["import", "network.json", "--url", url];
		const env = { OPERATOR_KEY: "key-from-environment" };
		seen = [];
		await project.run(["npm", "run", "--silent", "operator", "--", ...command, "--key-file", "key.txt"], { env });
		await project.operator(command, { env });
		await project.operator(command);
		expect(seen.map(({ key }) => key)).toEqual(["key-from-file", "key-from-environment", "key-from-dev-vars"]);
	});

	it("finds the server that runs in this folder, else the one on PORT", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		const port = Number(new URL(url).port);
		const mark = join(project.folder, ".wrangler/running.json");
		mkdirSync(dirname(mark), { recursive: true });
		writeFileSync(mark, JSON.stringify({ pid: process.pid, port, startedAt: 0 }));
		const elsewhere = String(await freePort());
		const ofFolder = await project.operator(["import", "network.json"], { env: { PORT: elsewhere } });
		rmSync(mark);
		const ofPort = await project.operator(["import", "network.json"], { env: { PORT: String(port) } });
		expect([ofFolder.code, ofPort.code]).toEqual([0, 0]);
		const nowhere = await project.operator(["import", "network.json"], { env: { PORT: elsewhere } });
		expect(nowhere.stderr).toContain(`The server at http://localhost:${elsewhere} cannot be reached`);
	});

	it("prints counts, the book's version, issued keys and warnings", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		const { code, stdout } = await run("import", "network.json", "--url", url);
		expect(code).toBe(0);
		expect(stdout).toMatch(/ 2 {2}brands\n +3 {2}campaigns\nDifference: 0 added, 1 changed, 0 removed\.\n/);
		expect(stdout).toContain('  ~ campaign 9001 of shoes.example\n      commission_rate: "5% CPS" → none\n');
		expect(stdout).toContain("Campaign book: version 7 (1 shard written)");
		expect(stdout).toContain("Import i-1: `undo i-1` undoes it.");
		expect(stdout).toContain("publisher acme-media  access key: ak_issued");
		expect(stdout).toContain("1 warning:\n  brands[0]: bids without a cap");
	});

	it("prints the server's answer, and nothing else, with --json", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		const { stdout } = await run("import", "network.json", "--url", url, "--json");
		expect(JSON.parse(stdout)).toEqual(REPORT);
	});

	it("only compares with --dry-run, and says what stops it otherwise", async () => {
		answer = { status: 200, body: JSON.stringify({ ...REPORT, id: null, dry_run: true, needs_confirmation: true }) };
		const { stdout } = await run("import", "network.json", "--dry-run", "--complete", "--if-match", "7", "--url", url);
		expect(seen).toMatchObject([{ path: "/operator/network?dry_run=1&campaigns_complete=1", ifMatch: "7" }]);
		expect(stdout).toContain(
			"Nothing was changed. It stops more than half of the campaigns, publishers or pairs of them, or more than doubles the prices of most campaigns, or overwrites what came later, and needs --yes.",
		);
		answer = {
			status: 409,
			body: JSON.stringify({
				error: "Confirmation needed",
				message: "2 of 3 would stop",
				stops: 0,
				of: 5,
				publishers: { stops: 2, of: 3 },
				blocked: { stops: 0, of: 0 },
				raised: { campaigns: 0, publishers: 0 },
				difference: {
					...REPORT.difference,
					bids: { ...REPORT.difference.bids, publishers: { starts: 0, stops: 2, started: [], stopped: ["acme", "bonus"] } },
				},
			}),
		};
		const refused = await run("import", "network.json", "--url", url);
		expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Nothing was changed: 2 of 3 would stop.")]);
		expect(refused.stderr).toContain("Publishers that are bid for no more: 2 (acme, bonus)");
		const changed = [{ section: "brands", id: "shoes.example", import: "i-9", at: "2026-11-22T08:00:00.000Z", actor: "anna" }];
		answer = { status: 412, body: JSON.stringify({ error: "Conflict", message: "it has changed", version: 9, changed, changed_count: 3 }) };
		const late = await run("import", "network.json", "--url", url);
		expect(late.stderr).toContain("it has changed.\n  brands shoes.example: by anna at 2026-11-22T08:00:00.000Z (i-9)\n  … and 2 more");
	});

	it("warns of a changed entry as of one, not of a file", async () => {
		answer = { status: 200, body: JSON.stringify({ ...REPORT, warnings: [{ path: "", message: "bids without a cap" }] }) };
		const { stdout } = await run("set", "campaign", "9001", "epc=0.42", "--url", url);
		expect(stdout).toContain("1 warning:\n  (the entry): bids without a cap\n");
	});

	it("changes single entries, and undoes an import", async () => {
		const entry = JSON.stringify({ id: "acme", blocked_brands: [{ domain: "hats.example" }] });
		const report = JSON.stringify(REPORT);
		const sent = async (...command: string[]) => {
			const { code } = await run(...command, "--url", url);
			const { method, path, body, ifMatch } = seen.at(-1) ?? {};
			return [code, `${method} ${path}`, body === "" ? null : JSON.parse(body ?? ""), ...(ifMatch === undefined ? [] : [ifMatch])];
		};
		answer = { status: 200, body: report };
		const assignments = ["commission_rate=7% CPS", "epc=0.42", "active=false", 'keyword_epc={"red":"0.1"}', "max_rate="];
		const fields = { commission_rate: "7% CPS", epc: "0.42", active: false, keyword_epc: { red: "0.1" }, max_rate: null };
		expect(await sent("set", "campaign", "9001", ...assignments)).toEqual([0, "PATCH /operator/campaigns/9001", fields]);
		// JSON has no such number, and would make none of it, which clears.
		expect(await sent("set", "campaign", "9001", "daily_click_cap=1e400")).toEqual([
			0,
			"PATCH /operator/campaigns/9001",
			{ daily_click_cap: "1e400" },
		]);
		// What is no field, whatever its name, the server names.
		expect(await sent("set", "campaign", "9001", "constructor=1")).toEqual([0, "PATCH /operator/campaigns/9001", { constructor: "1" }]);
		expect(await sent("pause", "brand", "shoes.example", "--yes")).toEqual([
			0,
			"PATCH /operator/brands/shoes.example?yes=1",
			{ active: false },
		]);
		expect(await sent("resume", "publisher", "acme")).toEqual([0, "PATCH /operator/publishers/acme", { status: "active" }]);
		expect(await sent("suspend", "acme", "--dry-run")).toEqual([0, "PATCH /operator/publishers/acme?dry_run=1", { status: "suspended" }]);
		expect(await sent("undo", "i-1")).toEqual([0, "POST /operator/network/undo", { import: "i-1" }]);
		answersBefore = [{ status: 200, body: entry }];
		const blocks = { blocked_brands: [{ domain: "hats.example" }, { domain: "shoes.example", country: "US" }] };
		expect(await sent("block", "shoes.example", "--publisher", "acme", "--country", "us")).toEqual([
			0,
			"PATCH /operator/publishers/acme",
			blocks,
			'"7"',
		]);
		answersBefore = [{ status: 200, body: entry }];
		expect(await sent("unblock", "hats.example", "--publisher", "acme")).toEqual([
			0,
			"PATCH /operator/publishers/acme",
			{ blocked_brands: [] },
			'"7"',
		]);
		answer = {
			status: 422,
			body: '{"error":"Validation failed","faults":[{"path":"campaign","message":"there is no campaign 999999"}],"fault_count":1}',
		};
		const unpriced = await run("learning", "prices", "999999", "--url", url);
		expect([unpriced.code, unpriced.stderr]).toEqual([1, expect.stringContaining("there is no campaign 999999")]);
		// A page looks at so many, and may find none of them advised.
		answer = { status: 200, body: JSON.stringify({ data: [], learned_until: null, version: 1, limit: 1, next_cursor: "x" }) };
		const advice = await run("learning", "advice", "--limit", "1", "--url", url);
		expect(advice.stdout).toBe("None among those that were looked at.\nThere may be more: --cursor x\n");
		const none = await run("list", "brands", "--limit", "0", "--url", url);
		expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('--limit is "0", but must be a whole number, 1 or more.')]);
	});

	it("replays to the end, and adds up what that changed to the last digit", async () => {
		const part = { looked_at: 100, accepted: 1, still_refused: 99, conversions: 1, publisher_revenue: "-0.2000", dry_run: true };
		answersBefore = ["more", null].map((next_cursor) => ({
			status: 200,
			body: JSON.stringify({ ...part, gross_revenue: "0.123456", next_cursor }),
		}));
		const { code, stdout } = await run("postback-problems", "replay", "northwind", "--dry-run", "--url", url);
		expect([code, seen.map(({ body }) => JSON.parse(body).cursor)]).toEqual([0, [undefined, "more"]]);
		expect(stdout).toContain("Publisher revenue would change by -0.4000 USD, gross by 0.246912 USD.");
	});

	it("does not fail where nobody reads on, as `head` does", async () => {
		answer = { status: 200, body: JSON.stringify({ data: "x".repeat(1_000_000) }) };
		const { stderr } = await project.run(["sh", "-c", `"${process.execPath}" scripts/operator.ts export --url ${url} | head -c 1`]);
		expect(stderr).toBe("Version 7\n");
	});

	it.runIf(existsSync("/dev/full")).each([["export"], ["list brands"], ["keys list --json"]])(
		"fails where its output cannot be written: `%s`",
		async (command) => {
			answer = { status: 200, body: JSON.stringify({ data: [], keys: [], limit: 100, next_cursor: null }) };
			const script = `"${process.execPath}" scripts/operator.ts ${command} --url ${url} >/dev/full`;
			const { code, stderr } = await project.run(["sh", "-c", script]);
			expect([code, stderr]).toEqual([1, expect.stringContaining("Not all of the output could be written (ENOSPC).")]);
			expect(stderr).not.toContain("    at ");
		},
	);

	it("tells in words that an export cannot be written to a file", async () => {
		answer = { status: 200, body: "{}" };
		const { code, stderr } = await run("export", "--output", "no-such-folder/network.json", "--url", url);
		expect([code, stderr]).toEqual([1, "\nThe network cannot be written to no-such-folder/network.json: ENOENT.\n"]);
	});

	it.each([["two\nlines-of-one-key"], ["ключ-of-the-operator"]])("names a key that no request can carry: %j", async (OPERATOR_KEY) => {
		const { code, stderr } = await project.operator(["status", "--url", url], { env: { OPERATOR_KEY } });
		expect([code, stderr]).toEqual([1, expect.stringContaining("The operator key from OPERATOR_KEY in the environment has line ends")]);
	});

	it("says of a line that broke once something was sent that it may have been done", async () => {
		answer = null;
		const said = "What was sent may have arrived: see whether it was done before you send it again.";
		const sent = await run("keys", "issue", "access_key", "acme-media", "--url", url);
		expect([sent.code, sent.stderr.includes(said)]).toEqual([1, true]);
		const read = await run("status", "--url", url);
		expect([read.code, read.stderr.includes(said)]).toEqual([1, false]);
	});

	it("shows, lists and exports entries", async () => {
		const campaign = { brand: "shoes.example", campaign_id: 9001, platform: "northwind", country: "US", active: true, epc: "0.4000" };
		answer = { status: 200, body: JSON.stringify(campaign) };
		expect(JSON.parse((await run("show", "campaign", "9001", "--url", url)).stdout)).toEqual(campaign);
		const { brand, ...rest } = campaign;
		const file = { brands: [{ domain: brand, campaigns: [rest] }] };
		expect(JSON.parse((await run("export", "campaign", "9001", "--url", url)).stdout)).toEqual(file);
		answer = { status: 200, body: '{\n\t"brands": []\n}\n' };
		const { stdout, stderr } = await run("export", "brands", "--url", url);
		expect([stdout, stderr, seen[0]?.path]).toEqual([answer.body, "Version 7\n", "/operator/network?sections=brands"]);
		answer = { status: 200, body: '{"brands":[{"name":"a\u009b31m\u202eb"}]}' };
		expect((await run("export", "brands", "--url", url)).stdout).toBe('{"brands":[{"name":"a\\u009b31m\\u202eb"}]}');
		answersBefore = [{ status: 200, body: JSON.stringify({ data: [], limit: 100, next_cursor: "WzFd" }) }];
		answer = { status: 200, body: JSON.stringify({ data: [campaign], limit: 100, next_cursor: null }) };
		const listed = await run("list", "campaigns", "--brand", "shoes.example", "--url", url);
		expect(listed.stdout).toBe("9001  shoes.example  northwind  US  active  0.4000\n");
		expect(seen.map(({ path }) => path)).toEqual([
			"/operator/campaigns?brand=shoes.example&limit=100",
			"/operator/campaigns?brand=shoes.example&limit=100&cursor=WzFd",
		]);
	});

	it("prints every fault of a file on a line of its own, and how many were not listed", async () => {
		const faults = [
			{ path: "brands[3].campaigns[0].epc", message: "is required" },
			{ path: "", message: "is no object" },
		];
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults, fault_count: 5 }) };
		const { code, stderr } = await run("import", "network.json", "--url", url);
		expect(code).toBe(1);
		expect(stderr).toContain("  brands[3].campaigns[0].epc: is required\n  (the file): is no object\n  … and 3 more\n");
	});

	it("sends standard input for -", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		seen = [];
		const { code } = await project.operator(["import", "-", "--url", url], { input: '{"platforms":[]}' });
		expect(code).toBe(0);
		expect(seen.map(({ body }) => body)).toEqual(['{"platforms":[]}']);
	});

	it("sends a large file whole", async () => {
		answer = { status: 200, body: JSON.stringify(REPORT) };
		const large = JSON.stringify({
			brands: Array.from({ length: 20_000 }, (_, index) => ({ domain: `brand-${index}.example`, name: "x".repeat(200) })),
		});
		seen = [];
		const { code } = await project.operator(["import", "-", "--url", url], { input: large });
		expect(code).toBe(0);
		expect(seen[0]?.body === large).toBe(true);
	});

	it("asks about an OpenRTB request, or about a Serving Engine query in either form", async () => {
		answer = {
			status: 200,
			body: JSON.stringify({
				endpoint: "openrtb",
				decision: { outcome: "no-bid", reason: "cap_met", condition: 7, code: 506, explanation: "a cap is met" },
				privacy: "gdpr",
				candidates: [],
			} satisfies Explanation),
		};
		const { stdout } = await run("explain", "scripts/examples/bid-request.json", "--identity", "acme_rtb", "--url", url);
		expect(stdout).toContain("no bid, because a cap is met (cap_met, no-bid condition 7)\nPrivacy: the GDPR says no.\n");
		expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ publisher_identity: "acme_rtb", request: { id: "auction-1" } });
		for (const question of [
			["bd=shoes.example&cc=US", "--pubi", "1001"],
			["http://localhost:8787/serving-engine?pubi=1001&bd=shoes.example&cc=US"],
			["bd=shoes.example&dl=https://shoes.example/p?x=1", "--pubi", "1001"],
		]) {
			await run("explain", ...question, "--url", url);
			// As it is: the server reads it as its endpoint does.
			const query = question[0]?.replace("http://localhost:8787/serving-engine?", "");
			expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ publisher_id: "1001", query });
		}
	});

	it("ends with 1 where a publisher that is named may not use the endpoint, or is none", async () => {
		const decision = {
			outcome: "no-bid",
			reason: "publisher_not_enabled",
			condition: 3,
			code: 7,
			explanation: "unknown or not enabled",
		} as const;
		answer = {
			status: 200,
			body: JSON.stringify({ endpoint: "serving-engine", decision, privacy: null, candidates: [] } satisfies Explanation),
		};
		expect(await run("explain", "bd=shoes.example&cc=US", "--pubi", "none", "--url", url)).toMatchObject({ code: 1 });
	});

	it("ends with 1 where the endpoint refuses the request that is to be explained", async () => {
		const decision = { outcome: "invalid", explanation: "The country code is required" } as const;
		answer = {
			status: 200,
			body: JSON.stringify({ endpoint: "serving-engine", decision, privacy: null, candidates: [] } satisfies Explanation),
		};
		const { code, stdout } = await run("explain", "bd=shoes.example", "--pubi", "1001", "--url", url);
		expect([code, stdout]).toEqual([1, expect.stringContaining("The country code is required")]);
	});

	const SALE: Trace = {
		id: "T-1",
		truncated: false,
		clicks: [
			{
				...{ id: "c", click_hash: "abc", kind: "openrtb", billed: true, reason: null, flags: [], clicked_at: "T1", publisher: "acme" },
				...{ publisher_click_id: "click-77", brand: "shoes.example", campaign_id: 5001, platform: "west", source_id: null },
				...{ pricing_model: "CPA", bid: "0.4000", revenue: "0.0000" },
			},
		],
		postbacks: [
			{
				...{ id: "p", received_at: "T2", platform: "west", method: "GET", query: "txnid=T-1", outcome: "accepted" },
				answer: { message: "ok" },
			},
		],
		conversions: [
			{
				...{ platform: "west", txnid: "T-1", cid: "abc", stage: "settled", status: "approved", verdict: null },
				...{ network_status: null, status_unknown: false, credited: true, test: false, event_at: "T2", payout: "10.0000", sales: null },
				...{ currency: "EUR", usd_rate: 1.08 },
				...{ gross_usd: "10.8000", sales_usd: null, revenue_share: 0.8, publisher_revenue: "8.0000", pricing_model: "CPA" },
				...{ attribution: "click_hash", click_id: "c", publisher: "acme", publisher_click_id: "click-77", source_id: null },
				...{ campaign_id: 5001, s2: null, s3: null, surl: null, first_received_at: "T2", updated_at: "T2", retry_at: null, why: null },
				events: [
					{
						...{ seq: 1, at: "T3", kind: "received", postback: "p" },
						set: { status: "approved", test: false, payout: "10.0000", currency: "EUR", event_at: "1970-01-01T00:00:00.000Z" },
					},
					{
						...{ seq: 2, at: "T3", kind: "attributed", postback: "p" },
						set: { usd_rate: 1.08, publisher_revenue: "8.0000", revenue_share: 0.8 },
					},
				],
				callbacks: [
					{
						...{ id: "k", seq: 1, status: "approved", publisher: "acme", cid: "click-77", payout: "8.0000", state: "due" },
						...{ request_id: "p", created_at: "T4", next_attempt_at: "T6", delivered_at: null },
						attempts: [{ at: "T5", http_status: 503, latency_ms: 12, answer: "busy" }],
					},
				],
			},
		],
	};
	const NOTHING: Trace = { ...SALE, clicks: [], postbacks: [], conversions: [] };

	it("clicks list: says what a click earned, or why it is not paid, and the bid as a bid", async () => {
		const [click] = SALE.clicks;
		if (click === undefined) throw new Error("the sale has no click");
		const listed = {
			...click,
			clicked_at: "2026-11-20T09:00:00.000Z",
			country: "US",
			keyword: null,
			address_prefix: null,
			asked_from: null,
		};
		const clicks: ClickPage["data"] = [
			listed,
			{ ...listed, pricing_model: "CPC", revenue: "0.2400" },
			{ ...listed, billed: false, reason: "bot" },
		];
		answer = { status: 200, body: JSON.stringify({ data: clicks, limit: 100, next_cursor: null } satisfies ClickPage) };
		const { stdout } = await run("clicks", "list", "--url", url);
		const head = "2026-11-20T09:00:00.000Z  abc  acme  shoes.example 5001 US  openrtb";
		expect(stdout.split("\n")).toEqual([
			`${head}  bid 0.4000 USD, earned 0.0000 USD (CPA: conversions are paid)`,
			`${head}  bid 0.4000 USD, earned 0.2400 USD`,
			`${head}  bid 0.4000 USD, unpaid: a known robot (bot)`,
			"",
		]);
	});

	it("traces a sale: the click, postbacks with their answers, events, callbacks and their attempts", async () => {
		answer = { status: 200, body: JSON.stringify(SALE) };
		const { code, stdout } = await run("trace", "T-1", "--url", url);
		expect(code).toBe(0);
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ id: "T-1" });
		const told = [
			"T1  click abc, billed",
			"its click id click-77",
			"T2  postback accepted",
			'answered {"message":"ok"}',
			"T-1 of west: settled",
		];
		for (const text of [
			...told,
			"earns acme 8.0000 USD (80 %) of 10.0000 EUR (10.8000 USD) paid",
			"T3  received: status approved, payout 10.0000 EUR, event at 1970-01-01T00:00:00.000Z\n",
			"T3  attributed: 1 EUR = 1.08 USD, earned 8.0000 USD, revenue share 80 %\n",
			"T4  callback approved of 8.0000 USD: due",
			"T5  HTTP 503 after 12 ms: busy",
		]) {
			expect(stdout).toContain(text);
		}
	});

	it("says what may be where nothing is stored under an id, and ends with 1", async () => {
		answer = { status: 200, body: JSON.stringify(NOTHING) };
		const unknown = await run("trace", "T-1", "--url", url);
		expect([unknown.code, unknown.stdout]).toEqual([1, ""]);
		expect(unknown.stderr).toContain("Nothing is stored under T-1 (yet)");
		expect(unknown.stderr).toContain("--wait");
		const asJson = await run("trace", "d41d8cd98f00b204e9800998ecf8427e", "--json", "--url", url);
		expect(asJson.code).toBe(1);
		expect(JSON.parse(asJson.stdout)).toEqual(NOTHING);
		expect(asJson.stderr).toContain("It has the form of a click hash");
	});

	it("says of a sale that was credited and lost its rate, and of a status that no map knows, what to do", async () => {
		const [conversion] = SALE.conversions;
		if (conversion === undefined) throw new Error("there is no sale");
		const own = { stage: "quarantined", why: "no_rate", network_status: "{status}", status_unknown: true } as const;
		const saleWith = (credited: boolean) => ({
			status: 200,
			body: JSON.stringify({ ...SALE, conversions: [{ ...conversion, ...own, credited }] } satisfies Trace),
		});
		answer = saleWith(true);
		const { stdout } = await run("trace", "T-1", "--url", url);
		expect(stdout).toContain("needs a person: it was credited, and has no exchange rate any more");
		expect(stdout).toContain('the platform\'s status "{status}" is known to no map');
		answer = saleWith(false);
		expect((await run("trace", "T-1", "--url", url)).stdout).toContain("waits for the exchange rate of its day and currency");
	});

	it.each([
		["exhausted", 2, "5002 callbacks will be sent again, from now on.\n", "5000 so far\n"],
		["delivered", 1, "5000 callbacks will be sent again, from now on.\n", ""],
	])("asks for %s callbacks until all are sent again, where a replay leaves some", async (state, asked, stdout, stderr) => {
		const replayed = (count: number) => ({ status: 200, body: JSON.stringify({ replayed: count, dry_run: false }) });
		answersBefore = [replayed(5_000)];
		answer = replayed(2);
		expect(await run("callbacks", "replay", "--state", state, "--from", "2026-01-01", "--url", url)).toMatchObject({
			code: 0,
			stdout,
			stderr,
		});
		expect(seen).toHaveLength(asked);
		answersBefore = [];
	});

	it("waits with --wait until a sale has arrived and its callback was tried", async () => {
		const [conversion] = SALE.conversions;
		const [callback] = conversion?.callbacks ?? [];
		if (conversion === undefined || callback === undefined) throw new Error("the sale has no callback");
		const saleWith = (own: Partial<typeof conversion>) => ({
			status: 200,
			body: JSON.stringify({ ...SALE, conversions: [{ ...conversion, ...own }] } satisfies Trace),
		});
		const attempt = { at: "T5", http_status: 204, latency_ms: 12, answer: "" };
		answersBefore = [
			{ status: 200, body: JSON.stringify(NOTHING) },
			saleWith({ stage: "waiting", callbacks: [] }),
			saleWith({ callbacks: [{ ...callback, attempts: [] }] }),
		];
		answer = saleWith({ callbacks: [{ ...callback, state: "delivered", next_attempt_at: null, attempts: [attempt] }] });
		const { code, stdout, stderr } = await run("trace", "T-1", "--wait", "--url", url);
		expect(code).toBe(0);
		expect(seen).toHaveLength(4);
		expect(stderr).toBe("Waiting for T-1, up to 30 s …\n");
		expect(stdout).toContain("callback approved of 8.0000 USD: delivered\n        T5  HTTP 204 after 12 ms\n");
	});

	it.each([
		[
			["claims", "list", "--id", "nothing"],
			{ data: [], limit: 100, next_cursor: null },
			"There is no claim nothing. `claims list` shows those there are.",
		],
		[["callbacks", "list", "--id", "nothing"], { data: [], limit: 100, next_cursor: null }, "There is no callback nothing"],
		[["callbacks", "replay", "--txnid", "T-0"], { replayed: 0, dry_run: false }, "There is no callback of transaction T-0"],
		[["keys", "list", "--owner", "nobody"], { keys: [] }, "There is nothing of nobody"],
	])("ends with 1 where nothing has the id that was named: %j", async (command, body, message) => {
		answer = { status: 200, body: JSON.stringify(body) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
	});

	const BY_ID = [
		[["claims", "answer", "nope", "--text", "why"], "There is no such claim.", "claims list"],
		[["claims", "decline", "nope", "--text", "why"], "There is no such claim.", "claims list"],
		[["claims", "grant", "nope", "--text", "why", "--by", "amount"], "There is no such claim.", "claims list"],
		[["imports", "nope"], "There is no such import.", "imports"],
		[["show", "campaign", "1"], "There is no such campaign.", "list campaigns"],
		[["export", "brand", "none.example"], "There is no such brand.", "list brands"],
		[["set", "platform", "nope", "name=x"], "There is no such platform.", "list platforms"],
		[["suspend", "nobody"], "There is no such publisher.", "list publishers"],
		[["conversions", "show", "northwind", "T-0"], "There is no such conversion.", "conversions list"],
		[["conversions", "void", "northwind", "T-0", "--text", "why"], "There is no such conversion.", "conversions list"],
		[["people", "show", "nobody"], "There is no such person.", "people list"],
		[["people", "sign-out", "grace", "--session", "s"], "There is no such session: it may have ended.", "people show"],
		[["people", "remove-passkey", "grace", "p"], "There is no such passkey: it may be removed already.", "people show"],
	] as const;
	it.each(BY_ID)("says that there is nothing of an id, and what lists those there are: %j", async (command, message, list) => {
		answer = { status: 404, body: JSON.stringify({ error: "Not found", message }) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, `\n${message}\n\`${list}\` shows those there are.\n`]);
	});

	const NAMING_NONE: readonly (readonly string[])[] = [...BY_ID.map(([command]) => command), ["undo", "i-1"], ["learning", "accept", "1"]];
	it.each(NAMING_NONE.map((command) => ({ command })))(
		"takes a 404 that names nothing for another server's, or for a key that it does not know: $command",
		async ({ command }) => {
			answer = { status: 404, body: '{"error":"Not found"}' };
			const { code, stderr } = await run(...command, "--url", url);
			expect([code, stderr]).toEqual([1, expect.stringContaining("Is it a Clickbourse server (--url names another)?")]);
		},
	);

	it.each([
		[["adjust", "undo", "nope", "--text", "why"], "adjustment", "adjustment", "is no adjustment's id", "adjust list"],
		[
			["adjust", "void-conversion", "northwind", "T-0", "--text", "why"],
			"txnid",
			"txnid",
			"is no transaction of this platform",
			"conversions list",
		],
		[["learning", "prices", "1"], "campaign", "campaign", "there is no campaign 1", "list campaigns"],
		[["callbacks", "test", "--publisher", "nobody"], "publisher", "--publisher", "there is no publisher nobody", "list publishers"],
		[["adjust", "void-clicks", "--campaign", "1", "--text", "why"], "campaign", "--campaign", "is no campaign's id", "list campaigns"],
		[["adjust", "void-clicks", "--brand", "x", "--text", "why"], "brand", "--brand", "is no brand's domain", "list brands"],
	] as const)("says what lists those there are where a field names nothing: %j", async (command, path, typed, message, list) => {
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults: [{ path, message }], fault_count: 1 }) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, expect.stringContaining(`  ${typed}: ${message}\n\`${list}\` shows those there are.\n`)]);
	});

	const EMPTY = { data: [], limit: 100, next_cursor: null };
	const NO_SUMS = { ...EMPTY, group: ["publisher" as const], from: "2026-11-20", to: "2026-11-20" };
	const NO_TOTAL: NetworkReport["total"] = {
		...{ gross_revenue: "0.0000", publisher_revenue: "0.0000", pending_revenue: "0.0000", margin: "0.0000", margin_rate: null },
		...{
			pending_gross_revenue: "0.0000",
			sales_amount: "0.0000",
			clicks_paid: 0,
			conversion_count: 0,
			epc_earned: null,
			clicks_unpaid: 0,
			unpaid: {},
		},
		...{ conversions: { approved: 0, pending: 0, cancelled: 0 }, epc_bid: null, reversal_rate: null },
	};
	it.each([
		[["clicks", "list", "--publisher", "none"], EMPTY, "publishers"],
		[["clicks", "list", "--brand", "none"], { ...EMPTY, next_cursor: "5.c" }, "brands"],
		[["clicks", "list", "--campaign", "none"], EMPTY, "campaigns"],
		[["conversions", "list", "--platform", "none"], EMPTY, "platforms"],
		[["callbacks", "list", "--platform", "none"], EMPTY, "platforms"],
		[["callbacks", "replay", "--publisher", "none"], { replayed: 0, dry_run: false }, "publishers"],
		[["claims", "list", "--publisher", "none"], EMPTY, "publishers"],
		[["statements", "--platform", "none"], EMPTY, "platforms"],
		[["people", "list", "--publisher", "none"], EMPTY, "publishers"],
		[["list", "campaigns", "--brand", "none"], EMPTY, "brands"],
		[["list", "publishers", "--blocks", "none"], EMPTY, "brands"],
		[["postback-problems", "list", "--platform", "none"], { ...EMPTY, complete: true }, "platforms"],
		[["learning", "advice", "--campaign", "none"], { ...EMPTY, learned_until: null, version: 1 }, "campaigns"],
		[["bids", "--publisher", "none"], { ...NO_SUMS, total: { requests: 0, bids: 0, no_bids: 0 } }, "publishers"],
		[
			["auctions", "--publisher", "none"],
			{
				...NO_SUMS,
				total: {
					auctions: 0,
					won: 0,
					lost: 0,
					unknown: 0,
					losses: {},
					win_rate: null,
					price_to_beat: null,
					notices: { won: 0, billed: 0, lost: 0 },
				},
			},
			"publishers",
		],
		[["report", "--publisher", "none"], { ...NO_SUMS, data_through: null, total: NO_TOTAL }, "publishers"],
	] as const)("ends with 1 where a filter names what is not there: %j", async (command, body, section) => {
		const found = { status: 200, body: JSON.stringify(body) };
		const message = `There is no such ${section.slice(0, -1)}.`;
		for (const json of [[], ["--json"]]) {
			answersBefore = [found];
			answer = { status: 404, body: JSON.stringify({ error: "Not found", message }) };
			const { code, stdout, stderr } = await run(...command, ...json, "--url", url);
			expect([code, stdout === "", stderr]).toEqual([1, json.length === 0, `\n${message}\n\`list ${section}\` shows those there are.\n`]);
			expect(seen.map(({ path }) => path).slice(1)).toEqual([`/operator/${section}/none`]);
		}
		answersBefore = [found];
		answer = { status: 200, body: "{}" };
		expect((await run(...command, "--url", url)).code).toBe(0);
	});

	it("conversions list says when each happened, by which it counts", async () => {
		const conversion: ConversionPage["data"][number] = {
			...{ platform: "northwind", txnid: "T-1" },
			...{ stage: "settled" as const, status: "approved" as const, why: null, verdict: null, network_status: null },
			...{ status_unknown: false, test: false, credited: true, event_at: "2026-10-31T23:59:59.000Z", payout: "12.0000", currency: "USD" },
			...{ gross_usd: "12.0000", publisher_revenue: "9.0000", publisher: "acme-media", brand: "shoes.example", campaign_id: 1 },
			...{ cid: "abc", click_id: "c", first_received_at: "2026-11-21T09:00:00.000Z", updated_at: "2026-11-21T09:00:00.000Z" },
		};
		answer = { status: 200, body: JSON.stringify({ data: [conversion], limit: 100, next_cursor: null } satisfies ConversionPage) };
		const { stdout } = await run("conversions", "list", "--url", url);
		expect(stdout).toBe(
			"2026-11-21T09:00:00.000Z  northwind T-1  settled, approved  of 2026-10-31T23:59:59.000Z  12.0000 USD  acme-media, shoes.example\n",
		);
	});

	it("report says what of the platforms' and the publishers' money is pending", async () => {
		const total = {
			...NO_TOTAL,
			gross_revenue: "20.0000",
			pending_gross_revenue: "6.0000",
			publisher_revenue: "15.0000",
			pending_revenue: "4.5000",
			margin: "5.0000",
		};
		const body = { ...NO_SUMS, data_through: null, data: [{ ...total, publisher: "acme-media" }], total } satisfies NetworkReport;
		answer = { status: 200, body: JSON.stringify(body) };
		const { code, stdout } = await run("report", "--group", "publisher", "--url", url);
		expect(code).toBe(0);
		const [head = "", row = "", sum = ""] = stdout.split("\n");
		expect(head).toMatch(/^publisher +gross +of it pending +publishers +of it pending +margin /);
		expect(row).toMatch(/^acme-media +20\.0000 +6\.0000 +15\.0000 +4\.5000 +5\.0000/);
		expect(sum).toMatch(/^total +20\.0000 +6\.0000 +15\.0000 +4\.5000 +5\.0000/);
	});

	it("adjusts, asking under one id until all is done, and says what changed and how to undo it", async () => {
		const part = {
			id: "a-1",
			kind: "void_clicks" as const,
			clicks: 1_000,
			conversions: 0,
			publisher_revenue: "-200.0000",
			gross_revenue: "0.0000",
		};
		answersBefore = [{ status: 200, body: JSON.stringify({ ...part, complete: false, alike: null, dry_run: false } satisfies Adjusted) }];
		const whole = {
			...part,
			clicks: 1_200,
			publisher_revenue: "-240.0000",
			complete: true,
			alike: null,
			dry_run: false,
		} satisfies Adjusted;
		answer = { status: 200, body: JSON.stringify(whole) };
		const { code, stdout } = await run(
			...["adjust", "void-clicks", "--publisher", "acme-media", "--address-prefix", "203.0.113.0/24", "--campaign", "11"],
			...["--text", "a farm", "--url", url],
		);
		expect(code).toBe(0);
		expect(stdout).toBe(
			"1200 clicks changed.\nChanged publisher revenue by -240.0000 USD, gross by 0.0000 USD.\nAdjustment a-1: `adjust undo a-1 --text …` undoes it.\n",
		);
		expect(seen).toHaveLength(2);
		expect(seen[1]).toEqual(seen[0]);
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({
			...{ kind: "void_clicks", publisher: "acme-media", address_prefix: "203.0.113.0/24", campaign: 11 },
			...{ text: "a farm", id: expect.stringMatching(/^[\da-f-]{36}$/) },
		});
	});

	it.each([
		["adjust", "amount", "acme-media", "2026-11-20", "5.00"],
		["conversions", "void", "northwind", "T-1"],
		["rates", "revalue", "--currency", "EUR", "--from", "2026-11-01", "--to", "2026-11-02"],
	])("%s %s, where no answer says whether it was done, tells the id under which it is done once", async (...command) => {
		const failed = { status: 500, body: JSON.stringify({ error: "Internal error" }) };
		for (const given of [null, failed, { status: 524, body: "<html>A timeout occurred</html>" }]) {
			answer = given;
			const { code, stderr } = await run(...command, "--text", "why", "--url", url);
			const { id } = JSON.parse(seen[0]?.body ?? "") as { id: string };
			expect(code).toBe(1);
			expect(stderr).toContain(
				`What it did is kept: \`adjust list\` shows it. The same with --id ${id} goes on, and does nothing twice.\n`,
			);
		}
		const refused = await run(...command, "--text", "why", "--url", `http://127.0.0.1:${await freePort()}`);
		expect([refused.code, refused.stderr.includes("--id")]).toEqual([1, false]);
	});

	it.each<[string[], object]>([
		[["void-conversion", "northwind", "T-1"], { kind: "void_conversion", platform: "northwind", txnid: "T-1" }],
		[["restore-conversion", "northwind", "T-1"], { kind: "restore_conversion", platform: "northwind", txnid: "T-1" }],
		[["release-conversion", "northwind", "T-1"], { kind: "release_conversion", platform: "northwind", txnid: "T-1" }],
		[["amount", "acme-media", "2026-11-20", "-2.50"], { kind: "amount", publisher: "acme-media", date: "2026-11-20", amount: "-2.50" }],
		[["undo", "a-1"], { kind: "undo", adjustment: "a-1" }],
	])("adjust %j --dry-run only says what would change", async (command, body) => {
		const none = { id: null, kind: "undo", clicks: 1, conversions: 1, publisher_revenue: "2.5000", gross_revenue: "0.0000" };
		answer = { status: 200, body: JSON.stringify({ ...none, complete: true, alike: null, dry_run: true }) };
		const { stdout } = await run("adjust", ...command, "--text", "why", "--id", "id-of-mine", "--dry-run", "--url", url);
		expect(stdout).toBe("1 click and 1 conversion would change.\nWould change publisher revenue by 2.5000 USD, gross by 0.0000 USD.\n");
		expect(seen.map((request) => JSON.parse(request.body))).toEqual([{ ...body, text: "why", id: "id-of-mine" }]);
	});

	it.each<[string[], Adjusted["kind"], string]>([
		[["amount", "acme-media", "2026-11-20", "-2.50"], "amount", "Adjustment a-3: `adjust undo a-3 --text …` undoes it.\n"],
		[["undo", "a-3"], "undo", "Adjustment a-4.\n"],
	])("adjust %j says what it changed, and how to undo it where that can be", async (command, kind, last) => {
		const id = kind === "undo" ? "a-4" : "a-3";
		const done = { id, kind, clicks: 0, conversions: 0, publisher_revenue: "-2.5000", gross_revenue: "0.0000" };
		answer = { status: 200, body: JSON.stringify({ ...done, complete: true, alike: null, dry_run: false } satisfies Adjusted) };
		const { stdout } = await run("adjust", ...command, "--text", "why", "--url", url);
		expect(stdout).toBe(`Changed publisher revenue by -2.5000 USD, gross by 0.0000 USD.\n${last}`);
	});

	it("lists adjustments, and says where there are none or more", async () => {
		const listed = {
			...{ id: "a-1", kind: "void_clicks", clicks: 2, conversions: 0, publisher_revenue: "-0.4000", gross_revenue: "0.0000" },
			...{
				complete: true,
				actor: "operator",
				at: "2026-11-20T09:00:00.000Z",
				text: "a farm",
				request: { publisher: "acme-media", was: null },
			},
			undone_by: "a-2",
		};
		answer = { status: 200, body: JSON.stringify({ data: [listed], limit: 1, next_cursor: "5.a-1" }) };
		const { stdout } = await run("adjust", "list", "--limit", "1", "--url", url);
		expect(stdout).toBe(
			[
				"2026-11-20T09:00:00.000Z  operator  void clicks  publisher acme-media  (a-1, undone by a-2)",
				"    2 clicks, 0 conversions, publisher revenue -0.4000 USD, gross 0.0000 USD: a farm",
				"There are more: --cursor 5.a-1\n",
			].join("\n"),
		);
		answer = { status: 200, body: JSON.stringify({ data: [], limit: 100, next_cursor: null }) };
		expect((await run("adjust", "list", "--url", url)).stdout).toBe("There are no adjustments.\n");
	});

	it("says what is wrong with an adjustment that was refused", async () => {
		const faults = [{ path: "publisher", message: "is no publisher's id" }];
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults, fault_count: 1 }) };
		const { code, stderr } = await run("adjust", "void-clicks", "--publisher", "px", "--text", "why", "--url", url);
		expect([code, stderr]).toEqual([
			1,
			expect.stringContaining(
				"The server refused, and nothing was changed:\n  --publisher: is no publisher's id\n`list publishers` shows those there are.",
			),
		]);
	});

	it.each([
		[
			["claims", "grant", "c-1", "--text", "why", "--by", "amount"],
			[412, { error: "Conflict", message: "It is granted, and so at its end." }],
			"It is granted, and so at its end.",
		],
		[
			["adjust", "undo", "a-1", "--text", "why", "--id", "a-2"],
			[412, { error: "Conflict", message: "The id a-2 is of another adjustment." }],
			"The id a-2 is of another adjustment.",
		],
		[["people", "disable", "p-1"], [503, { error: "The network database is being moved" }], "The network database is being moved"],
		[
			["set", "brand", "b.example", "active=false"],
			[503, { error: "The network database is being moved" }],
			"The network database is being moved",
		],
	] as const)("says in the server's words why it refused, and nothing that is not so: %j", async (command, [status, body], said) => {
		answer = { status, body: JSON.stringify(body) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, `\nThe server refused, and nothing was changed: ${said}\n`]);
	});

	it.each([
		[["adjust", "list"], "See the server's log."],
		[["claims", "list"], "See the server's log."],
		[["undo", "i-1"], "`imports` shows whether it was done. See the server's log."],
		[["reconcile", "network.json", "--platform", "west", "--apply"], "What was applied is kept: give the command again, and it goes on."],
	] as const)("says where the server failed what stands: %j", async (command, stands) => {
		answer = { status: 500, body: '{"error":"Internal error"}' };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, `\nThe server answered HTTP 500 {"error":"Internal error"}\n${stands}\n`]);
	});

	it.each([
		[["adjust", "amount", "p", "2026-11-20", "5", "--text", "why", "--id", "mine"], "The same with --id mine goes on"],
		[["undo", "i-1"], "`imports` shows whether it was done."],
	] as const)("says where something was away that it may have been done: %j", async (command, stands) => {
		const message = "What was asked may have been done all the same: look before you send it again.";
		answer = { status: 503, body: JSON.stringify({ error: "Service unavailable", message }) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, expect.stringContaining(`\n${message}\n`)]);
		expect(stderr).toContain(stands);
		expect(stderr).not.toContain("nothing was changed");
	});

	it("tells of a move that begins between two requests of one command what stands", async () => {
		const part = {
			...{ id: "a-1", kind: "void_clicks", clicks: 1_000, conversions: 0, publisher_revenue: "-1.0000", gross_revenue: "0.0000" },
			...{ complete: false, alike: null, dry_run: false },
		} satisfies Adjusted;
		answersBefore = [{ status: 200, body: JSON.stringify(part) }];
		answer = { status: 503, body: '{"error":"The network database is being moved"}' };
		const { code, stderr } = await run("adjust", "void-clicks", "--source", "news", "--text", "why", "--id", "id-of-mine", "--url", url);
		expect([code, stderr]).toEqual([
			1,
			"\nThe server refused, and nothing more was changed: The network database is being moved\n" +
				"What it did is kept: `adjust list` shows it. The same with --id id-of-mine goes on, and does nothing twice.\n",
		]);
	});

	it.each([
		[["adjust", "void-clicks", "--text", "why"], "Which clicks? Name them by --publisher, --source, --address-prefix"],
		[["erase"], "Give either --uid or --click."],
	] as const)("asks what is meant, and sends nothing without: %j", async (command, said) => {
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr, seen]).toEqual([1, expect.stringContaining(said), []]);
	});

	it.each([
		[["conversions", "list", "--min-amount", "x"], "/operator/conversions?min_amount=x", "min_amount", "--min-amount"],
		[["audit", "--subject-kind", "x"], "/operator/audit?subject_kind=x&limit=100", "subject_kind", "--subject-kind"],
	] as const)("names the option that was typed: %j", async (command, path, parameter, typed) => {
		const faults = [{ path: parameter, message: "is wrong" }];
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults, fault_count: 1 }) };
		const { code, stderr } = await run(...command, "--url", url);
		expect([code, stderr]).toEqual([1, `\nThe server refused, and nothing was changed:\n  ${typed}: is wrong\n`]);
		expect(seen.map((request) => request.path)).toEqual([path]);
	});

	it("clicks list fails where nothing has the id that was asked for, and not where a page has not found it yet", async () => {
		answer = { status: 200, body: JSON.stringify(EMPTY) };
		const none = await run("clicks", "list", "--id", "c-1", "--url", url);
		expect([none.code, none.stderr]).toEqual([1, "\nThere is no click c-1 in this selection. `trace c-1` says what is known of it.\n"]);
		answer = { status: 200, body: JSON.stringify({ ...EMPTY, next_cursor: "5.c" }) };
		expect((await run("clicks", "list", "--id", "c-1", "--url", url)).code).toBe(0);
	});

	it.each([
		[["audit", "--actor", "ada", "--subject", "acme"], 'There are no changes with --actor "ada", --subject "acme".'],
		[["clicks", "list", "--source", "news"], 'There are no clicks with --source "news".'],
	] as const)("says what an empty list was to hold: %j", async (command, said) => {
		answer = { status: 200, body: JSON.stringify(EMPTY) };
		const { code, stdout } = await run(...command, "--url", url);
		expect([code, stdout]).toEqual([0, `${said}\n`]);
	});

	it("claims: lists them with what was written, answers, declines and grants", async () => {
		const at = "2026-11-20T09:00:00.000Z";
		const thread: OperatorClaim["thread"] = [{ at, by: "publisher", state: "open", text: "Order 77" }];
		const claim: OperatorClaim = {
			...{ id: "c-1", kind: "missing", about: "my-click", brand: "shoes.example", at: null, amount: "12.5000", state: "open", thread },
			...{ created_at: at, changed_at: at, undone_at: null, publisher: "acme-media", adjustment: null },
		};
		answer = { status: 200, body: JSON.stringify({ data: [claim], limit: 1, next_cursor: "5.c-1" }) };
		const filters = ["--state", "open", "--publisher", "acme-media", "--to", "2026-11-20", "--limit", "1"];
		const listed = await run("claims", "list", ...filters, "--url", url);
		expect(seen.map(({ path }) => path)).toEqual(["/operator/claims?state=open&publisher=acme-media&to=2026-11-20&limit=1"]);
		const line = `${at}  c-1  open  a sale is missing: my-click  acme-media, shoes.example, 12.5000 USD`;
		expect(listed.stdout).toBe(`${line}\n    ${at}  publisher: Order 77\nThere are more: --cursor 5.c-1\n`);

		const written = "One\u001b[2J\nTwo\rThree";
		answer.body = JSON.stringify({ data: [{ ...claim, thread: [{ ...thread[0], text: written }] }], limit: 1, next_cursor: null });
		const shown = await run("claims", "list", "--url", url);
		expect(shown.stdout).toBe(`${line}\n    ${at}  publisher: One\\u001b[2J\n        Two\\u000dThree\n`);
		const asJson = await run("claims", "list", "--json", "--url", url);
		expect(JSON.parse(asJson.stdout).data[0].thread[0].text).toBe(written);
		const undone = { ...claim, state: "granted", adjustment: "claim-c-1", undone_at: at };
		answer.body = JSON.stringify({ data: [undone], limit: 1, next_cursor: null });
		expect((await run("claims", "list", "--url", url)).stdout).toContain(`granted (adjustment claim-c-1, undone ${at})`);

		const adjusted = {
			...{ id: null, kind: "amount" as const, clicks: 0, conversions: 0, publisher_revenue: "12.5000", gross_revenue: "0.0000" },
			...{ complete: true, alike: "a-7", dry_run: true },
		};
		const granted: SettledClaim = { ...claim, state: "granted", adjustment: "claim-c-1", adjusted, dry_run: true };
		answer = { status: 200, body: JSON.stringify(granted) };
		const by = ["--by", "amount", "--date", "2026-11-19", "--amount", "12.50"];
		const done = await run("claims", "grant", "c-1", "--text", "It was found.", ...by, "--dry-run", "--url", url);
		expect(done.stdout).toContain("granted (adjustment claim-c-1)");
		expect(done.stdout).toMatch(
			/^Nothing was changed. It would be:[\s\S]*already, by adjustment a-7: is this one meant\?\nWould change publisher revenue by 12.5000 USD/,
		);
		await project.operator(["claims", "answer", "c-1", "--text", "Which shop?", "--url", url]);
		await project.operator(["claims", "decline", "c-1", "--text", "No.", "--url", url]);
		expect(seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
			["/operator/claims/c-1/grant?dry_run=1", { text: "It was found.", by: { kind: "amount", date: "2026-11-19", amount: "12.50" } }],
			["/operator/claims/c-1/answer", { text: "Which shop?" }],
			["/operator/claims/c-1/decline", { text: "No." }],
		]);
		answer = { status: 412, body: JSON.stringify({ error: "Conflict", message: "It is granted, and so at its end." }) };
		const ended = await run("claims", "decline", "c-1", "--text", "No.", "--url", url);
		expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining("It is granted, and so at its end.")]);
	});

	it("imports: lists what changed the network, and shows what one of them changed", async () => {
		const shown: ShownImport = {
			...{ id: "i-1", version: 5, kind: "import", at: "2026-11-20T09:00:00.000Z", actor: "ada", file_hash: null },
			...{ undoes: null, undone_by: "i-2", can_undo: true, added: 1, changed: 1, removed: 0, entries_left_out: 1 },
			entries: [{ ...REPORT.difference.entries[0], kind: "changed" } as ShownImport["entries"][number]],
		};
		const { added: _, changed: __, removed: ___, entries: ____, entries_left_out: _____, ...listed } = shown;
		answer = { status: 200, body: JSON.stringify({ data: [listed], limit: 1, next_cursor: "x" }) };
		const line = "2026-11-20T09:00:00.000Z  ada  import  i-1, undone by i-2";
		expect((await run("imports", "--limit", "1", "--url", url)).stdout).toBe(`${line}\nThere are more: --cursor x\n`);
		expect(seen.map(({ path }) => path)).toEqual(["/operator/network/imports?limit=1"]);
		answer = { status: 200, body: JSON.stringify(shown) };
		const one = await run("imports", "i-1", "--url", url);
		const change = '  ~ campaign 9001 of shoes.example\n      commission_rate: "5% CPS" → none\n';
		expect(one.stdout).toBe(`${line}: 1 added, 1 changed, 0 removed\n${change}  … and 1 more\n`);
		expect(seen.map(({ path }) => path)).toEqual(["/operator/network/imports/i-1"]);
	});

	it("says in the help of a command which options it needs", async () => {
		const { stdout } = await run("adjust", "amount", "--help");
		expect(stdout).toMatch(/--text <text> +why: kept with the adjustment \(required\)\n/);
		expect(stdout.match(/\(required\)/g)).toHaveLength(1);
	});

	it("statements: lists those that were applied, and says of which not all is", async () => {
		const counts = Object.fromEntries(DIFFERENCE_KINDS.map((kind) => [kind, 0])) as DifferenceCounts;
		const whole = { platform: "west", hash: "ab12", at: "2026-11-20T09:00:00.000Z", actor: "fay", layout: "awin", rows: 40, applied: 3 };
		const applied: Statements["data"][number] = { ...whole, applied_at: "2026-11-20T09:00:01.000Z", counts };
		answer = {
			status: 200,
			body: JSON.stringify({ data: [applied, { ...applied, rows: 1, applied_at: null }], limit: 2, next_cursor: "x" }),
		};
		const { stdout } = await run("statements", "--platform", "west", "--limit", "2", "--url", url);
		const head = "2026-11-20T09:00:00.000Z  fay  west";
		expect(stdout).toBe(
			`${head}  40 rows, 3 postbacks made of it  ab12\n${head}  1 row, 3 postbacks made of it: not all of it is applied, give it again  ab12\nThere are more: --cursor x\n`,
		);
		expect(seen.map(({ path }) => path)).toEqual(["/operator/reconcile?platform=west&limit=2"]);
		answersBefore = [{ status: 200, body: JSON.stringify({ data: [], limit: 100, next_cursor: null }) }];
		answer = { status: 200, body: "{}" };
		const none = await run("statements", "--platform", "west", "--url", url);
		expect(none.stdout).toBe('There are no applied statements with --platform "west".\n');
	});

	it.each([
		[true, 200, 0, "Confirmed: a callback would count as delivered."],
		[false, 500, 1, "Not confirmed: a callback would be tried again."],
		[false, null, 1, "Not confirmed: a callback would be tried again."],
	])("callbacks test: ends with 1 where the address does not confirm, confirmed %s", async (confirmed, http_status, code, said) => {
		const report = { called: "https://x.example/s2s?txnid=test-1", http_status, confirmed, latency_ms: 7, answer: "" } satisfies TestReport;
		answer = { status: 200, body: JSON.stringify(report) };
		const shown = await run("callbacks", "test", "--publisher", "acme", "--url", url);
		expect([shown.code, shown.stdout]).toEqual([code, expect.stringContaining(said)]);
		const asJson = await run("callbacks", "test", "--publisher", "acme", "--json", "--url", url);
		expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([code, report]);
	});

	it("reconcile: names its own options where the server names parameters, and says how to name columns", async () => {
		const statement = ["reconcile", "network.json", "--platform", "west", "--url", url];
		const faults = [
			{ path: "mapping.txnid", message: "no column is known to be it" },
			{ path: "date_order", message: "must be dmy or mdy" },
			{ path: "", message: "the columns are Ref, Fee" },
		];
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults, fault_count: 3 }) };
		const refused = await run(...statement);
		expect([refused.code, refused.stderr]).toEqual([
			1,
			[
				"",
				"The server refused, and nothing was changed:",
				"  --mapping txnid: no column is known to be it",
				"  --date-order: must be dmy or mdy",
				"  the file: the columns are Ref, Fee",
				'--mapping "txnid=Order ID,payout=Fee" says which column is which, of txnid, cid, date, payout, sales, currency, status.',
				"",
			].join("\n"),
		]);
		const others = [{ path: "platform", message: "is no platform's id" }];
		answer = { status: 422, body: JSON.stringify({ error: "Validation failed", faults: others, fault_count: 1 }) };
		expect((await run(...statement)).stderr).not.toContain("--mapping");

		const counts = { missing_here: 0, missing_there: 0, other_amount: 0, other_status: 0, two_ids: 0, unknown_status: 0 };
		const report: Reconciled = {
			...{
				platform: "west",
				hash: "h",
				layout: "mapping",
				rows: 1,
				transactions: 0,
				fault_count: 1,
				from: null,
				to: null,
				counts,
				data: [],
			},
			...{
				applied: 0,
				conversions: 0,
				publisher_revenue: "0.0000",
				gross_revenue: "0.0000",
				applied_at: null,
				complete: true,
				dry_run: true,
			},
			faults: [{ line: 2, message: '"03/04/2026" could be two days: say date_order' }],
		};
		answer = { status: 200, body: JSON.stringify(report) };
		const told = await run(...statement, "--mapping", "txnid=Ref, payout=Fee");
		expect(told.stdout).toContain('line 2: "03/04/2026" could be two days: say --date-order\n');
		expect(told.stdout).toContain("\nNothing differs of the rows that can be read.\n");
		expect(seen.map(({ path }) => new URLSearchParams(path?.split("?")[1]).get("mapping"))).toEqual(['{"txnid":"Ref","payout":"Fee"}']);

		const ours = { stage: "quarantined", status: "approved", payout: "12000.0000", currency: "USD", event_at: "2026-11-20T00:00:00.000Z" };
		const held = { kind: "missing_there", txnid: "T-9", other_txnid: null, ours, theirs: null, applies: false } as const;
		answer = { status: 200, body: JSON.stringify({ ...report, counts: { ...counts, missing_there: 1 }, data: [held] }) };
		expect((await run(...statement)).stdout).toContain(
			"T-9  missing there: here quarantined, approved, 12000.0000 USD, not there (only told)\n",
		);

		const theirs = { status: "corrected", payout: "1.0000", currency: null, at: null, cid: null };
		const odd = { kind: "unknown_status", txnid: "T-8", other_txnid: null, ours, theirs, applies: false } as const;
		const unknown = { ...report, counts: { ...counts, unknown_status: 1 }, data: [odd] };
		answer = { status: 200, body: JSON.stringify(unknown) };
		expect((await run(...statement)).stdout).toContain("\nFirst put the words of unknown status into the platform's status_map: ");
		answer = { status: 200, body: JSON.stringify({ ...unknown, applied_at: "2026-11-20T00:00:00.000Z" }) };
		const done = (await run(...statement)).stdout;
		expect(done).toContain("the same file changes nothing again. What differs still, a newer statement settles.\n");
		expect(done).not.toContain("First put");

		const mistyped = await run(...statement, "--mapping", "order=Ref");
		expect([mistyped.code, mistyped.stderr, seen]).toEqual([1, expect.stringContaining('--mapping has "order=Ref", but'), []]);
		expect(mistyped.stderr).toContain("txnid, cid, date, payout, sales, currency, status");
	});

	it("replays dead letters, all or of one queue, and says how many", async () => {
		const none = { clicks: 0, postbacks: 0, callbacks: 0 };
		const report = {
			replayed: { ...none, clicks: 3 },
			remaining: none,
			dry_run: false,
			until: "2026-11-18T15:00:00.000Z",
		} satisfies Replayed;
		answer = { status: 200, body: JSON.stringify(report) };
		expect((await run("replay", "--url", url)).stdout).toContain("Sent again: 3 of clicks");
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ dry_run: false });
		expect((await run("replay", "--queue", "clicks", "--dry-run", "--url", url)).stdout).toContain("Would send again: 3 of clicks");
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ queue: "clicks", dry_run: true });
		answer = { status: 200, body: JSON.stringify({ ...report, replayed: none }) };
		expect((await run("replay", "--url", url)).stdout).toContain("no dead letters");
	});

	it("check-ledger: asks until all is checked, says what differs, and fails where it does", async () => {
		const reasons = { pending: 2, held: 0, amount_changed: 0, not_delivered: 0, paused: 0, exhausted: 1, no_url: 0 };
		const nothing = { conversions: 500, difference_count: 0, differences: [], reasons, next_cursor: "77.74" };
		const found = { platform: "west", txnid: "T-1", publisher: "acme" };
		const last = {
			conversions: 1,
			difference_count: 2,
			differences: [
				{ ...found, kind: "history", field: "status", stored: "approved", expected: "pending" },
				{ ...found, kind: "callbacks", field: "no_credit", stored: null, expected: "8.0000" },
			],
			reasons: { ...reasons, exhausted: 0 },
			next_cursor: null,
		} satisfies LedgerAnswer;
		answersBefore = [{ status: 200, body: JSON.stringify(nothing satisfies LedgerAnswer) }];
		answer = { status: 200, body: JSON.stringify(last) };
		const { code, stdout } = await run("check-ledger", "--url", url);
		expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{}, { cursor: "77.74" }]);
		expect([code, stdout]).toEqual([
			1,
			[
				"Checked 501 conversions: 2 things differ.",
				"    west T-1, publisher acme: status is approved, its events give pending",
				"    west T-1, publisher acme: it is approved, and its 8.0000 USD were not credited",
				"Confirmed amounts that need not be those of reports, by why:",
				"    4 pending: in reports, and not credited or taken back yet",
				"    1 with a callback whose retries have ended",
				"",
			].join("\n"),
		]);
		answer = { status: 200, body: JSON.stringify({ ...nothing, next_cursor: null }) };
		expect(await run("check-ledger", "--url", url)).toMatchObject({
			code: 0,
			stdout: expect.stringContaining("Checked 500 conversions: each is what its events say"),
		});
	});

	it("database move: asks until all is moved, says how to switch, and fails where the copy is not the same", async () => {
		const table = { table: "clicks", copied: 20, compared: 0, sums: {} };
		const part: MoveAnswer = {
			outcome: "unfinished",
			step: "copy",
			table: "clicks",
			tables: [table],
			difference_count: 0,
			differences: [],
		};
		const all: MoveAnswer = { ...part, outcome: "moved", step: null, table: null, tables: [{ ...table, copied: 42 }] };
		answersBefore = [{ status: 200, body: JSON.stringify(part) }];
		answer = { status: 200, body: JSON.stringify(all) };
		const moved = await run("database", "move", "--url", url);
		expect(seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
			["/operator/database/move", {}],
			["/operator/database/move", { go_on: true }],
		]);
		expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining("Moved 42 rows of 1 tables") });
		expect(moved.stdout).toContain('To switch: set NETWORK_DATABASE = "postgres"');

		answersBefore = [{ status: 200, body: JSON.stringify(part) }];
		answer = { status: 412, body: JSON.stringify({ error: "the move was cancelled meanwhile" }) };
		expect(await run("database", "move", "--url", url)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("the move was cancelled meanwhile"),
		});

		const found = { table: "clicks", key: "c-1", column: null, from: null, to: null };
		const sum = { table: "clicks", kind: "sum", key: null, column: "bid_micros", from: "7", to: "8" } as const;
		const differences: MoveAnswer["differences"] = [{ ...found, kind: "missing" }, sum];
		const differing: MoveAnswer = { ...all, outcome: "differs", difference_count: 2, differences };
		answer = { status: 200, body: JSON.stringify(differing) };
		const { code, stdout } = await run("database", "move", "--url", url);
		expect([code, stdout.split("\n").slice(0, 3)]).toEqual([
			1,
			[
				"2 things differ between D1 and PostgreSQL:",
				"    clicks c-1: PostgreSQL lacks it",
				"    clicks: bid_micros adds up to 7 in D1, to 8 in PostgreSQL, up to the end",
			],
		]);

		answer = { status: 200, body: JSON.stringify({ ...all, outcome: "cancelled" } satisfies MoveAnswer) };
		expect((await run("database", "move", "--cancel", "--url", url)).stdout).toContain("D1 takes writes again");
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ cancel: true });
		answer = { status: 412, body: JSON.stringify({ error: "no move is under way" }) };
		expect(await run("database", "move", "--cancel", "--url", url)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("nothing was changed: no move is under way"),
		});
	});

	it("rates revalue: asks under one id until all is done, and says how it is undone", async () => {
		const part = {
			id: "r-1",
			kind: "revalue",
			clicks: 0,
			conversions: 3_000,
			publisher_revenue: "-1.0000",
			gross_revenue: "-2.0000",
		} as const;
		answersBefore = [{ status: 200, body: JSON.stringify({ ...part, complete: false, alike: null, dry_run: false } satisfies Adjusted) }];
		answer = {
			status: 200,
			body: JSON.stringify({ ...part, conversions: 3_001, complete: true, alike: null, dry_run: false } satisfies Adjusted),
		};
		const range = ["--currency", "EUR", "--from", "2026-11-01", "--to", "2026-11-07", "--text", "why", "--id", "r-1"];
		const { stdout } = await run("rates", "revalue", ...range, "--url", url);
		const body = { currency: "EUR", from: "2026-11-01", to: "2026-11-07", text: "why", id: "r-1" };
		expect(seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual(Array(2).fill(["/operator/rates/revalue", body]));
		expect(stdout).toBe(
			"3001 conversions changed.\nChanged publisher revenue by -1.0000 USD, gross by -2.0000 USD.\nAdjustment r-1: importing the rates of before and revaluing again undoes it.\n",
		);
		answer = { status: 200, body: JSON.stringify({ ...part, id: null, complete: true, alike: null, dry_run: true } satisfies Adjusted) };
		const preview = await run("rates", "revalue", ...range, "--dry-run", "--url", url);
		expect(seen[0]?.path).toBe("/operator/rates/revalue?dry_run=1");
		expect(preview.stdout).toContain("3000 conversions would change.");
	});

	it("reconcile-sums: asks until all is compared, says what differs, and fails where it stands", async () => {
		const nothing = { days: 30, from: "2026-10-01", to: "2026-10-30", of_days: 31, campaigns: 0, clicks_gone: ["2026-10-01"] };
		const difference = {
			counter: "daily_sources",
			day: "2026-10-31",
			publisher: "acme",
			source: "s",
			campaign_id: null,
			brand: null,
		} as const;
		const first = {
			...nothing,
			difference_count: 0,
			differences: [],
			repaired: false,
			next_cursor: "day 2026-10-31",
		} satisfies ReconcileAnswer;
		const last = {
			...{ days: 1, from: "2026-10-31", to: "2026-10-31", of_days: 31, campaigns: 4, clicks_gone: [], difference_count: 1 },
			...{ differences: [{ ...difference, column: "gross", stored: "1.0000", counted: "1.5000" }], repaired: false, next_cursor: null },
		} satisfies ReconcileAnswer;
		answersBefore = [{ status: 200, body: JSON.stringify(first) }];
		answer = { status: 200, body: JSON.stringify(last) };
		const { code, stdout } = await run("reconcile-sums", "--from", "2026-10-01", "--url", url);
		expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
			{ from: "2026-10-01", repair: false },
			{ from: "2026-10-01", repair: false, cursor: "day 2026-10-31" },
		]);
		expect(code).toBe(1);
		expect(stdout).toContain("Compared 31 days and the totals of 4 campaigns: 1 sum differs.");
		expect(stdout).toContain("2026-10-31  daily_sources, publisher acme, source s: gross is 1.0000, its rows give 1.5000");
		expect(stdout).toContain("Not compared: sums of clicks of 1 day up to 2026-10-01");
		const repaired = await run("reconcile-sums", "--repair", "--url", url);
		expect([repaired.code, repaired.stdout]).toEqual([0, expect.stringContaining("They were written right.")]);
	});

	it.each([
		["a file that is not there", ["import", "missing.json"], "missing.json cannot be read: there is no such file"],
		["a folder", ["import", "scripts"], "it is a folder"],
		["a file that is no JSON", ["import", "broken.json"], "broken.json is not valid JSON at line 3"],
		["an address that is none", ["import", "network.json", "--url", "localhost"], "must be an address such as https://"],
		["a key file that is not there", ["import", "network.json", "--key-file", "nope"], "The key file nope cannot be read"],
		[
			"a version that is none",
			["import", "network.json", "--if-match", "abc"],
			'--if-match is "abc", but must be a version of the network',
		],
		["a version that is empty", ["learning", "accept", "--all", "--if-match", ""], "`export` and `learning advice` name it"],
		["a question without a publisher", ["explain", "scripts/examples/bid-request.json"], "Give --identity"],
		["an unknown command", ["destroy"], "unknown command"],
		["a missing argument", ["import"], "missing required argument"],
	])("says what is wrong with %s, sends nothing and exits with 1", async (_, command, message) => {
		const { code, stderr } = await run(...command);
		expect(code).toBe(1);
		expect(stderr).toContain(message);
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(seen).toEqual([]);
	});

	it("says how to go on where no server answers", async () => {
		const { code, stderr } = await run("import", "network.json", "--url", `http://127.0.0.1:${await freePort()}`);
		expect(code).toBe(1);
		expect(stderr).toContain("cannot be reached (ECONNREFUSED)");
		expect(stderr).toContain("npm start");
	});

	it.each([
		[401, '{"error":"Unauthorized"}', "refused the operator key from .dev.vars (HTTP 401)"],
		[404, '{"error":"Not found"}', "without an OPERATOR_KEY has operator endpoints for the operator keys"],
		[
			403,
			'{"error":"Forbidden","message":"This takes the role manager."}',
			"HTTP 403), and nothing was changed. This takes the role manager.",
		],
		[413, '{"error":"too large"}', "Split the file"],
		[503, '{"error":"Not taken over","message":"send it in parts"}', "Not taken over: send it in parts."],
		[500, '{"error":"Internal error"}', 'HTTP 500 {"error":"Internal error"}\nNothing should have changed.'],
		[502, "<html>Bad gateway</html>", "something other than JSON"],
		[200, '{"hello":"world"}', "not one this CLI knows"],
	])("explains an answer of HTTP %d %s", async (status, body, message) => {
		answer = { status, body };
		const { code, stderr } = await run("import", "network.json", "--url", url);
		expect(code).toBe(1);
		expect(stderr).toContain(message);
	});

	it("audit: asks for what was wanted, and shows who did it", async () => {
		const change = {
			id: "a-1",
			at: "2026-11-20T09:30:00.000Z",
			actor: "ada",
			role: "admin",
			verb: "revokeKeys",
			subject: { kind: "access_key", id: "acme-media" },
			before: null,
			after: { id: null },
			counts: { keys: 2 },
			request_id: "r-1",
		} as const;
		const one = { ...change, verb: "replayDeadLetters", counts: { dead_letters: 1, other_status: 1, changed: 1 } } as const;
		answer = { status: 200, body: JSON.stringify({ data: [change, one], limit: 2, next_cursor: "next" } satisfies AuditPage) };
		const { code, stdout } = await run("audit", "--actor", "ada", "--subject-kind", "access_key", "--limit", "1", "--url", url);
		expect(code).toBe(0);
		expect(seen[0]?.path).toBe("/operator/audit?actor=ada&subject_kind=access_key&limit=1");
		expect(stdout).toContain("2026-11-20T09:30:00.000Z  ada (admin)  revokeKeys  access_key acme-media: 2 keys\n");
		expect(stdout).toContain("replayDeadLetters  access_key acme-media: 1 dead letter, 1 other status, 1 changed\n");
		expect(stdout).toContain("--cursor next");
	});

	it("keys: issues an operator key with its role and end", async () => {
		const issued = { owner: "ada", kind: "operator_key", id: "0a1b2c3d4e5f", role: "viewer", ends_at: null, value: "opk_new" } as const;
		answer = { status: 200, body: JSON.stringify({ issued, published: true } satisfies Issued) };
		const end = "2027-01-01T00:00:00Z";
		const { stdout } = await run("keys", "issue", "operator_key", "ada", "--role", "viewer", "--expires", end, "--url", url);
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ kind: "operator_key", owner: "ada", role: "viewer", expires: end });
		expect(stdout).toContain("ada  operator key: opk_new");
		const preview = { owner: "ada", kind: "operator_key", role: "viewer", ends_at: end } as const;
		answer = { status: 200, body: JSON.stringify({ dry_run: true, issued: preview, ending: [] } satisfies KeysPreview) };
		const told = await run("keys", "issue", "operator_key", "ada", "--role", "viewer", "--expires", end, "--dry-run", "--url", url);
		expect(told.stdout).toContain(`Would make: ada  operator key (viewer, until ${end})`);
	});

	it("keys: sends what was asked, shows a new key, and says what was refused", async () => {
		answer = {
			status: 200,
			body: JSON.stringify({
				issued: { owner: "acme-media", kind: "access_key", id: "0".repeat(12), value: "ak_new" },
				published: true,
			} satisfies Issued),
		};
		const rotated = await run("keys", "rotate", "access_key", "acme-media", "--overlap", "0", "--url", url);
		expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ kind: "access_key", owner: "acme-media", overlap_hours: 0 });
		expect([rotated.code, rotated.stdout]).toEqual([0, expect.stringContaining("ak_new")]);

		answer = {
			status: 422,
			body: JSON.stringify({ error: "Validation failed", faults: [{ path: "owner", message: "is no publisher" }], fault_count: 1 }),
		};
		const refused = await run("keys", "issue", "access_key", "nobody", "--url", url);
		expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("owner: is no publisher")]);

		const wrong = await run("keys", "rotate", "access_key", "acme-media", "--overlap", "soon", "--url", url);
		expect([wrong.code, wrong.stderr, seen]).toEqual([1, expect.stringContaining("must be a number of hours"), []]);
	});

	it("keys: says what ends a publisher's pay where its last key is revoked, which does not", async () => {
		const revoke = async (kind: "access_key" | "platform_key", ...keys: CredentialState[]) => {
			answersBefore = [{ status: 200, body: JSON.stringify({ revoked: 1, published: true } satisfies Revoked) }];
			answer = { status: 200, body: JSON.stringify({ keys }) };
			const { code, stdout } = await run("keys", "revoke", kind, "acme-media", "--url", url);
			expect(code).toBe(0);
			return stdout;
		};
		const key = { owner: "acme-media", id: "0".repeat(12), ends_at: null } as const;
		const name: CredentialState = { ...key, kind: "publisher_id", state: "valid" };
		const ended: CredentialState = { ...key, kind: "access_key", state: "ended" };
		const ends = 'acme-media has no valid key any more. Clicks on its bids and links are still paid: "status": "suspended" ends that.';
		expect(await revoke("access_key", name, ended)).toContain(ends);
		expect(seen.map(({ path, body }) => [path, JSON.parse(body)]).at(-1)).toEqual(["/operator/keys/list", { owner: "acme-media" }]);
		expect(await revoke("access_key", name, ended, { ...key, kind: "publisher_key", state: "ending" })).not.toContain("suspended");
		expect(await revoke("platform_key")).not.toContain("suspended");
		answersBefore = [];
	});
});
