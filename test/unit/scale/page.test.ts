/** docs/scale.md is what the model prints, and the model's values are those of the benchmarks, the code and the settings. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ASSUMPTIONS, type Assumption, VALUES } from "../../../scripts/scale/assumptions.ts";
import { COMMAND, PAGE, printInto } from "../../../scripts/scale/page.ts";
import { writeTables } from "../../../scripts/scale/tables.ts";
import { writeDollars, writeNumber } from "../../../scripts/scale/write.ts";

const entries = Object.entries<Assumption>(ASSUMPTIONS);

describe("unit: the page of scale", () => {
	it("has the tables that the model prints", () => {
		const page = readFileSync(PAGE, "utf8");
		expect(page, `run: ${COMMAND}`).toBe(printInto(page, writeTables(VALUES)));
	});

	it("is not printed into where a marker is missing", () => {
		const page = readFileSync(PAGE, "utf8").replace(": costs -->", " -->");
		expect(() => printInto(page, writeTables(VALUES))).toThrow(/costs/);
	});

	it.each([
		[1_234_567, "1,230,000"],
		[0.000_123_4, "0.000123"],
		[0, "0"],
		[Number.POSITIVE_INFINITY, "never"],
	])("writes %d as %s", (value, text) => {
		expect(writeNumber(value)).toBe(text);
	});

	it.each([
		[0.305, "0.31"],
		[61.9, "62"],
		[81_845, "81,800"],
	])("writes %d dollars as %s", (value, text) => {
		expect(writeDollars(value)).toBe(text);
	});
});

describe("unit: the assumptions of scale", () => {
	const benchmarks = readFileSync("docs/benchmarks.md", "utf8");
	const parts = globSync("scripts/bench/parts/*.ts").map((path) => readFileSync(path, "utf8"));

	it.each(entries.flatMap(([name, { value, source }]) => (source.kind === "measured" ? [{ name, value, part: source.part }] : [])))(
		"$name is the figure on the page of benchmarks, by a part that there is",
		({ value, part }) => {
			const text = value.toLocaleString("en-US", { maximumFractionDigits: 4 });
			expect(new RegExp(`(?<![\\d.,])${RegExp.escape(text)}(?![\\d]|[.,]\\d)`).test(benchmarks), text).toBe(true);
			expect(parts.some((source) => source.includes(`name: "${part}"`))).toBe(true);
		},
	);

	/** What stands in the file that is named, as the value. */
	const IN_CODE: Partial<Record<keyof typeof ASSUMPTIONS, RegExp>> = {
		batchSize: /queue = "clickbourse-clicks"\nmax_batch_size = (\d+)/,
		clickBatchSeconds: /queue = "clickbourse-clicks"\n.*\nmax_batch_timeout = (\d+)/,
		otherBatchSeconds: /queue = "clickbourse-postbacks"\n.*\nmax_batch_timeout = (\d+)/,
		clickConsumers: /queue = "clickbourse-clicks"\n(?:.*\n){4}max_concurrency = (\d+)/,
		postbackConsumers: /queue = "clickbourse-postbacks"\n(?:.*\n){4}max_concurrency = (\d+)/,
		callbackConsumers: /queue = "clickbourse-callbacks"\n(?:.*\n){4}max_concurrency = (\d+)/,
		callbacksAtOnce: /const MAX_CONCURRENT = (\d+);/,
		shardKib: /TARGET_SHARD_BYTES = (\d+) \* 1024;/,
		shardCacheMb: /const DEFAULT_CACHE_BYTES = (\d+) \* 1024 \* 1024;/,
		manifestSeconds: /SNAPSHOT_TTL_SECONDS = "(\d+)"/,
		pausesSeconds: /const PAUSES_TTL_MS = ([\d_]+);/,
		visitDays: /const VISIT_DAYS = (\d+);/,
		leastRetentionDays: /CLICK_RETENTION_DAYS: v\.optional\(numberFrom\((\d+),/,
		retentionDays: /CLICK_RETENTION_DAYS: v\.optional\(numberFrom\(.*\), (\d+)\)/,
		removedPerMinute: /const LOOKED_AT_A_STEP = ([\d_]+);/,
		digestedPerMinute: /const RECORDS_A_RUN = ([\d_]+);/,
		clicksAPart: / rows: ([\d_]+),/,
		partsPerMinute: /const PARTS_A_RUN = (\d+);/,
		checkedPerMinute: /const CONVERSIONS_A_RUN = (\d+);/,
	};
	/** Values in another unit than the code's. */
	const FACTORS: Partial<Record<keyof typeof ASSUMPTIONS, number>> = {
		shardCacheMb: 1024 ** 2 / 1e6,
		pausesSeconds: 1 / 1_000,
		// Ten steps a run.
		removedPerMinute: 10,
	};

	it.each(entries.flatMap(([name, { value, source }]) => (source.kind === "code" ? [{ name, value, file: source.file }] : [])))(
		"$name is what $file says",
		({ name, value, file }) => {
			const key = name as keyof typeof ASSUMPTIONS;
			const [, text = ""] = IN_CODE[key]?.exec(readFileSync(file, "utf8")) ?? [];
			expect(Number(text.replaceAll("_", "") || Number.NaN) * (FACTORS[key] ?? 1)).toBeCloseTo(value, 9);
		},
	);

	it("name files that are there", () => {
		expect(entries.flatMap(([, { source }]) => (source.kind === "code" && !existsSync(source.file) ? [source.file] : []))).toEqual([]);
	});
});
