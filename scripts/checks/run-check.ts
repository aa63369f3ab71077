import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../local/paths.ts";
import type { HeldOutput } from "./held-output.ts";
import { addSecondTry, judgeRun, type RunReport, type Verdict } from "./judge-run.ts";

export type Check = {
	name: string;
	/** A tool in node_modules/.bin. */
	tool: string;
	arguments: readonly string[];
	/** Variables of the tool's environment. */
	variables?: Readonly<Record<string, string>>;
	/** Vitest says how many tests it ran; any other tool counts as one check. */
	isVitest?: true;
};

/** How many passed, and what failed, a line each. */
export type Outcome = { passed: number; failures: readonly string[] };

/** Compiled once in a run, whichever of its many processes needs it. */
const COMPILE_CACHE = mkdtempSync(join(tmpdir(), "clickbourse-compiled-"));
process.on("exit", () => rmSync(COMPILE_CACHE, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		for (const child of running) child.kill(signal);
		process.exit(1);
	});
}

/**
 * Runs a check, and counts what passed and failed. Test files that the runner loses are run again, once.
 * @param held where its output goes; null shows it as it comes
 */
export async function runCheck(check: Check, held: HeldOutput | null): Promise<Outcome> {
	if (!check.isVitest) return (await run(check, [], {}, held)) === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [check.name] };
	const say = (text: string) => (held === null ? process.stdout.write(text) : held.write(text));
	const first = await runVitest(check, [], held);
	if (first.lost.length === 0) return first;
	say(`\nLost to the test runner, and no test has failed by it. Run again, once:\n${first.lost.join("\n")}\n\n`);
	const second = await runVitest(check, first.lost, held);
	if (second.lost.length > 0) say(`\nLost again, which counts as failed:\n${second.lost.join("\n")}\n\n`);
	return addSecondTry(first, second);
}

/** @param files those of the suite to run; none for all */
async function runVitest(check: Check, files: readonly string[], held: HeldOutput | null): Promise<Verdict> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-tests-"));
	try {
		const report = join(folder, "report.json");
		const reporters = ["--reporter=default", `--reporter=${join(import.meta.dirname, "run-reporter.ts")}`];
		const code = await run(check, [...files, ...reporters], { CHECK_REPORT: report }, held);
		return judgeRun(existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as RunReport) : null, code);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function run(
	{ tool, arguments: own, variables }: Check,
	more: readonly string[],
	moreVariables: Record<string, string>,
	held: HeldOutput | null,
): Promise<number> {
	return new Promise((resolve, reject) => {
		const output = held === null ? "inherit" : "pipe";
		const child = spawn(join(ROOT, "node_modules", ".bin", tool), [...own, ...more], {
			cwd: ROOT,
			stdio: ["ignore", output, output],
			env: {
				...process.env,
				NODE_COMPILE_CACHE: COMPILE_CACHE,
				// Some tools colour whatever they write in CI; in a log that is noise.
				...((held !== null || !process.stdout.isTTY) && { NO_COLOR: "1" }),
				...variables,
				...moreVariables,
			},
		});
		running.add(child);
		for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => held?.write(text));
		child.on("error", reject);
		child.on("close", (code) => {
			running.delete(child);
			resolve(code ?? 1);
		});
	});
}
