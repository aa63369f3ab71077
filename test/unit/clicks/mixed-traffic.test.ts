/** The default rules over a day of mixed traffic, of which the truth is known (test/bench/mixed-traffic.ts). */
import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY, layPolicies, TRAFFIC_RULES } from "../../../src/lib/traffic-rules.ts";
import { judgeTraffic } from "../../bench/judge-traffic.ts";
import { mixTraffic } from "../../bench/mixed-traffic.ts";

const DAY = mixTraffic(Date.parse("2026-11-18T00:00:00Z"), 7);

describe("unit: a day of mixed traffic", () => {
	test("0.98 of people's visits are paid, and 0.95 of the farms' clicks are not", { timeout: 120_000 }, () => {
		const judged = judgeTraffic(DAY);
		expect(judged.visitsPaid).toBeGreaterThanOrEqual(0.98);
		expect(judged.unpaid.farm).toBeGreaterThanOrEqual(0.95);
		expect(judged.unpaid.prefetcher).toBe(1);
	});

	test("it is the rules that tell them apart: without them nearly everything is paid", { timeout: 120_000 }, () => {
		const modes = Object.fromEntries(TRAFFIC_RULES.map((rule) => [rule, "off" as const]));
		// Of all hours: those that one connection clicks in an hour are compared with each other.
		const sample = DAY.filter((_, at) => at % 13 === 0);
		const judged = judgeTraffic(sample, layPolicies(DEFAULT_POLICY, { modes }));
		expect(judged.unpaid.farm).toBeLessThan(0.05);
	});
});
