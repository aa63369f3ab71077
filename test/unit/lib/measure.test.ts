import { describe, expect, it, vi } from "vitest";
import { measureTo } from "../../../src/lib/measure.ts";

describe("unit: data points", () => {
	it("nothing is counted where no dataset is bound", () => {
		expect(measureTo(undefined)).toBeUndefined();
	});

	it("the columns are the documented ones", () => {
		const points: unknown[] = [];
		const measure = measureTo({ writeDataPoint: (point) => void points.push(point) });
		measure?.({ event: "bid", publisher: "acme_rtb", outcome: "homepage", channel: "openrtb", amountMicros: 336_000 });
		measure?.({ event: "callback", publisher: "acme-media", outcome: "200", channel: "northwind", milliseconds: 41 });
		expect(points).toEqual([
			{ indexes: ["acme_rtb"], blobs: ["bid", "homepage", "openrtb"], doubles: [336_000, 0] },
			{ indexes: ["acme-media"], blobs: ["callback", "200", "northwind"], doubles: [0, 41] },
		]);
	});

	it("an index is cut to what the dataset takes", () => {
		const indexes: string[] = [];
		const measure = measureTo({ writeDataPoint: (point) => void indexes.push(...point.indexes) });
		measure?.({ event: "no-bid", publisher: "x".repeat(500), outcome: "publisher_not_enabled", channel: "serving-engine" });
		expect(indexes).toEqual(["x".repeat(96)]);
	});

	it("a dataset that refuses costs nothing but one line in the log", () => {
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		const measure = measureTo({
			writeDataPoint: () => {
				throw new TypeError("too many data points");
			},
		});
		for (let i = 0; i < 3; i++) measure?.({ event: "bid", publisher: "p", outcome: "homepage", channel: "openrtb" });
		expect(log).toHaveBeenCalledTimes(1);
		expect(log.mock.calls[0]?.[0]).toContain("too many data points");
		log.mockRestore();
	});
});
