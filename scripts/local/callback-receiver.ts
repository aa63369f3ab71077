/**
 * A publisher's side for local work: receives callbacks on this machine, confirms each, tells of it and keeps the last ones.
 * It is no part of the Worker, and listens only on 127.0.0.1.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { errorCode } from "./failure.ts";
import { CALLBACK_PORT_FILE } from "./paths.ts";

export type CallbackReceiver = {
	/** Where the last callbacks are shown, and under which any path takes callbacks: no slash at the end. */
	origin: string;
	stop: () => void;
};

/** Far enough from the ports that somebody chooses for a second server. */
const PORT_OFFSET = 1_000;
const MAX_PORT = 65_535;
const MAX_KEPT = 100;

/**
 * Starts to receive, on the port of the last start: publishers in the local database have it in their addresses. At the first start it
 * is PORT + 1000, or any free one. Returns null where the port of the last start is taken: then callbacks are tried again later.
 * @param tell told of each callback in a line
 * @param portFile keeps the port over restarts
 */
export async function startCallbackReceiver(
	serverPort: number,
	tell: (line: string) => void,
	portFile = CALLBACK_PORT_FILE,
): Promise<CallbackReceiver | null> {
	const kept: string[] = [];
	const server = createServer((request, response) => {
		const url = URL.parse(request.url ?? "", "http://receiver");
		if (url === null) return response.writeHead(400).end();
		if (url.pathname === "/" && url.search === "") return response.setHeader("content-type", "text/plain; charset=utf-8").end(show(kept));
		const line = describeCallback(url);
		kept.push(`${new Date().toISOString()}  ${line}`);
		if (kept.length > MAX_KEPT) kept.shift();
		tell(line);
		response.writeHead(204).end();
	});
	const former = readPort(portFile);
	const wanted = former === null ? [serverPort + PORT_OFFSET <= MAX_PORT ? serverPort + PORT_OFFSET : 0, 0] : [former];
	for (const port of wanted) {
		if (!(await listens(server, port))) continue;
		const { port: chosen } = server.address() as AddressInfo;
		mkdirSync(dirname(portFile), { recursive: true });
		writeFileSync(portFile, `${chosen}\n`);
		return {
			origin: `http://127.0.0.1:${chosen}`,
			stop() {
				server.close();
				server.closeAllConnections();
			},
		};
	}
	return null;
}

function listens(server: Server, port: number): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const refuse = (error: Error): void => (["EADDRINUSE", "EACCES"].includes(errorCode(error) ?? "") ? resolve(false) : reject(error));
		server.once("error", refuse);
		server.listen(port, "127.0.0.1", () => {
			server.off("error", refuse);
			resolve(true);
		});
	});
}

function readPort(file: string): number | null {
	try {
		const port = Number(readFileSync(file, "utf8"));
		return Number.isInteger(port) && port > 0 && port <= MAX_PORT ? port : null;
	} catch (error) {
		if (errorCode(error) === "ENOENT") return null;
		throw error;
	}
}

/** @example "Callback to /acme-media: T-1001 approved, 9.8720 USD, click id my-click-1, of 2026-11-21T06:24:13.000Z" */
function describeCallback({ pathname, searchParams }: URL): string {
	const value = (name: string) => searchParams.get(name)?.replaceAll(/\p{Cc}+/gu, " ") || "(none)";
	return `Callback to ${pathname}: ${value("txnid")} ${value("status")}, ${value("payout")} USD, click id ${value("cid")}, of ${value("edate")}`;
}

function show(kept: readonly string[]): string {
	return kept.length === 0 ? "No callback has arrived since the start of this server.\n" : `${kept.toReversed().join("\n")}\n`;
}
