/** Load from a second process, and rounds that take turns, so that what else the machine does falls on both sides alike. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { median } from "./figure.ts";
import type { LoadJob, LoadResult, PacedJob, PacedResult, Target } from "./load-protocol.ts";
import { readServerCpu } from "./server-cpu.ts";

/** As many as keep a server busy that answers in microseconds: with few, each waits for the load process to wake. */
export const CONNECTIONS = 64;

export class LoadProcess {
	readonly #child: ChildProcess;

	constructor() {
		this.#child = fork(join(import.meta.dirname, "load-process.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
	}

	/** @throws Error where requests were not answered, or not with one of these statuses */
	async run(job: LoadJob, expected: readonly number[] | number = 200): Promise<LoadResult> {
		const result = await this.#ask<LoadResult>(job);
		const { answers, errors, statuses } = result;
		if (errors > 0 || answers === 0 || [expected].flat().reduce((sum, status) => sum + (statuses[status] ?? 0), 0) !== answers) {
			throw new Error(`load on ${job.origin}: ${answers} answers, ${errors} errors, by status ${JSON.stringify(statuses)}`);
		}
		return result;
	}

	/** @throws Error where requests were not answered, or not with the job's status */
	async pace(job: PacedJob): Promise<PacedResult> {
		const result = await this.#ask<PacedResult>(job);
		if (result.errors > 0)
			throw new Error(`load on ${job.origin}: ${result.errors} of ${result.latencies.length} not answered as expected`);
		return result;
	}

	async #ask<Result>(job: LoadJob | PacedJob): Promise<Result> {
		const { promise, resolve, reject } = Promise.withResolvers<Result>();
		const onMessage = (message: unknown) => {
			const answer = message as { result: Result } | { error: string };
			if ("error" in answer) reject(new Error(`load process: ${answer.error}`));
			else resolve(answer.result);
		};
		const onExit = (code: number | null) => reject(new Error(`the load process ended with code ${code}`));
		this.#child.once("message", onMessage).once("exit", onExit).once("error", reject);
		this.#child.send(job);
		try {
			return await promise;
		} finally {
			this.#child.off("message", onMessage).off("exit", onExit).off("error", reject);
		}
	}

	[Symbol.dispose](): void {
		this.#child.kill();
	}
}

export type Side = { name: string; origin: string; targets: readonly Target[] };

/** What a side did in one round. */
export type Round = {
	perSecond: number;
	/** Milliseconds. */
	p50: number;
	p99: number;
	/** CPU time of workerd per request, in microseconds; null where it cannot be read. */
	cpuMicros: number | null;
};

export type RoundOptions = {
	rounds: number;
	seconds: number;
	warmUpSeconds: number;
	say: (text: string) => void;
	/** The HTTP status of every answer; 200 where it is not said. */
	status?: number;
	/** CONNECTIONS where it is not said. */
	connections?: number;
};

/** Short rounds, many of them: neighbours in time meet the same machine, and each pair gives a ratio of its own. */
export const FULL_ROUNDS = { rounds: 12, seconds: 1.5, warmUpSeconds: 6 };

/** Loads the sides in turn, after a warm-up of each. Returns each side's rounds. */
export async function runRounds(sides: readonly Side[], options: RoundOptions): Promise<Round[][]> {
	using load = new LoadProcess();
	const { rounds, seconds, warmUpSeconds, say, status = 200, connections = CONNECTIONS } = options;
	for (const { origin, targets } of sides) await load.run({ origin, targets, connections, seconds: warmUpSeconds }, status);
	const readCpu = readServerCpu();
	const results = sides.map((): Round[] => []);
	for (let at = 1; at <= rounds; at++) {
		const told: string[] = [];
		for (const [side, { name, origin, targets }] of sides.entries()) {
			const cpuBefore = readCpu?.() ?? 0;
			const { answers, perSecond, p50, p99 } = await load.run({ origin, targets, connections, seconds }, status);
			const cpuMicros = readCpu === null ? null : ((readCpu() - cpuBefore) * 1_000_000) / answers;
			results[side]?.push({ perSecond, p50, p99, cpuMicros });
			told.push(`${name} ${perSecond.toFixed(0)}/s p99 ${p99.toFixed(1)} ms${cpuMicros === null ? "" : ` ${cpuMicros.toFixed(0)} µs CPU`}`);
		}
		say(`round ${at} of ${rounds}: ${told.join(", ")}`);
	}
	return results;
}

export type Measure = "perSecond" | "p50" | "p99";

/** The median over the rounds of one of their measures. */
export function medianOf(rounds: readonly Round[], measure: Measure): number {
	return median(rounds.map((round) => round[measure]));
}

/** The median over the rounds of one side's measure relative to the other side's in the same round. */
export function ratioOf(rounds: readonly Round[], others: readonly Round[], measure: Measure): number {
	return median(rounds.map((round, at) => round[measure] / (others[at]?.[measure] ?? Number.NaN)));
}

/** The median CPU time of workerd per request, in microseconds; null where it cannot be read. */
export function medianCpu(rounds: readonly Round[]): number | null {
	const known = rounds.map(({ cpuMicros }) => cpuMicros).filter((micros) => micros !== null);
	return known.length === 0 ? null : median(known);
}

/** The part of a core that workerd used while it was loaded; null where it cannot be read. Below one, it waited for requests. */
export function busyShare(rounds: readonly Round[]): number | null {
	const known = rounds.flatMap(({ perSecond, cpuMicros }) => (cpuMicros === null ? [] : [(perSecond * cpuMicros) / 1_000_000]));
	return known.length === 0 ? null : median(known);
}

/** The median over the rounds of one side's CPU time per request relative to the other side's; null where it cannot be read. */
export function cpuRatioOf(rounds: readonly Round[], others: readonly Round[]): number | null {
	const ratios = rounds.map(({ cpuMicros }, at) => {
		const other = others[at]?.cpuMicros ?? null;
		return cpuMicros === null || other === null ? null : cpuMicros / other;
	});
	const known = ratios.filter((ratio) => ratio !== null);
	return known.length === 0 ? null : median(known);
}
