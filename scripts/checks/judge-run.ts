/** What a run of Vitest comes to. Pure. */

/** What came of a test file; `queued` and `pending` are the states in which Vitest leaves one that it lost. */
export type FileReport = {
	file: string;
	state: "queued" | "pending" | "passed" | "failed" | "skipped";
	passed: number;
	/** The tests that failed, by name, each with the beginning of why. */
	failures: readonly string[];
};

/** The files of a run, and the messages of errors that were thrown outside of every test. */
export type RunReport = { files: readonly FileReport[]; errors: readonly string[] };

export type Verdict = {
	passed: number;
	/** What failed, a line each, to be told again below the output: it is long. */
	failures: string[];
	/** Files that the runner lost, whose tests say nothing: the connection to workerd broke, or the process ended. */
	lost: string[];
};

/** How Vitest marks an error of its own: of the pool that runs files, not of a test. */
const POOL_ERROR = "[vitest-pool]";

/** @param report null where the run ended without one @param code the exit code */
export function judgeRun(report: RunReport | null, code: number): Verdict {
	if (report === null) return { passed: 0, failures: ["no test: the run ended before its time"], lost: [] };
	const lost = report.files.filter(({ state }) => state === "queued" || state === "pending").map(({ file }) => file);
	const ended = report.files.filter(({ file }) => !lost.includes(file));
	const passed = ended.reduce((sum, file) => sum + file.passed, 0);
	const failures = [
		...ended.flatMap(listFailures),
		...report.errors.filter((message) => !message.startsWith(POOL_ERROR)).map((message) => `outside of every test: ${message}`),
	];
	if (code !== 0 && lost.length === 0 && failures.length === 0) failures.push(`no test: the run ended with ${code}`);
	return { passed, failures, lost };
}

/** A file that cannot be loaded fails, and none of its tests does. */
function listFailures({ file, state, failures }: FileReport): string[] {
	if (state === "failed" && failures.length === 0) return [file];
	return failures.map((name) => `${file} > ${name}`);
}

/** A run, and the second try of the files it lost: what is lost again has failed. */
export function addSecondTry(first: Verdict, second: Verdict): Verdict {
	return {
		passed: first.passed + second.passed,
		failures: [...first.failures, ...second.failures, ...second.lost.map((file) => `${file}: lost twice`)],
		lost: [],
	};
}
