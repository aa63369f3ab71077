import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { pace } from "../../../scripts/bench/pace.ts";

const STALL_MS = 300;
/** One request opens the connection before any is due. */
const OPENING = 1;

test("a stall is charged to every request that was due in it, not to the one that met it", async () => {
	let requests = 0;
	await using server = createServer((_, response) => {
		if (++requests === OPENING + 1) setTimeout(() => response.end(), STALL_MS);
		else response.writeHead(requests === OPENING + 2 ? 500 : 200).end();
	}).listen(0, "127.0.0.1");
	await new Promise((resolve) => server.once("listening", resolve));
	const { port } = server.address() as AddressInfo;
	const { latencies, delays, errors } = await pace({
		origin: `http://127.0.0.1:${port}`,
		targets: [{ method: "GET", path: "/" }],
		connections: 1,
		perSecond: 100,
		seconds: STALL_MS / 1_000,
		status: 200,
	});
	expect(latencies).toHaveLength(30);
	// Sent when it was due, or later, never before.
	expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
	for (const [at, latency] of latencies.entries()) expect(latency).toBeGreaterThanOrEqual(STALL_MS - 10 * at - 1);
	expect(errors).toBe(1);
});
