import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../local/paths.ts";
import { addSecondTry, judgeRun, type RunReport, type Verdict } from "./judge-run.ts";

export type Check = {
	name: string;
	/** A tool in node_modules/.bin. */
	tool: string;
	arguments: readonly string[];
	/** Vitest says how many tests it ran; any other tool counts as one check. */
	isVitest?: true;
};

export type Outcome = { passed: number; failed: number };

let current: ChildProcess | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		current?.kill(signal);
		process.exit(1);
	});
}

/** Runs a check with its output shown, and counts what passed and failed. Test files that the runner loses are run again, once. */
export async function runCheck(check: Check): Promise<Outcome> {
	if (!check.isVitest) return (await run(check.tool, check.arguments)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
	const first = await runVitest(check, []);
	if (first.lost.length === 0) return first;
	console.log(`\nLost to the test runner, and no test has failed by it. Run again, once:\n${first.lost.join("\n")}\n`);
	const second = await runVitest(check, first.lost);
	if (second.lost.length > 0) console.log(`\nLost again, which counts as failed:\n${second.lost.join("\n")}\n`);
	return addSecondTry(first, second);
}

/** @param files those of the suite to run; none for all */
async function runVitest(check: Check, files: readonly string[]): Promise<Verdict> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-tests-"));
	try {
		const report = join(folder, "report.json");
		const reporters = ["--reporter=default", `--reporter=${join(import.meta.dirname, "run-reporter.ts")}`];
		const code = await run(check.tool, [...check.arguments, ...files, ...reporters], { CHECK_REPORT: report });
		return judgeRun(existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as RunReport) : null, code);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function run(tool: string, arguments_: readonly string[], variables: Record<string, string> = {}): Promise<number> {
	return new Promise((resolve, reject) => {
		current = spawn(join(ROOT, "node_modules", ".bin", tool), arguments_, {
			cwd: ROOT,
			stdio: ["ignore", "inherit", "inherit"],
			// Some tools colour whatever they write in CI; in a log that is noise.
			env: { ...process.env, ...(!process.stdout.isTTY && { NO_COLOR: "1" }), ...variables },
		});
		current.on("error", reject);
		current.on("exit", (code) => resolve(code ?? 1));
	});
}
