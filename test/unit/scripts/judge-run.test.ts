import { describe, expect, test } from "vitest";
import { addSecondTry, type FileReport, judgeRun } from "../../../scripts/checks/judge-run.ts";

const POOL_ERROR = "[vitest-pool]: Worker cloudflare-pool emitted error.";

const file = (name: string, state: FileReport["state"], passed = 0, failed = 0): FileReport => ({ file: name, state, passed, failed });

describe("unit: what a run of Vitest comes to", () => {
	test("its tests, counted", () => {
		const files = [file("a", "passed", 3), file("b", "failed", 2, 1), file("c", "skipped")];
		expect(judgeRun({ files, errors: [] }, 1)).toEqual({ passed: 5, failed: 1, lost: [] });
	});

	test("a file that cannot be loaded, an error outside of every test, and a run without a report are failures", () => {
		expect(judgeRun({ files: [file("a", "failed")], errors: [] }, 1)).toMatchObject({ failed: 1 });
		expect(judgeRun({ files: [file("a", "passed", 3)], errors: ["rejected"] }, 1)).toEqual({ passed: 3, failed: 1, lost: [] });
		expect(judgeRun({ files: [file("a", "passed", 3)], errors: [] }, 1)).toMatchObject({ failed: 1 });
		expect(judgeRun(null, 0)).toEqual({ passed: 0, failed: 1, lost: [] });
	});

	test("a file that the runner lost is no failure, and what it had done does not count", () => {
		const files = [file("a", "passed", 3), file("b", "pending", 2), file("c", "queued")];
		expect(judgeRun({ files, errors: [POOL_ERROR, POOL_ERROR] }, 1)).toEqual({ passed: 3, failed: 0, lost: ["b", "c"] });
	});

	test("a lost file hides no error and no failure of another", () => {
		expect(judgeRun({ files: [file("a", "passed", 3), file("b", "pending")], errors: [POOL_ERROR, "rejected"] }, 1)).toMatchObject({
			failed: 1,
		});
		expect(judgeRun({ files: [file("a", "failed", 3, 2), file("b", "pending")], errors: [POOL_ERROR] }, 1)).toMatchObject({ failed: 2 });
	});

	test("with the second try of what was lost: lost again is failed", () => {
		const first = { passed: 3, failed: 0, lost: ["b", "c"] };
		expect(addSecondTry(first, { passed: 4, failed: 0, lost: [] })).toEqual({ passed: 7, failed: 0, lost: [] });
		expect(addSecondTry(first, { passed: 4, failed: 1, lost: ["c"] })).toEqual({ passed: 7, failed: 2, lost: [] });
	});
});
