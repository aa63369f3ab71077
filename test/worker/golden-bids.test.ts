/** Golden cases of both real-time endpoints: every JSON file under test/fixtures/openrtb and test/fixtures/serving-engine. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readCases } from "../support/golden/case.ts";
import { runCase } from "../support/golden/run-case.ts";
import { loadTestNetwork } from "../support/load-network.ts";

const openRtb = readCases(import.meta.glob<string>("../fixtures/openrtb/*/*.json", { eager: true, query: "?raw", import: "default" }));
const servingEngine = readCases(
	import.meta.glob<string>("../fixtures/serving-engine/*.json", { eager: true, query: "?raw", import: "default" }),
);

beforeAll(loadTestNetwork);
afterAll(() => {
	vi.useRealTimers();
});

describe("worker: OpenRTB", () => {
	test.each(openRtb)("%s", async (_, golden) => runCase(golden));
});

describe("worker: Serving Engine", () => {
	test.each(servingEngine)("%s", async (_, golden) => runCase(golden));
});

test("worker: the cases were found, each with a description and rule of its own", () => {
	const all = [...openRtb, ...servingEngine].map(([, golden]) => golden);
	expect(all.length).toBeGreaterThan(60);
	expect(new Set(all.map(({ description }) => description)).size).toBe(all.length);
	const exchanges = openRtb.filter(([name]) => name.startsWith("openrtb/exchanges/"));
	expect(exchanges.length).toBeGreaterThan(15);
	expect(exchanges.filter(([, { follows }]) => follows === undefined)).toEqual([]);
});
