/**
 * Load at a constant rate: open, as the world's is. Each latency counts from the moment at which its request was due, so a server that
 * stands still is charged with all the requests that it kept waiting, not with one (no coordinated omission).
 */
import { Pool } from "undici";
import type { PacedJob, PacedResult, Target } from "./load-protocol.ts";

/** Until the first request is due, once connections are open. */
const LEAD_MS = 20;

/** Sends `perSecond` requests a second for so many seconds, and waits for all answers. */
export async function pace({ origin, targets, connections, perSecond, seconds, status }: PacedJob): Promise<PacedResult> {
	const pool = new Pool(origin, { connections, pipelining: 1 });
	try {
		await Promise.all(Array.from({ length: connections }, (_, at) => ask(pool, targets[at % targets.length] as Target)));
		const total = Math.round(perSecond * seconds);
		const result: PacedResult = { latencies: new Array<number>(total), delays: new Array<number>(total), errors: 0 };
		const { promise, resolve } = Promise.withResolvers<void>();
		const startAt = performance.now() + LEAD_MS;
		let next = 0;
		let open = total;
		const send = (at: number) => {
			const dueAt = startAt + (at * 1_000) / perSecond;
			result.delays[at] = performance.now() - dueAt;
			ask(pool, targets[at % targets.length] as Target)
				.then(
					(answered) => answered === status,
					() => false,
				)
				.then((isRight) => {
					result.latencies[at] = performance.now() - dueAt;
					if (!isRight) result.errors++;
					if (--open === 0) resolve();
				});
		};
		// Without a pause: timers are a millisecond late, which is as long as an answer takes.
		const turn = () => {
			while (next < total && startAt + (next * 1_000) / perSecond <= performance.now()) send(next++);
			if (next < total) setImmediate(turn);
		};
		turn();
		await promise;
		return result;
	} finally {
		await pool.close();
	}
}

/** The status of an answer, once all of it has come. */
function ask(pool: Pool, { method, path, body, headers }: Target): Promise<number> {
	const type = body === undefined ? {} : { "content-type": "application/json" };
	const { promise, resolve, reject } = Promise.withResolvers<number>();
	let status = 0;
	pool.dispatch(
		{ method, path, headers: { ...type, ...headers }, ...(body !== undefined && { body }) },
		{
			onRequestStart() {},
			onResponseStart(_, statusCode) {
				status = statusCode;
			},
			onResponseData() {},
			onResponseEnd: () => resolve(status),
			onResponseError: (_, error) => reject(error),
		},
	);
	return promise;
}
