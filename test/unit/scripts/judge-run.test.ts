import { describe, expect, test } from "vitest";
import { addSecondTry, type FileReport, judgeRun } from "../../../scripts/checks/judge-run.ts";

const POOL_ERROR = "[vitest-pool]: Worker cloudflare-pool emitted error.";

const file = (name: string, state: FileReport["state"], passed = 0, ...failures: string[]): FileReport => ({
	file: name,
	state,
	passed,
	failures,
});

describe("unit: what a run of Vitest comes to", () => {
	test("its tests, counted, and what failed by its name", () => {
		const files = [file("a", "passed", 3), file("b", "failed", 2, "adds > up"), file("c", "skipped")];
		expect(judgeRun({ files, errors: [] }, 1)).toEqual({ passed: 5, failures: ["b > adds > up"], lost: [] });
	});

	test("a file that cannot be loaded, an error outside of every test, and a run without a report are failures", () => {
		expect(judgeRun({ files: [file("a", "failed")], errors: [] }, 1)).toMatchObject({ failures: ["a"] });
		const rejected = judgeRun({ files: [file("a", "passed", 3)], errors: ["rejected"] }, 1);
		expect(rejected).toEqual({ passed: 3, failures: ["outside of every test: rejected"], lost: [] });
		expect(judgeRun({ files: [file("a", "passed", 3)], errors: [] }, 1)).toMatchObject({ failures: ["no test: the run ended with 1"] });
		expect(judgeRun(null, 0)).toEqual({ passed: 0, failures: ["no test: the run ended before its time"], lost: [] });
	});

	test("a file that the runner lost is no failure, and what it had done does not count", () => {
		const files = [file("a", "passed", 3), file("b", "pending", 2), file("c", "queued")];
		expect(judgeRun({ files, errors: [POOL_ERROR, POOL_ERROR] }, 1)).toEqual({ passed: 3, failures: [], lost: ["b", "c"] });
	});

	test("a lost file hides no error and no failure of another", () => {
		expect(judgeRun({ files: [file("a", "passed", 3), file("b", "pending")], errors: [POOL_ERROR, "rejected"] }, 1)).toMatchObject({
			failures: ["outside of every test: rejected"],
		});
		const files = [file("a", "failed", 3, "x", "y"), file("b", "pending")];
		expect(judgeRun({ files, errors: [POOL_ERROR] }, 1)).toMatchObject({ failures: ["a > x", "a > y"] });
	});

	test("with the second try of what was lost: lost again is failed", () => {
		const first = { passed: 3, failures: [], lost: ["b", "c"] };
		expect(addSecondTry(first, { passed: 4, failures: [], lost: [] })).toEqual({ passed: 7, failures: [], lost: [] });
		const again = addSecondTry(first, { passed: 4, failures: ["b > x"], lost: ["c"] });
		expect(again).toEqual({ passed: 7, failures: ["b > x", "c: lost twice"], lost: [] });
	});
});
