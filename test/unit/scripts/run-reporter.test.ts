import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TestModule, TestSpecification } from "vitest/node";
import { judgeRun } from "../../../scripts/checks/judge-run.ts";
import RunReporter, { MAX_SILENCE_MS } from "../../../scripts/checks/run-reporter.ts";
import { ROOT } from "../../../scripts/local/paths.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "run-reporter-"));
	vi.stubEnv("CHECK_REPORT", join(folder, "report.json"));
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllEnvs();
	rmSync(folder, { recursive: true });
});

function moduleOf(relativeModuleId: string, state: "passed" | "pending", results: readonly string[]): TestModule {
	const allTests = () => results.map((of) => ({ result: () => ({ state: of }) }));
	return { relativeModuleId, state: () => state, children: { allTests } } as unknown as TestModule;
}

test("a run of which nothing is heard is ended: what passed counts, and files that had not ended are lost", () => {
	const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as () => never);
	const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
	const specifications = [
		{ testModule: moduleOf("test/a.test.ts", "passed", ["passed", "passed"]), moduleId: join(ROOT, "test/a.test.ts") },
		{ testModule: moduleOf("test/b.test.ts", "pending", ["passed", "pending"]), moduleId: join(ROOT, "test/b.test.ts") },
		{ testModule: undefined, moduleId: join(ROOT, "test/c.test.ts") },
	] as unknown as TestSpecification[];
	const reporter = new RunReporter();
	reporter.onTestRunStart(specifications);
	for (const hear of ["onTestModuleStart", "onTestCaseResult", "onTestModuleEnd"] as const) {
		vi.advanceTimersByTime(MAX_SILENCE_MS - 1);
		reporter[hear]();
	}
	vi.advanceTimersByTime(MAX_SILENCE_MS - 1);
	expect(exit).not.toHaveBeenCalled();
	vi.advanceTimersByTime(1);
	expect(exit).toHaveBeenCalledWith(1);
	expect(said).toHaveBeenCalledOnce();
	const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
	expect(judgeRun(report, 1)).toEqual({ passed: 2, failures: [], lost: ["test/b.test.ts", "test/c.test.ts"] });
});

test("a run that ends is not ended again", () => {
	const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as () => never);
	const reporter = new RunReporter();
	reporter.onTestRunStart([]);
	reporter.onTestRunEnd([moduleOf("test/a.test.ts", "passed", ["passed"])], []);
	vi.advanceTimersByTime(MAX_SILENCE_MS * 2);
	expect(exit).not.toHaveBeenCalled();
});
