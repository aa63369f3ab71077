/** One data point for each postback, and nothing personal in it. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { routePostback } from "../../../src/conversions/postback-route.ts";
import { UnknownKeyLimit } from "../../../src/conversions/unknown-key-limit.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { FailedKeys } from "../../../src/http/failed-keys.ts";
import { KeyOwners } from "../../../src/keys/key-owners.ts";
import type { DataPoint } from "../../../src/lib/measure.ts";
import { PerMinute } from "../../../src/lib/per-minute.ts";
import { importConversionNetwork, WEST_KEY } from "../../support/conversions.ts";

const points: DataPoint[] = [];
const now = () => Date.now();

async function postback(key: string, query: string): Promise<void> {
	const db = openDatabase(env.DB);
	const ctx = createExecutionContext();
	const deps = {
		db,
		now,
		keys: new KeyOwners({ db, now }),
		postbacks: undefined,
		callbacks: undefined,
		failedKeys: new FailedKeys({ now, limit: undefined }),
		unknownKeys: new UnknownKeyLimit(),
		perMinute: new PerMinute(),
		measure: (point: DataPoint) => void points.push(point),
	};
	const request = new Request(`http://base.example/api/postback/${key}?${query}`);
	await (await routePostback(deps, request, (promise) => ctx.waitUntil(promise)))?.body?.cancel();
	await waitOnExecutionContext(ctx);
}

beforeAll(() => importConversionNetwork());
beforeEach(() => void points.splice(0));

describe("worker: data points of postbacks", () => {
	it("an accepted one counts for its platform with its amount, a refused and an unknown one with why", async () => {
		await postback(WEST_KEY, `txnid=point-1&cid=secret-click&edate=${new Date().toISOString().slice(0, 10)}&payout=2.5`);
		await postback(WEST_KEY, "payout=much");
		await postback("nobody", "txnid=1");
		expect(points.map(({ event, outcome, amountMicros }) => [event, outcome, amountMicros])).toEqual([
			["postback", "accepted", 2_500_000],
			["postback", "rejected", 0],
			["postback", "unknown_key", 0],
		]);
		expect(points[0]?.channel).not.toBe("");
		expect(JSON.stringify(points)).not.toContain("secret-click");
	});
});
