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
import { ACME } from "../../../scripts/demo/well-known.ts";
import { buildBundles, type Stack, startStack } from "../../../scripts/stack/start-stack.ts";
import { loadDemo } from "../../../scripts/start/demo-network.ts";
import { startControl } from "./control.ts";
import { type PageEntry, readPageTable } from "./page-table.ts";
import { seed } from "./seed.ts";
import type {} from "./served.ts";
import { makeLink, signIn } from "./sign-in.ts";

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
	const stack: Stack = await startStack({
		topology: "one",
		bundles,
		folder,
		port,
		variables: { ...addresses, SNAPSHOT_TTL_SECONDS: "1", ALLOW_INSECURE_CALLBACKS: "true" },
		onLog: (level, message) => level === "error" && console.error(message),
	});
	const control = await startControl(stack.runCron);
	await loadDemo(url, stack.operatorKey, control.origin);
	await seed(url, stack, control.received);
	return {
		url,
		operatorKey: stack.operatorKey,
		control: control.origin,
		async stop() {
			control.stop();
			await stack[Symbol.asyncDispose]();
		},
	};
}

async function startBrowser() {
	const { path, version, variables } = findBrowser(process.env);
	console.log(`Tests in ${version} (${path})`);
	return await chromium.launchServer({
		executablePath: path,
		env: { ...process.env, ...variables },
		// Whoever is root, as in a container, has no sandbox; and there is no screen. Nothing that loosens the web's security.
		args: ["--no-sandbox", "--disable-gpu"],
		timeout: START_TIMEOUT_MS,
	});
}

export default async function start(project: TestProject): Promise<() => Promise<void>> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-browser-"));
	const starting = [startBrowser(), startService(folder)] as const;
	const stop = async () => {
		const [browser, service] = await Promise.allSettled(starting);
		await Promise.all([browser.status === "fulfilled" && browser.value.close(), service.status === "fulfilled" && service.value.stop()]);
		rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
	};
	try {
		const [pages, browser, service] = await Promise.all([readPageTable(folder), ...starting]);
		await provide(project, pages, browser.wsEndpoint(), service);
	} catch (error) {
		await stop();
		throw error;
	}
	return stop;
}

type Service = Awaited<ReturnType<typeof startService>>;

async function provide(project: TestProject, pages: PageEntry[], browser: string, service: Service): Promise<void> {
	const { url, operatorKey, control } = service;
	project.provide("served", {
		url,
		operatorKey,
		control,
		browser,
		cookies: { publisher: await signIn(service, "publisher"), operator: await signIn(service, "operator") },
		links: [new URL(await makeLink(service, { publisher: ACME.id, name: "Guest", role: "analyst" })).pathname],
		pages,
	});
}
