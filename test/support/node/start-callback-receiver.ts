/**
 * Global setup of the `worker` project: a publisher's server that behaves as its path says, and remembers how it was called.
 * See ../callback-receiver.ts for the tests' side of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import "../provided-context.ts";

export type Call = { url: string; method: string; headers: Record<string, string | string[] | undefined> };

/** `/{behaviour}/{name}` is called by the Worker; `/calls/{name}` and `/set/{name}?status=…` by tests. */
const calls = new Map<string, Call[]>();
const statuses = new Map<string, number>();

const BEHAVIOURS: Record<string, (response: ServerResponse, name: string) => unknown> = {
	/** Answers the status that was set, 200 at first. */
	answer: (response, name) => response.writeHead(statuses.get(name) ?? 200).end("stored"),
	silent: () => {},
	redirect: (response, name) => response.writeHead(302, { location: `/answer/${name}` }).end(),
	busy: (response) => response.writeHead(503, { "retry-after": "120" }).end("later"),
	garbage: (response) => response.socket?.end("\u0000\u0001 this is not HTTP\r\n\r\n"),
	close: (response) => response.destroy(),
	cut: (response) => {
		response.writeHead(200, { "content-length": "1000" }).write("half an ans");
		setTimeout(() => response.destroy(), 20);
	},
	endless(response) {
		response.writeHead(200);
		const timer = setInterval(() => response.write("x".repeat(64 * 1024)), 1);
		response.on("close", () => clearInterval(timer));
	},
	/** As pages of many an error do. */
	echo: (response) => response.writeHead(404).end(`Cannot GET ${response.req.url}`),
	binary: (response) => response.writeHead(200).end(Buffer.from([0xff, 0xfe, 0x00, 0x41, 0x0a, 0x42])),
};

function serve(request: IncomingMessage, response: ServerResponse): void {
	const url = new URL(request.url ?? "/", "http://receiver");
	const [, behaviour = "", name = ""] = url.pathname.split("/");
	if (behaviour === "calls") response.end(JSON.stringify(calls.get(name) ?? []));
	else if (behaviour === "set") {
		statuses.set(name, Number(url.searchParams.get("status")));
		response.end();
	} else {
		calls.set(name, [...(calls.get(name) ?? []), { url: request.url ?? "", method: request.method ?? "", headers: request.headers }]);
		const behave = BEHAVIOURS[behaviour];
		if (behave === undefined) response.writeHead(404).end();
		else behave(response, name);
	}
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
	const server = createServer(serve);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	provide("callbackReceiver", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	return () =>
		new Promise((resolve) => {
			server.close(() => resolve());
			server.closeAllConnections();
		});
}
