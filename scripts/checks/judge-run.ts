/** What a run of Vitest comes to. Pure. */

/** What came of a test file; `queued` and `pending` are the states in which Vitest leaves one that it lost. */
export type FileReport = { file: string; state: "queued" | "pending" | "passed" | "failed" | "skipped"; passed: number; failed: number };

/** The files of a run, and the messages of errors that were thrown outside of every test. */
export type RunReport = { files: readonly FileReport[]; errors: readonly string[] };

export type Verdict = {
	passed: number;
	failed: number;
	/** Files that the runner lost, whose tests say nothing: the connection to workerd broke, or the process ended. */
	lost: string[];
};

/** How Vitest marks an error of its own: of the pool that runs files, not of a test. */
const POOL_ERROR = "[vitest-pool]";

/** @param report null where the run ended without one @param code the exit code */
export function judgeRun(report: RunReport | null, code: number): Verdict {
	if (report === null) return { passed: 0, failed: 1, lost: [] };
	const lost = report.files.filter(({ state }) => state === "queued" || state === "pending").map(({ file }) => file);
	const ended = report.files.filter(({ file }) => !lost.includes(file));
	const passed = ended.reduce((sum, file) => sum + file.passed, 0);
	// A file that cannot be loaded fails, and none of its tests does.
	const failed = ended.reduce((sum, file) => sum + (file.state === "failed" ? Math.max(1, file.failed) : file.failed), 0);
	const ownErrors = report.errors.filter((message) => !message.startsWith(POOL_ERROR));
	const isRed = ownErrors.length > 0 || (code !== 0 && lost.length === 0);
	return { passed, failed: isRed ? Math.max(1, failed) : failed, lost };
}

/** A run, and the second try of the files it lost: what is lost again has failed. */
export function addSecondTry(first: Verdict, second: Verdict): Verdict {
	return { passed: first.passed + second.passed, failed: first.failed + second.failed + second.lost.length, lost: [] };
}
