/**
 * A reporter of Vitest's, for run-check.ts: writes what came of each file, and the errors outside of every test, to CHECK_REPORT. Where nothing
 * has been heard of a run for longer than any test or hook may take, a process of it hangs: the run is ended, and its unfinished files are lost.
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule, TestSpecification } from "vitest/node";
import { ROOT } from "../local/paths.ts";
import type { FileReport, RunReport } from "./judge-run.ts";

/** Longer than any test or hook may take: the longest have five minutes. */
export const MAX_SILENCE_MS = 360_000;

export default class RunReporter implements Reporter {
	#specifications: readonly TestSpecification[] = [];
	#silence: NodeJS.Timeout | undefined;

	onTestRunStart(specifications: readonly TestSpecification[]): void {
		this.#specifications = specifications;
		this.#silence = setTimeout(() => this.#giveUp(), MAX_SILENCE_MS).unref();
	}

	onTestModuleStart(): void {
		this.#silence?.refresh();
	}

	onTestCaseResult(): void {
		this.#silence?.refresh();
	}

	onTestModuleEnd(): void {
		this.#silence?.refresh();
	}

	onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
		clearTimeout(this.#silence);
		write({ files: modules.map(reportFile), errors: errors.map(({ message }) => shorten(message)) });
	}

	#giveUp(): void {
		console.error(`\nNothing was heard of this run for ${MAX_SILENCE_MS / 60_000} minutes: it is ended.`);
		const files = this.#specifications.map(({ testModule, moduleId }): FileReport => {
			if (testModule !== undefined) return reportFile(testModule);
			return { file: relative(ROOT, moduleId), state: "queued", passed: 0, failures: [] };
		});
		write({ files, errors: [] });
		process.exit(1);
	}
}

function write(report: RunReport): void {
	const path = process.env.CHECK_REPORT;
	if (path === undefined) throw new Error("CHECK_REPORT does not say where to write the report");
	writeFileSync(path, JSON.stringify(report));
}

function reportFile(module: TestModule): FileReport {
	const tests = [...module.children.allTests()];
	const having = (state: string) => tests.filter((test) => test.result().state === state);
	return {
		file: module.relativeModuleId,
		state: module.state(),
		passed: having("passed").length,
		failures: having("failed").map((test) => `${test.fullName}: ${shorten(test.result().errors?.[0]?.message ?? "")}`),
	};
}

/** On one line, as far as a failed property tells the seed and path by which it fails again. */
function shorten(text: string): string {
	return text.replaceAll(/\s+/g, " ").slice(0, 300);
}
