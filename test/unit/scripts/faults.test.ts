import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyFault, type Fault, findStaleness } from "../../../scripts/mutate/fault.ts";
import { FAULTS } from "../../../scripts/mutate/faults.ts";

const FAULT: Fault = { name: "a-fault", file: "a.ts", find: "a < b", replace: "a $& b", tests: [] };

describe("unit: a fault", () => {
	test("is put in place of its text, whatever signs it has", () => {
		expect(applyFault("if (a < b) return;", FAULT)).toBe("if (a $& b) return;");
	});

	test("is stale where its text stands nowhere, more than once, or is what it brings", () => {
		expect(findStaleness("if (a > b) return;", FAULT)).toBe("its text stands nowhere in the file");
		expect(findStaleness("a < b || a < b", FAULT)).toBe("its text stands 2 times in the file");
		expect(findStaleness("a < b", { ...FAULT, replace: "a < b" })).toBe("changes nothing");
		expect(() => applyFault("", FAULT)).toThrow("a-fault: its text stands nowhere");
	});
});

describe("unit: the mutation list", () => {
	test("holds faults of every part, each under a name of its own", () => {
		expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
		expect(FAULTS.map(({ name }) => name).filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
		const parts = [
			"bidding",
			"openrtb",
			"privacy",
			"campaign-book",
			"clicks",
			"click-token",
			"conversions",
			"callbacks",
			"keys",
			"operator",
			"learning",
			"learning-rows",
			"learning-night",
			"publisher-api",
			"claims",
			"changes",
			"auction-feedback",
			"bid-counts",
			"alerts",
			"console",
			"audit",
			"network-reports",
			"reconcile",
			"adjustments",
			"days",
			"ledger-check",
		];
		for (const part of [...parts, "reports", "products", "catalogue", "retention", "http", "lib"]) {
			expect(
				FAULTS.some(({ file }) => file.startsWith(`src/${part}/`)),
				part,
			).toBe(true);
		}
	});

	test.each(FAULTS)("$name can be put into src, and names tests", ({ tests, ...fault }) => {
		expect(findStaleness(readFileSync(fault.file, "utf8"), { ...fault, tests })).toBeNull();
		expect(tests.length).toBeGreaterThan(0);
		expect(tests.filter((file) => !existsSync(file))).toEqual([]);
	});

	test("docs/testing.md names every known survivor", () => {
		const page = readFileSync("docs/testing.md", "utf8");
		const survivors = FAULTS.filter(({ survives }) => survives !== undefined).map(({ name }) => name);
		expect(survivors.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
	});
});
