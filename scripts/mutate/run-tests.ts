import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { ROOT } from "../local/paths.ts";

/** What came of test files: passed, or the first test that failed, or why that cannot be said. */
export type TestRun =
	| { outcome: "passed" }
	| { outcome: "failed"; test: string }
	| { outcome: "endless" }
	| { outcome: "broken"; output: string };

/** A run that takes longer for each of its files has a fault that never ends. */
const MAX_FILE_MS = 5 * 60_000;
const REPORT = "mutate-report.json";

const reportSchema = v.object({
	success: v.boolean(),
	testResults: v.array(v.object({ assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })) })),
});

/** Runs test files in a copy of the project below this one, up to the first failure. */
export async function runTests(copy: string, files: readonly string[]): Promise<TestRun> {
	const report = join(copy, REPORT);
	rmSync(report, { force: true });
	const projects = [...new Set(files.map((file) => file.split("/")[1] ?? ""))].flatMap((name) => ["--project", name]);
	const { code, output, late } = await runVitest(
		copy,
		[...projects, ...files, "--bail=1", "--reporter=json", `--outputFile=${report}`],
		files.length * MAX_FILE_MS,
	);
	if (late) return { outcome: "endless" };
	if (!existsSync(report)) return { outcome: "broken", output };
	const { success, testResults } = v.parse(reportSchema, JSON.parse(readFileSync(report, "utf8")));
	const failed = testResults.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === "failed");
	if (failed !== undefined) return { outcome: "failed", test: failed.fullName };
	return code === 0 && success ? { outcome: "passed" } : { outcome: "broken", output };
}

function runVitest(cwd: string, arguments_: readonly string[], maxMs: number): Promise<{ code: number; output: string; late: boolean }> {
	return new Promise((resolve, reject) => {
		// A group of its own: whatever it has started ends with it.
		const child = spawn(join(ROOT, "node_modules", ".bin", "vitest"), ["run", ...arguments_], {
			cwd,
			detached: true,
			stdio: ["ignore", "pipe", "pipe"],
			env: { ...process.env, NO_COLOR: "1" },
		});
		const end = () => {
			if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
		};
		let output = "";
		let late = false;
		const timer = setTimeout(() => {
			late = true;
			end();
		}, maxMs);
		process.prependOnceListener("exit", end);
		for (const stream of [child.stdout, child.stderr]) {
			stream.on("data", (chunk: Buffer) => {
				output += chunk;
			});
		}
		child.on("error", reject);
		child.on("close", (code) => {
			clearTimeout(timer);
			process.off("exit", end);
			resolve({ code: code ?? 1, output, late });
		});
	});
}
