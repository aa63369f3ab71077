/** The receivers of docs/publishers/callbacks.md take what the standard's own library signs, and nothing else. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, it } from "vitest";

const SECRET = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const TARGET = "/s2s?txnid=T%201&cid=caf%C3%A9%2F&payout=8.4000&status=approved&edate=2026-10-01T10%3A20%3A30.000Z";
const page = readFileSync("docs/publishers/callbacks.md", "utf8");
const folder = mkdtempSync(join(tmpdir(), "clickbourse-receivers-"));
const running: ChildProcess[] = [];

const exampleOf = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1] ?? "";

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
		});
	});
}

/** Starts a receiver. @returns where it listens */
async function start(command: string, file: string, code: string): Promise<string> {
	const path = join(folder, file);
	writeFileSync(path, code);
	const port = await freePort();
	running.push(spawn(command, [path], { env: { ...process.env, PORT: String(port), CALLBACK_SECRET: SECRET }, stdio: "ignore" }));
	const origin = `http://127.0.0.1:${port}`;
	const isUp = () =>
		fetch(origin).then(
			() => true,
			() => false,
		);
	await expect.poll(isUp, { timeout: 60_000, interval: 100 }).toBe(true);
	return origin;
}

/** Headers as a callback has them. */
function signed(target: string, at = Date.now(), secret = SECRET): Record<string, string> {
	const time = new Date(Math.floor(at / 1_000) * 1_000);
	const signature = new Webhook(secret).sign("callback-1", time, target);
	return { "webhook-id": "callback-1", "webhook-timestamp": String(time.getTime() / 1_000), "webhook-signature": signature };
}

afterAll(() => {
	for (const receiver of running) receiver.kill();
	rmSync(folder, { recursive: true, force: true });
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("e2e: receivers of signed callbacks", () => {
	const receivers: [string, string, string, string][] = [["node", process.execPath, "receiver.mjs", exampleOf("js")]];
	if (hasPython) receivers.push(["python", "python3", "receiver.py", exampleOf("python")]);

	it.each(receivers)("the one in %s takes signed callbacks alone", async (_, command, file, code) => {
		const origin = await start(command, file, code);
		const statusOf = async (headers: Record<string, string>, target = TARGET) => (await fetch(`${origin}${target}`, { headers })).status;
		const good = signed(TARGET);
		const another = signed(TARGET, Date.now(), `whsec_${Buffer.from("x".repeat(32)).toString("base64")}`)["webhook-signature"];
		expect(await statusOf(good)).toBe(200);
		expect(await statusOf({ ...good, "webhook-signature": `${another} ${good["webhook-signature"]}` })).toBe(200);
		expect(await statusOf({ ...good, "webhook-signature": String(another) })).toBe(401);
		expect(await statusOf(good, TARGET.replace("8.4", "9.4"))).toBe(401);
		expect(await statusOf({ ...good, "webhook-id": "callback-2" })).toBe(401);
		expect(await statusOf(signed(TARGET, Date.now() - 400_000))).toBe(401);
		expect(await statusOf({})).toBe(401);
	});
});
