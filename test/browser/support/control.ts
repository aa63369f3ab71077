/** What tests need beside the service: its minutely work at once, and a publisher's side that takes callbacks. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Posted to, it runs the minutely work. */
export const CRON_PATH = "/cron";
/** What has called back: path and query of each, the oldest first. */
export const RECEIVED_PATH = "/received";

export type Control = { origin: string; received: readonly string[]; stop: () => void };

/** Any other path takes callbacks. @param runCron known once the service runs, which is after its publishers have their addresses */
export async function startControl(runCron: () => Promise<void>): Promise<Control> {
	const received: string[] = [];
	const server = createServer((request, response) => {
		const path = request.url ?? "";
		if (path === RECEIVED_PATH) return response.setHeader("content-type", "application/json").end(JSON.stringify(received));
		if (path !== CRON_PATH) {
			received.push(path);
			return response.writeHead(204).end();
		}
		runCron().then(
			() => response.writeHead(204).end(),
			(error: unknown) => {
				console.error(error);
				response.writeHead(500).end();
			},
		);
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		received,
		stop() {
			server.close();
			server.closeAllConnections();
		},
	};
}
