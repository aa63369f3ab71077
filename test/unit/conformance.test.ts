/** Keeps docs/conformance.md honest: what it names exists, and nothing is left unnamed. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const FIXTURES = "test/fixtures";
const page = readFileSync("docs/conformance.md", "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| Rule "));
const references = rows.flatMap((row) => [...heldBy(row).matchAll(/`([^`]+)`/g)].flatMap(([, reference = ""]) => expand(reference)));

function heldBy(row: string): string {
	return row.split("|").at(-2)?.trim() ?? "";
}

/** Each reference that one with braces stands for: `a/{b,c-{d,e}}` for `a/b`, `a/c-d` and `a/c-e`. */
function expand(reference: string): string[] {
	const [braces, list = ""] = /\{([^{}]*)\}/.exec(reference) ?? [];
	return braces === undefined ? [reference] : list.split(",").flatMap((one) => expand(reference.replace(braces, one)));
}

/** The golden cases that a reference such as `openrtb/supplemental/floor-*` names. */
function goldenCases(reference: string): string[] {
	return globSync(`${FIXTURES}/${reference}.json`).map((file) => file.slice(FIXTURES.length + 1, -".json".length));
}

function isGolden(reference: string): boolean {
	return reference.startsWith("openrtb/") || reference.startsWith("serving-engine/");
}

describe("unit: docs/conformance.md", () => {
	test("every rule names a test, or says that it is not built yet", () => {
		expect(rows.length).toBeGreaterThan(150);
		const unnamed = rows.filter((row) => !/`[^`]+`|^\*not (built yet|testable here)\*$/.test(heldBy(row)));
		expect(unnamed).toEqual([]);
	});

	test("every golden case that it names exists", () => {
		const missing = references.filter((reference) => isGolden(reference) && goldenCases(reference).length === 0);
		expect(missing).toEqual([]);
	});

	test("every test that it names exists", () => {
		const missing = references.filter((reference) => {
			if (isGolden(reference)) return false;
			const [file = "", ...names] = reference.split(" › ");
			return !existsSync(`test/${file}`) || names.some((name) => !readFileSync(`test/${file}`, "utf8").includes(name));
		});
		expect(missing).toEqual([]);
	});

	test("it names every golden case", () => {
		const wholesale = new Set(["openrtb/*/*", "openrtb/exemplary/*", "serving-engine/*"]);
		const named = new Set(references.filter((reference) => isGolden(reference) && !wholesale.has(reference)).flatMap(goldenCases));
		const all = [...goldenCases("openrtb/*/*"), ...goldenCases("serving-engine/*")];
		expect(all.filter((golden) => !named.has(golden))).toEqual([]);
	});
});
