/** The cron's jobs where one invocation cannot do them all: none waits for ever. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Job, MINUTES_A_TURN, orderJobs, runJobs } from "../../../src/lib/jobs.ts";
import { Operations } from "../../../src/lib/operations.ts";

const LONG = ["book", "retention", "sums", "days", "ledger"];

describe("unit: jobs of an invocation that cannot do them all", () => {
	let logged: Record<string, unknown>[];
	beforeEach(() => {
		logged = [];
		for (const level of ["log", "error"] as const)
			vi.spyOn(console, level).mockImplementation((line: string) => void logged.push(JSON.parse(line)));
	});
	afterEach(() => {
		vi.restoreAllMocks();
	});

	/** Runs the jobs of some minutes. @param takes statements of a job, of those that are left @returns the names of those that ran, by minute */
	async function run(minutes: number, takes: (name: string, left: number) => number): Promise<string[][]> {
		const ran: string[][] = [];
		for (let minute = 0; minute < minutes; minute++) {
			const operations = new Operations();
			const names: string[] = [];
			ran.push(names);
			const job = (name: string, statements: number): Job => ({
				name,
				needs: { statements },
				run: async () => {
					names.push(name);
					operations.countStatements(takes(name, operations.left.statements));
				},
			});
			const long = LONG.map((name) => job(name, 300));
			await runJobs(orderJobs([job("caps", 0)], job("clicks", 0), long, minute), operations);
		}
		return ran;
	}

	it("all run in every minute where there is enough for all", async () => {
		for (const names of await run(10, () => 50)) expect([...names].sort()).toEqual(["caps", "clicks", ...LONG].sort());
		expect(logged).toEqual([]);
	});

	it("a backlog that uses up every minute leaves them every fifth, which it takes last", async () => {
		const ran = await run(3 * MINUTES_A_TURN, (name, left) => (name === "clicks" ? left : 10));
		for (const [minute, names] of ran.entries()) {
			if (minute % MINUTES_A_TURN === 0) expect(names).toEqual(["caps", ...names.slice(1, -1), "clicks"]);
			expect(names.filter((name) => LONG.includes(name))).toHaveLength(minute % MINUTES_A_TURN === 0 ? LONG.length : 0);
		}
		expect(logged).toContainEqual({ level: "info", event: "cron.waiting", jobs: "book, retention, sums, days, ledger" });
	});

	it("where each of them takes a whole invocation too, every one has its turn, and the backlog four minutes of five", async () => {
		const ran = await run(LONG.length * MINUTES_A_TURN, (name, left) => (name === "caps" ? 100 : left));
		const times = Object.groupBy(ran.flat(), (name) => name);
		expect(Object.fromEntries(LONG.map((name) => [name, times[name]?.length]))).toEqual(Object.fromEntries(LONG.map((name) => [name, 1])));
		expect(ran.filter((names) => names[1] === "clicks")).toHaveLength(LONG.length * (MINUTES_A_TURN - 1));
	});

	it("one that fails keeps none of the others from theirs, and is named", async () => {
		const ran: string[] = [];
		const jobs = ["a", "b", "c"].map(
			(name): Job => ({
				name,
				run: async () => {
					ran.push(name);
					if (name === "b") throw new Error("broken");
				},
			}),
		);
		expect(await runJobs(jobs, new Operations())).toEqual({ ended: ["a", "c"], failed: ["b"], waiting: [] });
		expect(ran).toEqual(["a", "b", "c"]);
		expect(logged).toMatchObject([{ event: "cron.failed", job: "b" }]);
	});
});
