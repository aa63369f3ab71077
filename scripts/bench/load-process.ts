/** The second process: makes the load with autocannon, and takes times with more than its whole milliseconds. */
import autocannon from "autocannon";
import { quantile } from "./figure.ts";
import type { LoadJob, LoadResult, PacedJob, Target } from "./load-protocol.ts";
import { pace } from "./pace.ts";

/** Rates and times are of what comes after it: before, every connection is opened at once. */
const OPENING_MS = 250;

type Request = { method: Target["method"]; path: string; body?: string; headers: Record<string, string> };

process.on("message", (job: LoadJob | PacedJob) => {
	const running: Promise<unknown> = "perSecond" in job ? pace(job) : run(job);
	running.then(
		(result) => process.send?.({ result }),
		(error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
	);
});
process.on("disconnect", () => process.exit());

async function run(job: LoadJob): Promise<LoadResult> {
	const { origin, connections, targets } = job;
	const requests = targets.map(toRequest);
	const durations: number[] = [];
	let answers = 0;
	let firstAt = 0;
	let lastAt = 0;
	const cpuBefore = process.cpuUsage();
	const startedAt = performance.now();
	const common = { url: origin, connections, timeout: 30, sampleInt: 100, excludeErrorStats: true };
	const options = "once" in job ? { ...common, ...once(requests) } : { ...common, ...inTurn(requests, connections), duration: job.seconds };
	const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
	const tracker = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
	const countedFrom = "once" in job ? 0 : startedAt + OPENING_MS;
	tracker.on("response", (_client, _status, _bytes, milliseconds) => {
		lastAt = performance.now();
		answers++;
		if (lastAt < countedFrom) return;
		if (durations.length === 0) firstAt = lastAt;
		durations.push(milliseconds);
	});
	const { statusCodeStats = {}, errors } = await promise;
	const { user, system } = process.cpuUsage(cpuBefore);
	const sorted = Float64Array.from(durations).sort();
	return {
		answers,
		perSecond: (durations.length - 1) / ((lastAt - firstAt) / 1_000),
		p50: quantile(sorted, 0.5),
		p99: quantile(sorted, 0.99),
		statuses: Object.fromEntries(Object.entries(statusCodeStats).map(([status, { count = 0 }]) => [status, count])),
		errors,
		ownCpu: (user + system) / 1_000 / (performance.now() - startedAt),
	};
}

function toRequest({ method, path, body, headers }: Target): Request {
	const type = body === undefined ? {} : { "content-type": "application/json" };
	return { method, path, ...(body !== undefined && { body }), headers: { ...type, ...headers } };
}

/** Connections that started at the same place would all ask for the same at the same time. */
function inTurn(requests: readonly Request[], connections: number) {
	let opened = 0;
	return {
		requests: requests.slice(0, 1),
		setupClient(client: autocannon.Client) {
			const start = Math.floor((requests.length * (opened++ % connections)) / connections);
			client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
		},
	};
}

function once(requests: readonly Request[]) {
	let next = 0;
	return {
		amount: requests.length,
		requests: [{ setupRequest: (request: object) => ({ ...request, ...requests[next++ % requests.length] }) }],
	};
}
