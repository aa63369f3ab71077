/** Before the tests in a browser: builds and starts the service with the demo network in it, and one browser for all of them. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findBrowser } from "../../../scripts/browser/find-browser.ts";
import { buildBundles, startStack } from "../../../scripts/stack/start-stack.ts";
import { loadDemo } from "../../../scripts/start/demo-network.ts";
import type {} from "./served.ts";

const START_TIMEOUT_MS = 60_000;

async function findFreePort(): Promise<number> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	server.close();
	await once(server, "close");
	return port;
}

/** Passkeys refuse 127.0.0.1, so everything is at localhost. */
async function startService(folder: string) {
	const bundles = await buildBundles("one", folder);
	const port = await findFreePort();
	const url = `http://localhost:${port}`;
	const addresses = { RTB_URL: url, CLICK_URL: url, TRACKER_URL: url, BASE_URL: url, CONSOLE_URL: url };
	const stack = await startStack({
		topology: "one",
		bundles,
		folder,
		port,
		variables: { ...addresses, SNAPSHOT_TTL_SECONDS: "1", ALLOW_INSECURE_CALLBACKS: "true" },
		onLog: (level, message) => level === "error" && console.error(message),
	});
	const cron = createServer((_request, response) => {
		stack.runCron().then(
			() => response.writeHead(204).end(),
			(error: unknown) => {
				console.error(error);
				response.writeHead(500).end();
			},
		);
	}).listen(0, "127.0.0.1");
	await Promise.all([once(cron, "listening"), loadDemo(url, stack.operatorKey, null)]);
	return {
		url,
		operatorKey: stack.operatorKey,
		cron: `http://127.0.0.1:${(cron.address() as AddressInfo).port}`,
		async stop() {
			cron.close();
			await stack[Symbol.asyncDispose]();
		},
	};
}

function startBrowser() {
	const { path, version, variables } = findBrowser(process.env);
	console.log(`Tests in ${version} (${path})`);
	return chromium.launchServer({
		executablePath: path,
		env: { ...process.env, ...variables },
		// Whoever is root, as in a container, has no sandbox; and there is no screen. Nothing that loosens the web's security.
		args: ["--no-sandbox", "--disable-gpu"],
		timeout: START_TIMEOUT_MS,
	});
}

export default async function start(project: TestProject): Promise<() => Promise<void>> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-browser-"));
	const [browser, service] = await Promise.all([startBrowser(), startService(folder)]);
	project.provide("served", {
		url: service.url,
		operatorKey: service.operatorKey,
		browser: browser.wsEndpoint(),
		cron: service.cron,
	});
	return async () => {
		await Promise.all([browser.close(), service.stop()]);
		rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
	};
}
