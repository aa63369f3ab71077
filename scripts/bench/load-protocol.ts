/** What the benchmark and its load process say to each other. */
export type Target = { method: "GET" | "POST"; path: string; body?: string; headers?: Record<string, string> };

type Load = {
	origin: string;
	/** Requests, in turn. */
	targets: readonly Target[];
	connections: number;
};

/** Each connection sends its next request when the last is answered. */
export type LoadJob = Load &
	(
		| {
				/** Every connection goes round all targets, each from another start, for so many seconds. */
				seconds: number;
		  }
		| {
				/** Every target is requested once, by whichever connection is free. */
				once: true;
		  }
	);

/** Requests become due at a constant rate, whatever the server does; one that finds no free connection waits for it. */
export type PacedJob = Load & { perSecond: number; seconds: number; status: number };

export type LoadResult = {
	/** Answers. */
	answers: number;
	perSecond: number;
	/** Milliseconds. */
	p50: number;
	p99: number;
	/** Answers by status. */
	statuses: Record<string, number>;
	/** Requests without an answer. */
	errors: number;
	/** The part of a core that the load process itself used. */
	ownCpu: number;
};

export type PacedResult = {
	/** Of each request, the milliseconds from when it was due to the end of its answer. */
	latencies: number[];
	/** Of each request, the milliseconds by which it was sent too late: the load process's own fault. */
	delays: number[];
	/** Requests without an answer, or with another status. */
	errors: number;
};
