import type { Fault } from "../fault.ts";

/** Learned prices. */
export const LEARNING_FAULTS: readonly Fault[] = [
	{
		name: "creep-has-no-end",
		file: "src/learning/creep.ts",
		find: "Math.min(MAX_CREEP, creep * (1 + rate))",
		replace: "creep * (1 + rate)",
		tests: ["test/unit/learning/publishing.test.ts", "test/unit/learning/learner.test.ts"],
	},
	{
		name: "chance-breaks-a-price",
		file: "src/learning/breaks.ts",
		find: "FALL_Z = -2.6",
		replace: "FALL_Z = -1.3",
		tests: ["test/unit/learning/learner.test.ts"],
	},
	{
		name: "few-conversions-break-a-price",
		file: "src/learning/breaks.ts",
		find: "expected < LEAST_EXPECTED || ",
		replace: "",
		tests: ["test/unit/learning/learner.test.ts"],
	},
	{
		name: "prices-move-by-less-than-a-publishing-step",
		file: "src/learning/guards.ts",
		find: "moved >= 1 + publishStep",
		replace: "moved > 1",
		tests: ["test/unit/learning/publishing.test.ts"],
	},
	{
		name: "a-changed-number-forgets-what-a-day-has-moved",
		file: "src/learning/publish-step.ts",
		find: "before: before.map(({ until, ...was }) => ({ factor: was.factor * by, until }))",
		replace: "before: []",
		tests: ["test/unit/learning/publishing.test.ts"],
	},
	{
		name: "a-changed-number-moves-prices-to-their-targets",
		file: "src/learning/publish-step.ts",
		find: "return { ...published, factor: against, before:",
		replace: "return { ...published, factor: target, before:",
		tests: ["test/unit/learning/publishing.test.ts", "test/unit/learning/learner.test.ts", "test/worker/learned-prices.test.ts"],
	},
	{
		name: "half-a-night-is-published",
		file: "src/learning-night/sweep-learning.ts",
		find: "(await isNightOpen(db, state.day, dayOf(now()))) ? null : ",
		replace: "",
		tests: ["test/worker/learned-prices.test.ts"],
	},
	{
		name: "weeks-of-buyers-alone-are-learned-from",
		file: "src/learning-rows/gap.ts",
		find: "if (await isThinned(db, week)) await",
		replace: "if (week < 0) await",
		tests: ["test/worker/learning-rows.test.ts"],
	},
	{
		name: "a-rebuild-makes-weeks-of-buyers-alone",
		file: "src/operator/learning/rebuild.ts",
		find: "if (await isThinned(db, week)) left++;",
		replace: "if (week < 0) left++;",
		tests: ["test/worker/learning-rows.test.ts"],
	},
	{
		name: "what-comes-late-of-such-weeks-is-learned-from",
		file: "src/learning-rows/tidy.ts",
		find: "day < ${firstLearned(today - HISTORY_DAYS)}",
		replace: "day < ${today - HISTORY_DAYS}",
		tests: ["test/worker/learning-rows.test.ts"],
	},
	{
		name: "sources-give-up-places-that-nobody-needs",
		file: "src/learning-rows/retire-sources.ts",
		find: "count(*) >= ${MAX_SOURCES} AND ",
		replace: "",
		tests: ["test/worker/learning-rows.test.ts"],
	},
	{
		name: "two-nights-run-at-once",
		file: "src/learning-night/lease.ts",
		find: "if (taken.length === 0) return;",
		replace: "",
		tests: ["test/worker/learning-night.test.ts"],
	},
];
