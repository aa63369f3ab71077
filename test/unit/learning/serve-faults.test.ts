/** `npm run backtest -- --serve` where lines are faulty: what can be used of them is, and whoever asks is answered. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serve } from "../../../scripts/backtest/serve.ts";
import { DAY_MS } from "../../../src/lib/time.ts";

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

const NETWORK = { type: "network", publishers: [{ id: "cpa", revenue_share: 0.8 }], campaigns: [{ id: "a", epc: 0.2 }] };

describe("unit: what ends a line", () => {
	it.each(["\u2028", "\u2029", "\u0085", "é😀"])("is not %j within a text", async (character) => {
		const cells = [["a", "cpa", `s${character}`, `hats${character}shoes`, "homepage"]];
		const { answers, told } = await serveLines([NETWORK, prices(cells), { cells, at: START, type: "prices" }]);
		expect(answers).toEqual([
			{ epc: [0.2], bid: [0.16] },
			{ epc: [0.2], bid: [0.16] },
		]);
		expect(told).toEqual([]);
	});

	it.each([
		["a line feed", "\n"],
		["a carriage return before it", "\r\n"],
	])("is %s, however the bytes come in parts; the last may have none", async (_, end) => {
		const bytes = Buffer.from([NETWORK, prices([["a", "cpa", "é😀", null, "homepage"]])].map((line) => JSON.stringify(line)).join(end));
		const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
		const done = serve(input, output, errors).then(() => [output, errors].map((stream) => stream.end()));
		for (const byte of bytes) input.write(Buffer.of(byte));
		input.end();
		const [answered, told] = await Promise.all([text(output), text(errors), done]);
		expect(answered).toBe('{"epc":[0.2],"bid":[0.16]}\n');
		expect(told).toBe("");
	});
});

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

describe("unit: a faulty line that asks for prices", () => {
	const network = {
		type: "network",
		publishers: [{ id: "cpa", revenue_share: 0.8, pricing_model: "CPA" }],
		campaigns: [{ id: "a", platform: "p", epc: 0.2 }],
	};
	const cells = [["a", "cpa", "s", null, "homepage"]];
	const error = expect.any(String);

	it.each([
		["null", null],
		["text", "tomorrow"],
		["below 0", -1],
		["far beyond any time", 1e17],
		["missing", undefined],
	])("at %s: is answered as of now, with what is wrong", async (_, at) => {
		const { answers, told } = await serveLines([network, prices(cells), { ...prices(cells), at }, prices(cells)]);
		const usual = { epc: [0.2], bid: [0.16] };
		expect(answers).toEqual([usual, { ...usual, error: expect.stringMatching(/^at: /) }, usual]);
		expect(told).toEqual([expect.stringMatching(/^line 3: at: /)]);
	});

	it.each([
		["cells that are no list", JSON.stringify({ type: "prices", at: START, cells: "a" })],
		["no cells", JSON.stringify({ type: "prices", at: START })],
		["no cells and no time", JSON.stringify({ type: "prices" })],
		["a time that is no JSON", '{"type": "prices", "at": NaN, "cells": [["a","cpa","s",null,"homepage"]]}'],
		["an end that is missing", '{"cells":[],"type" : "prices","at":1767571200000'],
	])("%s: is answered with empty lists", async (_, line) => {
		const { answers, told } = await serveLines([network, line]);
		expect(answers).toEqual([{ epc: [], bid: [], error }]);
		expect(told).toHaveLength(1);
	});

	it("whatever stands for names has no price, and does not end it", async () => {
		const odd: unknown[] = [[{ toString: 1 }, { valueOf: 1 }, [["x"]], { a: 1 }, {}]];
		const { answers } = await serveLines([network, prices(odd), prices(odd, null), prices(cells)]);
		const none = { epc: [0], bid: [0] };
		expect(answers).toEqual([none, { ...none, error }, { epc: [0.2], bid: [0.16] }]);
	});

	it("names nested deeper than JSON can be written of have no price, and do not end it", async () => {
		const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
		const asked = [`[${deep},"cpa","s",null,"homepage"]`, `["a",${deep},"s",null,"homepage"]`, `["a","cpa",${deep},${deep},${deep}]`];
		const { answers, told } = await serveLines([network, `{"type":"prices","at":${START},"cells":[${asked.join(",")}]}`, prices(cells)]);
		expect(answers).toEqual([
			{ epc: [0, 0, 0.2], bid: [0, 0, 0.16] },
			{ epc: [0.2], bid: [0.16] },
		]);
		expect(told).toHaveLength(2);
	});

	it("lines that are none and do not ask are not answered", async () => {
		const { answers, told } = await serveLines([
			network,
			'{"type":"click","at":NaN',
			'{"type":"click","source":"\\"type\\":\\"prices\\""',
			"[]",
		]);
		expect(answers).toEqual([]);
		expect(told).toHaveLength(3);
	});
});

it("unit: a byte order mark before the first line is not of it", async () => {
	const network = { type: "network", publishers: [{ id: "p" }], campaigns: [{ id: "c", epc: 0.2 }] };
	const { answers, told } = await serveLines([`\ufeff${JSON.stringify(network)}`, prices([["c", "p", null, null, "homepage"]])]);
	expect([answers, told]).toEqual([[{ epc: [0.2], bid: [0.2] }], []]);
});

describe("unit: keywords, however they are written", () => {
	const publishers = [{ id: "p", revenue_share: 1, pricing_model: "CPA" }];
	const ask = (written: readonly (string | null)[], at = START) =>
		prices(
			written.map((keyword) => ["c", "p", "s", keyword, "homepage"]),
			at,
		);

	it("have the price of the one that the campaign lists", async () => {
		const campaigns = [{ id: "c", epc: 0.2, keyword_epc: { "Red  Shoes": 0.9, ＨＡＴＳ: 0.7 } }];
		const { answers, told } = await serveLines([
			{ type: "network", publishers, campaigns },
			ask(["red shoes", "RED SHOES ", "Red  Shoes", "hats", "blue shoes", "  ", null]),
		]);
		const epc = [0.9, 0.9, 0.9, 0.7, 0.2, 0.2, 0.2];
		expect([answers, told]).toEqual([[{ epc, bid: epc }], []]);
	});

	it("are learned of as the one that the campaign lists", async () => {
		const campaigns = [{ id: "c", epc: 0.2, keyword_epc: { "Red Shoes": 0.2 } }];
		const sold = (keyword: string) =>
			Array.from({ length: 20 }, (_, at) => [
				{ type: "click", at: START + at, id: at, campaign: "c", publisher: "p", source: "s", keyword, link: "homepage", bid: 0.2 },
				{ type: "conversion", at: START + at, txnid: at, click: at, platform: "", status: "approved", payout: 5 },
			]).flat();
		const later = ask(["red shoes", "another"], START + 30 * DAY_MS);
		const answersOf = async (keyword: string) =>
			(await serveLines([{ type: "network", publishers, campaigns }, ...sold(keyword), later])).answers;
		expect(await answersOf("RED shoes")).toEqual(await answersOf("Red Shoes"));
		expect(await answersOf("RED shoes")).not.toEqual(await answersOf("another"));
	});

	it("that stand twice, or are blank, are told of", async () => {
		const campaigns = [{ id: "c", epc: 0.2, keyword_epc: { hats: 0.7, Hats: 0.1, " ": 0.3 } }];
		const { answers, told } = await serveLines([{ type: "network", publishers, campaigns }, ask(["HATS", null])]);
		expect(answers).toEqual([{ epc: [0.7, 0.2], bid: [0.7, 0.2] }]);
		expect(told).toEqual([
			"line 1: campaigns.c.keyword_epc.Hats is blank or stands twice: left out",
			"line 1: campaigns.c.keyword_epc.  is blank or stands twice: left out",
		]);
	});
});
