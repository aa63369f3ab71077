/** Charts: what is drawn is what the table beneath says. */
import { describe, expect, it } from "vitest";
import { Chart } from "../../../../src/console/ui/chart/chart.tsx";
import { BASE, plotChart, type Series, sumOf } from "../../../../src/console/ui/chart/plot.ts";

const money = (...values: (string | null)[]): Series => ({ name: "Earned", values });
const HOSTILE = `</svg><script>alert("x")</script>`;

describe("unit: where the marks of a chart stand", () => {
	it("stacked bars end where their sum is, and each is as high as its value", () => {
		const { slots, zeroY, ticks } = plotChart("bars", "money", 2, [
			money("30.0000", "10.0000"),
			money("10.0000", "0.0000"),
			money(null, "20.0000"),
		]);
		const [first, second] = slots;
		const perDollar = (first?.bars[0]?.height ?? 0) / 30;
		expect(first?.bars.map(({ height }) => height / perDollar)).toEqual([expect.closeTo(30), expect.closeTo(10)]);
		expect(first?.bars[1]?.y).toBeCloseTo(zeroY - 40 * perDollar);
		expect(second?.bars.map(({ series }) => series)).toEqual([0, 2]);
		expect(second?.bars[1]?.y).toBeCloseTo(zeroY - 30 * perDollar);
		expect(zeroY).toBe(BASE);
		expect(ticks.map(({ text }) => text)).toEqual(["$0", "$10", "$20", "$30", "$40"]);
	});

	it("what is below zero hangs below it, and takes nothing from what is above", () => {
		const { slots, zeroY } = plotChart("bars", "money", 1, [money("20.0000"), money("-10.0000"), money("5.0000"), money("-5.0000")]);
		const bars = slots[0]?.bars ?? [];
		expect(bars.filter(({ y }) => y < zeroY).map(({ series }) => series)).toEqual([0, 2]);
		const above = bars.filter(({ y }) => y < zeroY).reduce((sum, { height }) => sum + height, 0);
		const below = bars.filter(({ y }) => y >= zeroY - 0.001).reduce((sum, { height }) => sum + height, 0);
		expect(above / below).toBeCloseTo(25 / 15);
	});

	it("without points, with one, and with nothing but zero there is still a scale", () => {
		expect(plotChart("bars", "count", 0, []).slots).toEqual([]);
		const one = plotChart("lines", "money", 1, [money("7.0000")]);
		expect(one.slots[0]?.x).toBeCloseTo(50);
		expect(one.lines).toEqual([expect.stringMatching(/^M500 [\d.]+$/)]);
		const zero = plotChart("bars", "count", 3, [{ name: "Clicks", values: [0, 0, 0] }]);
		expect(zero.slots.flatMap(({ bars }) => bars)).toEqual([]);
		expect(zero.ticks.map(({ text }) => text)).toEqual(["0", "1"]);
	});

	it("a line is broken where there is no value", () => {
		const { lines } = plotChart("lines", "count", 4, [{ name: "Clicks", values: [1, null, 3, 2] }]);
		expect(lines[0]).toMatch(/^M[\d. ]+M[\d. ]+L[\d. ]+$/);
	});

	it("large values are shortened, small amounts and shares are not", () => {
		const most = (unit: "money" | "count" | "share", value: number) =>
			plotChart("lines", unit, 1, [{ name: "x", values: [value] }]).ticks.at(-1)?.text;
		expect(most("money", 2_000_000)).toBe("$2M");
		expect(most("money", 0.04)).toBe("$0.04");
		expect(most("count", 40_000)).toBe("40,000");
		expect(most("share", 0.2)).toBe("20%");
	});

	it("what cannot be drawn as it is said is refused", () => {
		expect(() => plotChart("bars", "money", 2, [money("1.0000")])).toThrow("1 values for 2 points");
		expect(() => plotChart("bars", "money", 1, [money("many")])).toThrow("cannot be drawn");
		expect(() =>
			plotChart(
				"bars",
				"count",
				0,
				Array.from({ length: 6 }, () => money()),
			),
		).toThrow("at most 5");
	});

	it("sums are exact", () => {
		expect(
			sumOf(
				"money",
				Array.from({ length: 10 }, () => "0.1000"),
			),
		).toBe("1.0000");
		expect(sumOf("money", ["900000000.0001", "900000000.0002", null, "-0.0001"])).toBe("1800000000.0002");
		expect(sumOf("money", [])).toBe("0.0000");
		expect(sumOf("count", [2, null, 3])).toBe(5);
	});
});

describe("unit: a chart", () => {
	const chart = (name: string) =>
		String(
			<Chart
				title={`By ${name}`}
				kind="bars"
				unit="money"
				of="Day"
				points={["2026-03-01", name]}
				series={[
					{ name, values: ["1.5000", "2.0000"] },
					{ name: "Pending", values: ["0.0000", null] },
				]}
				partialFrom={1}
			/>,
		);

	it("says in words what it shows, and has its table beneath with exact sums", () => {
		const html = chart("2026-03-02");
		expect(html).toMatch(
			/role="img" aria-labelledby="(chart-[a-z0-9-]+)-title" aria-describedby="\1-desc"><title id="\1-title">By 2026-03-02<\/title>/,
		);
		expect(html).toContain("2026-03-01 to 2026-03-02. 2026-03-02: 3.5000 USD in all, most at 2026-03-02 with 2.0000 USD.");
		expect(html).toContain('<th scope="row">Total</th><td class="money"><data class="money" value="3.5000">');
		expect(html).toMatch(/>1 Mar<\/text>.*>2 Mar<\/text>/);
		expect(html.match(/class="bar partial"/g)).toHaveLength(1);
		expect(html).toContain("not all of it yet");
	});

	it("adds nothing up of what stands by itself, such as prices", () => {
		const html = String(
			<Chart title="A click" kind="lines" unit="money" of="Time" points={["a", "b"]} series={[money("0.4000", "0.3000")]} isLevel />,
		);
		expect(html).toContain("a to b. Earned: 0.3000 USD at last, most at a with 0.4000 USD.");
		expect(html).not.toMatch(/in all|Total/);
	});

	it("tells series apart by more than their colour", () => {
		const html = chart("x");
		expect(html.match(/<pattern id="chart-by-x-\d"/g)).toEqual(['<pattern id="chart-by-x-0"', '<pattern id="chart-by-x-1"']);
		expect(html).toContain('class="hatch"');
	});

	it("holds no script and no style of its own, whatever a name is", () => {
		const html = chart(HOSTILE);
		expect(html).not.toMatch(/<script| style=/);
		expect(html.match(/<\/svg>/g)).toHaveLength(4);
	});

	it.each([
		["points", [], []],
		["anything but zeros", ["a", "b"], [{ name: "Clicks", values: [0, null] }]],
	])("without %s says so", (_, points, series) => {
		expect(String(<Chart title="Clicks by day" kind="lines" unit="count" of="Day" points={points} series={series} />)).toBe(
			'<p class="note">Clicks by day: nothing to show.</p>',
		);
	});
});
