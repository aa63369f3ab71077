import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "../local/failure.ts";
import { ROOT } from "../local/paths.ts";

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

/** Runs a check with its output shown, and counts what passed and failed. */
export async function runCheck(check: Check): Promise<Outcome> {
	if (!check.isVitest) return (await run(check.tool, check.arguments)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-tests-"));
	try {
		const report = join(folder, "report.json");
		const code = await run(check.tool, [...check.arguments, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`]);
		const { passed, failed } = readReport(report);
		// A file that cannot be loaded, or an error outside of every test, fails a run in which no test failed.
		return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function readReport(file: string): Outcome {
	try {
		const report: unknown = JSON.parse(readFileSync(file, "utf8"));
		return { passed: count(report, "numPassedTests"), failed: count(report, "numFailedTests") };
	} catch (error) {
		if (errorCode(error) === "ENOENT" || error instanceof SyntaxError) return { passed: 0, failed: 1 };
		throw error;
	}
}

function count(report: unknown, name: string): number {
	const value = typeof report === "object" && report !== null ? new Map(Object.entries(report)).get(name) : undefined;
	return typeof value === "number" ? value : 0;
}

function run(tool: string, arguments_: readonly string[]): Promise<number> {
	return new Promise((resolve, reject) => {
		current = spawn(join(ROOT, "node_modules", ".bin", tool), arguments_, {
			cwd: ROOT,
			stdio: ["ignore", "inherit", "inherit"],
			// Some tools colour whatever they write in CI; in a log that is noise.
			env: process.stdout.isTTY ? process.env : { ...process.env, NO_COLOR: "1" },
		});
		current.on("error", reject);
		current.on("exit", (code) => resolve(code ?? 1));
	});
}
