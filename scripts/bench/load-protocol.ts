/** What the benchmark and its load process say to each other. */
export type Target = { method: "GET" | "POST"; path: string; body?: string; headers?: Record<string, string> };

export type LoadJob = {
	origin: string;
	/** Requests, in turn. */
	targets: readonly Target[];
	connections: number;
} & (
	| {
			/** Every connection goes round all targets, each from another start, for so many seconds. */
			seconds: number;
	  }
	| {
			/** Every target is requested once, by whichever connection is free. */
			once: true;
	  }
);

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
