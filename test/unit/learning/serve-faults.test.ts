/** `npm run backtest -- --serve` where lines are faulty: what can be used of them is, and whoever asks is answered. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serve } from "../../../scripts/backtest/serve.ts";

const START = Date.UTC(2026, 0, 5);

/** What lines, as text or to be written as JSON, are answered with, and what is told of them. */
async function serveLines(lines: readonly unknown[]): Promise<{ answers: unknown[]; told: string[] }> {
	const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
	const done = serve(input, output, errors).then(() => {
		output.end();
		errors.end();
	});
	input.end(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
	const [answered, told] = await Promise.all([text(output), text(errors), done]);
	const linesOf = (all: string) => all.split("\n").filter(Boolean);
	return { answers: linesOf(answered).map((line) => JSON.parse(line) as unknown), told: linesOf(told) };
}

function prices(cells: readonly unknown[], at: unknown = START) {
	return { type: "prices", at, cells };
}

describe("unit: a network with faulty entries", () => {
	it("is taken without them, and each is told of", async () => {
		const { answers, told } = await serveLines([
			{
				type: "network",
				platforms: [{ name: "no id" }, { id: "p" }],
				publishers: [
					{ id: "greedy", revenue_share: 1.2 },
					{ id: "cpa", revenue_share: 0.8, pricing_model: "CPA" },
					{ id: "whole", pricing_model: "CPA" },
					{ revenue_share: 0.5 },
					null,
				],
				campaigns: [{ epc: 1 }, { id: "a", platform: "p", epc: 0.2 }, { id: "b", platform: ["p"], epc: 1 }, "c"],
			},
			prices([
				["a", "cpa", "s", null, "homepage"],
				["a", "whole", "s", null, "homepage"],
				["a", "greedy", "s", null, "homepage"],
			]),
		]);
		expect(answers).toEqual([{ epc: [0.2, 0.2, 0], bid: [0.16, 0.2, 0] }]);
		expect(told.map((line) => line.replace(/: .*: left out$/, " left out"))).toEqual([
			"line 1 left out",
			...Array.from({ length: 6 }, () => "line 1 left out"),
			'line 2: cells.2: no campaign "a" with a publisher "greedy": priced at 0',
		]);
		expect(told.slice(0, 7).map((line) => line.split(": ")[1])).toEqual([
			"platforms.0.id",
			"publishers.0.revenue_share",
			"publishers.3.id",
			"publishers.4",
			"campaigns.0.id",
			"campaigns.2.platform",
			"campaigns.3",
		]);
	});
});
