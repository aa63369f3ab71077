/** The publisher's side: an HTTP server that fails the first attempt of many callbacks, each in one of several ways. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Receiver = {
	url: string;
	/** Statuses that were confirmed, by txnid, in order; what came again after a lost answer is left out. */
	confirmed: ReadonlyMap<string, string[]>;
	stats: { calls: number; failed: number; repeated: number };
	close: () => void;
};

/** Of the first attempts. */
const FAILED = 0.25;

export async function startReceiver(): Promise<Receiver> {
	const confirmed = new Map<string, string[]>();
	const seen = new Set<string>();
	const known = new Set<string>();
	const stats = { calls: 0, failed: 0, repeated: 0 };
	const server = createServer((request, response) => {
		const query = new URL(request.url ?? "", "http://receiver").searchParams;
		const txnid = query.get("txnid") ?? "";
		const id = String(request.headers["idempotency-key"] ?? `${txnid} ${query.get("status")}`);
		stats.calls += 1;
		if (!seen.has(id)) {
			seen.add(id);
			if (Math.random() < FAILED) {
				stats.failed += 1;
				const way = Math.floor(Math.random() * 3);
				if (way === 0) response.writeHead(500).end("not today");
				else if (way === 1) response.writeHead(302, { location: "/elsewhere" }).end();
				else request.socket.destroy();
				return;
			}
		}
		if (known.has(id)) stats.repeated += 1;
		else confirmed.set(txnid, [...(confirmed.get(txnid) ?? []), query.get("status") ?? ""]);
		known.add(id);
		response.writeHead(204).end();
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/s2s`,
		confirmed,
		stats,
		close: () => {
			server.closeAllConnections();
			server.close();
		},
	};
}
