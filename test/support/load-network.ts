/** Brings the test network (test/fixtures/network.json) into the Worker under test, as an operator would. */
import { env, exports } from "cloudflare:workers";
import { vi } from "vitest";
import networkText from "../fixtures/network.json?raw";
import "./worker-env.ts";

/** The campaign that the `paused` key holds: paused.example's. */
const PAUSED_CAMPAIGN = 5085;

/** Time at which tests bid unless they say otherwise: a Wednesday, 10:00 in New York. */
export const DEFAULT_NOW = "2026-11-18T15:00:00Z";

/** When the network is loaded: long before any test bids, so that the first bid reads the book and the pauses anew. */
const LOADED_AT = "2026-01-01T00:00:00Z";

export async function loadTestNetwork(): Promise<void> {
	setNow(LOADED_AT);
	const response = await exports.default.fetch("http://origin.example/operator/network", {
		method: "POST",
		headers: { OperatorKey: env.OPERATOR_KEY, "content-type": "application/json" },
		body: networkText,
	});
	if (response.status !== 200) throw new Error(`the test network was refused: ${response.status} ${await response.text()}`);
	await response.body?.cancel();
	await env.BOOK.put("book:paused", JSON.stringify({ format: 1, campaigns: [PAUSED_CAMPAIGN] }));
}

/** Sets the Worker's clock; it stands there until it is set again. */
export function setNow(iso: string): void {
	vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(iso) });
}
