/** A reporter of Vitest's, for run-check.ts: writes what came of each file, and the errors outside of every test, to CHECK_REPORT. */
import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";
import type { FileReport, RunReport } from "./judge-run.ts";

export default class RunReporter implements Reporter {
	onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
		const path = process.env.CHECK_REPORT;
		if (path === undefined) throw new Error("CHECK_REPORT does not say where to write the report");
		const report: RunReport = { files: modules.map(reportFile), errors: errors.map(({ message }) => message) };
		writeFileSync(path, JSON.stringify(report));
	}
}

function reportFile(module: TestModule): FileReport {
	const states = [...module.children.allTests()].map((test) => test.result().state);
	const count = (wanted: string) => states.filter((state) => state === wanted).length;
	return { file: module.relativeModuleId, state: module.state(), passed: count("passed"), failed: count("failed") };
}
