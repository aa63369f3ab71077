import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendantsOf } from "../../scripts/local/processes.ts";
import { freePort, type LocalServer, Project } from "./support/project.ts";

const MINUTES_MS = 60_000;
/** Postbacks that are acknowledged just before the server is stopped. */
const HASTY_POSTBACKS = 120;
/** Only what has failed takes this long. */
const DEADLINE_MS = 30_000;
const ENVIRONMENT_KEY = "operator-key-from-the-environment";

/** One story, in order: a newcomer's first start, an import, a restart, a reset. */
describe("npm start", { timeout: 3 * MINUTES_MS }, () => {
	const project = new Project();
	let server: LocalServer;
	let port: number;

	const secrets = () => parseEnv(readFileSync(join(project.folder, ".dev.vars"), "utf8"));
	const servingEngine = async (query: string): Promise<unknown> => (await fetch(`${server.origin}/serving-engine?${query}`)).json();
	/** Where the callbacks that were received are shown. */
	const callbackOrigin = () => /called back with: here, and at (http:\/\/127\.0\.0\.1:\d+)\//.exec(server.stdout)?.[1] ?? "";
	const KETTLES = "pubi=2001&bd=kettles.example&cc=US";

	beforeAll(async () => {
		port = await freePort();
		server = await project.start(port);
	}, 3 * MINUTES_MS);

	afterAll(() => project.dispose());

	it("writes fresh secrets that only their owner can read", () => {
		expect(statSync(join(project.folder, ".dev.vars")).mode & 0o777).toBe(0o600);
		expect(secrets().OPERATOR_KEY).toMatch(/^[\w-]{16,}$/);
		expect(secrets().TOKEN_KEYS).toMatch(/^[\w-]{32,}$/);
	});

	it("loads the demo network and prints its credentials", () => {
		expect(server.stdout).toContain("Loaded 300 brands");
		for (const text of ["acme_rtb", "1001", "demo-access-key-acme-media", "demo-platform-key-northwind"])
			expect(server.stdout).toContain(text);
	});

	it("imports a second network, which is bid on seconds later", async () => {
		expect(await servingEngine(KETTLES)).toEqual({ status: 0 });
		const { code, stdout } = await project.operator(["import", "scripts/examples/network.json"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/Issued, and shown only this once:\n {2}publisher kitchen-notes/);
		await expect.poll(() => servingEngine(KETTLES), { timeout: DEADLINE_MS }).toMatchObject({ status: 1, bid_amount: "0.2700" });
		expect(await servingEngine("pubi=1001&bd=shoes.example&cc=US")).toMatchObject({ status: 1 });
	});

	it("prints a tour that works when it is pasted in one go: from a bid to what it earned", async () => {
		const tour = server.stdout.slice(server.stdout.indexOf("# A bid by OpenRTB"));
		const { code, stdout, stderr } = await project.run(["sh", "-eu"], { input: tour });
		expect([code, stderr]).toEqual([0, expect.not.stringMatching(/not found|syntax error/)]);
		const lines = stdout.split("\n");
		const answers = lines.filter((line) => /^\{.*\}$/.test(line)).map((line): unknown => JSON.parse(line));
		expect(answers).toMatchObject([
			{ id: "auction-1", cur: "USD", seatbid: [{ seat: "acme-seat", bid: [{ price: 0.336, adomain: ["shoes.example"] }] }] },
			{ status: 1, bid_amount: "0.4400" },
			{ message: "Postback received successfully" },
			{ data: [{ publisher_revenue: "9.8720", gross_revenue: "12.3400", click_count: 1 }] },
		]);
		expect(lines).toContainEqual(expect.stringMatching(/^https:\/\/track\.northwind\.example\/c\?m=301&sub=[0-9a-f]{32}$/));
		for (const text of [
			"earns acme-media 9.8720 USD (80 %) of 12.3400 USD paid",
			"callback approved of 9.8720 USD: delivered",
			"Callback to /acme-media: T-1001 approved, 9.8720 USD, click id my-click-1",
			'{"success":true,"data":[{"merchant_id":301,',
			'{"keyword":"running shoes","results":[{"id":"SHO-',
			"bid of 0.3360 USD a click by campaign 5001 of shoes.example",
			"Campaign book: version",
		]) {
			expect(stdout).toContain(text);
		}
	});

	it("runs the commands of the README, and of a network of your own, when they are pasted in one go", async () => {
		const sections = [
			["README.md", /^## Five minutes([\s\S]*?)^## /m],
			["docs/operations.md", /^## A network of your own$([\s\S]*)/m],
		] as const;
		const parts = sections.map(
			([path, section]) => section.exec(readFileSync(join(import.meta.dirname, "../..", path), "utf8"))?.[1] ?? "",
		);
		const blocks = [...parts.join("").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
		expect(blocks.length).toBeGreaterThan(8);
		const commands = blocks
			.join("")
			.replaceAll("http://localhost:8787", server.origin)
			.replaceAll("http://127.0.0.1:9787", callbackOrigin());
		const { code, stdout, stderr } = await project.run(["sh", "-eu"], { input: commands });
		expect([code, stderr]).toEqual([0, expect.not.stringMatching(/not found|syntax error/)]);
		for (const text of [
			"no bid, because a cap of the campaign is met",
			"Transaction T-1001 of northwind: settled, approved",
			"earns kitchen-notes 7.5000 USD (75 %) of 10.0000 USD paid",
			"Callback to /kitchen-notes: H-1 approved, 7.5000 USD, click id k-1",
			"Callback to /kitchen-notes: H-1 cancelled, 7.5000 USD, click id k-1",
			"(advertiser_blocked, no-bid condition 5)",
		]) {
			expect(stdout).toContain(text);
		}
	});

	it("tells of callbacks, and of no error, while the tour is walked", () => {
		expect(server.stdout).toContain("Callback to /acme-media: T-1001 approved, 9.8720 USD");
		expect(server.stdout).not.toMatch(/ERROR|stack:|"level":"error"/);
	});

	it("certifies the server that runs in this folder", async () => {
		const { code, stdout } = await project.run(["npm", "run", "--silent", "certify"]);
		expect([code, stdout]).toEqual([0, expect.stringContaining("Conforms.")]);
	});

	it("names the pages for a browser, which are there, and know that the demo is loaded", async () => {
		for (const path of ["/", "/docs/publishers", "/docs"]) {
			expect(server.stdout).toContain(` ${server.origin.replace("127.0.0.1", "localhost")}${path}\n`);
			expect((await fetch(server.origin + path, { headers: { accept: "text/html" } })).status).toBe(200);
		}
		const front = await fetch(server.origin, { headers: { accept: "text/html" } });
		expect(await front.text()).toContain("The demo network is loaded");
	});

	it.each([
		["publisher", "/console/earnings"],
		["operator", "/console/operator"],
	])("prints a link that signs in to the console as the %s", async (who, first) => {
		const [, link = ""] =
			new RegExp(`The console, as the ${who}.*? (http://localhost:\\d+/console/sign-in/\\S+)\\n`).exec(server.stdout) ?? [];
		expect(await (await fetch(link)).text()).toContain("Sign in");
		const signedIn = await fetch(link, { method: "POST", headers: { origin: new URL(link).origin }, redirect: "manual" });
		const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
		const home = await fetch(`${new URL(link).origin}/console`, { headers: { cookie } });
		expect([home.status, new URL(home.url).pathname]).toEqual([200, first]);
	});

	it("points click URLs at itself", async () => {
		expect(await servingEngine("pubi=1001&bd=shoes.example&cc=US")).toMatchObject({
			redirect_url: expect.stringMatching(`^http://localhost:${port}/click\\?`),
		});
	});

	it("answers on every address that localhost stands for", async () => {
		const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
		const hosts = addresses.includes("::1") ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"];
		for (const host of hosts) expect((await fetch(`http://${host}:${port}/health`)).status).toBe(200);
	});

	it("lets no secret show in the arguments of a process", () => {
		const processes = execFileSync("ps", ["-A", "-o", "args"], { encoding: "utf8" });
		expect(processes).toContain(String(port));
		for (const secret of Object.values(secrets())) expect(processes).not.toContain(secret);
	});

	it("fires the cron by hand as it does once a minute", async () => {
		expect((await fetch(`${server.origin}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`)).status).toBe(200);
	});

	it("shows the faults of a network file with their paths, and changes nothing", async () => {
		const file = readFileSync(join(project.folder, "scripts/examples/network.json"), "utf8").replace('"0.3600"', '"9.9999999"');
		const { code, stderr } = await project.operator(["import", "-", "--url", server.origin], { input: file });
		expect(code).toBe(1);
		expect(stderr).toMatch(/^ {2}brands\[0\]\.campaigns\[0\]\.epc: \S/m);
		expect(await servingEngine(KETTLES)).toMatchObject({ bid_amount: "0.2700" });
	});

	it("refuses a wrong operator key with 401", async () => {
		const headers = { OperatorKey: "not-the-operator-key-at-all" };
		expect((await fetch(`${server.origin}/operator/network`, { method: "POST", headers, body: "{}" })).status).toBe(401);
		const { code, stderr } = await project.operator(["import", "scripts/examples/network.json", "--url", server.origin], {
			env: { OPERATOR_KEY: headers.OperatorKey },
		});
		expect(code).toBe(1);
		expect(stderr).toContain("refused the operator key from OPERATOR_KEY in the environment (HTTP 401)");
	});

	it("is left alone by npm run reset and by a second npm start while it runs", async () => {
		const reset = await project.run(["npm", "run", "reset"]);
		expect(reset.code).toBe(1);
		expect(reset.stderr).toContain("The local server is running");
		const second = await project.run(["npm", "start"], { env: { PORT: String(await freePort()) } });
		expect(second.code).toBe(1);
		expect(second.stderr).toContain("already runs in this folder");
	});

	it("ends all it started on SIGINT, once what it acknowledged is stored", async () => {
		const acknowledged = await Promise.all(
			Array.from({ length: HASTY_POSTBACKS }, async (_, at) => {
				const query = `txnid=hasty-${at}&cid=nobody-${at}&edate=2026-11-20&payout=1`;
				const { status } = await fetch(`${server.origin}/api/postback/demo-platform-key-northwind?${query}`);
				return status;
			}),
		);
		expect(new Set(acknowledged)).toEqual(new Set([200]));
		const started = descendantsOf(server.pid);
		expect(started.length).toBeGreaterThanOrEqual(3);
		expect(await server.stop("SIGINT")).toBe(0);
		await expect.poll(() => started.filter(isRunning), { timeout: DEADLINE_MS }).toEqual([]);
	});

	it("says what to do where the port is in use, and leaves nothing running", async () => {
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
		const { code, stderr } = await project.run(["npm", "start"], { env: { PORT: String(port) } });
		other.close();
		expect(code).toBe(1);
		expect(stderr).toContain(`Port ${port} is already in use`);
		expect(stderr).toContain(`PORT=${port + 1} npm start`);
	});

	it("keeps its state over a restart; an OPERATOR_KEY in the environment wins and is not written", async () => {
		const before = readFileSync(join(project.folder, ".dev.vars"), "utf8");
		const callbacksBefore = callbackOrigin();
		expect(callbacksBefore).not.toBe("");
		server = await project.start(port, { OPERATOR_KEY: ENVIRONMENT_KEY });
		expect(server.stdout).not.toContain("Loading the demo network");
		expect(callbackOrigin()).toBe(callbacksBefore);
		expect(server.stdout).toContain("curl -s");
		expect(await servingEngine(KETTLES)).toMatchObject({ status: 1, bid_amount: "0.2700" });
		const command = ["explain", KETTLES, "--url", server.origin, "--json"];
		const withEnvironment = await project.operator(command, { env: { OPERATOR_KEY: ENVIRONMENT_KEY } });
		expect(JSON.parse(withEnvironment.stdout)).toMatchObject({ endpoint: "serving-engine", decision: { outcome: "bid" } });
		const status = await project.operator(["status", "--url", server.origin, "--json"], { env: { OPERATOR_KEY: ENVIRONMENT_KEY } });
		expect(JSON.parse(status.stdout)).toMatchObject({ conversions: { waiting: HASTY_POSTBACKS } });
		const withFile = await project.operator(command);
		expect(withFile.stderr).toContain("refused the operator key from .dev.vars (HTTP 401)");
		expect(readFileSync(join(project.folder, ".dev.vars"), "utf8")).toBe(before);
	});

	it("ends on SIGTERM as well", async () => {
		const started = descendantsOf(server.pid);
		expect(await server.stop("SIGTERM")).toBe(0);
		await expect.poll(() => started.filter(isRunning), { timeout: DEADLINE_MS }).toEqual([]);
	});

	it("is still found where npm start was killed outright: what writes its state goes on", async () => {
		server = await project.start(port);
		const started = descendantsOf(server.pid);
		const { pid } = JSON.parse(readFileSync(join(project.folder, ".wrangler/running.json"), "utf8")) as { pid: number };
		process.kill(pid, "SIGKILL");
		await expect.poll(() => isRunning(pid), { timeout: DEADLINE_MS }).toBe(false);
		const reset = await project.run(["npm", "run", "reset"]);
		expect([reset.code, reset.stderr]).toEqual([1, expect.stringContaining("The local server is running")]);
		const second = await project.run(["npm", "start"], { env: { PORT: String(await freePort()) } });
		expect(second.code).toBe(1);
		const [, left] = /else `kill (\d+)`/.exec(second.stderr) ?? [];
		process.kill(Number(left), "SIGTERM");
		await expect.poll(() => started.filter(isRunning), { timeout: DEADLINE_MS }).toEqual([]);
		// So is one that was still starting, and does not answer yet.
		const mark = join(project.folder, ".wrangler/running.json");
		writeFileSync(mark, JSON.stringify({ pid, port: await freePort(), startedAt: Date.now(), server: process.pid }));
		expect(await project.run(["npm", "run", "reset"])).toMatchObject({ code: 1, stderr: expect.stringContaining(`kill ${process.pid}`) });
		rmSync(mark);
	});

	it("begins anew after npm run reset, which keeps the secrets, and leaves the demo network out where it is told to", async () => {
		const before = readFileSync(join(project.folder, ".dev.vars"), "utf8");
		const reset = await project.run(["npm", "run", "reset"]);
		expect(reset.code).toBe(0);
		expect(reset.stdout).toContain("Removed .wrangler/state");
		expect(existsSync(join(project.folder, ".wrangler/state"))).toBe(false);
		server = await project.start(port, {}, ["--no-demo"]);
		expect(server.stdout).toContain("No network is imported yet");
		expect(readFileSync(join(project.folder, ".dev.vars"), "utf8")).toBe(before);
		expect((await fetch(`${server.origin}/ready`)).status).toBe(503);
		const { code } = await project.operator(["import", "scripts/examples/network.json", "--url", server.origin]);
		expect(code).toBe(0);
		await expect.poll(() => servingEngine(KETTLES), { timeout: DEADLINE_MS }).toMatchObject({ status: 1 });
		expect(await server.stop()).toBe(0);
	});
});

/** A process that has ended but was not yet waited for does not run. */
function isRunning(pid: number): boolean {
	try {
		return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
			.trim()
			.startsWith("Z");
	} catch {
		// ps knows no such process.
		return false;
	}
}
