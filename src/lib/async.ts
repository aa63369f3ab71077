/** What outlives an answer, and what must not outlast a time. */

/** Keeps the Worker running for work after an answer, as an ExecutionContext does. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/**
 * What a promise comes to, or `late` where that takes longer than `timeoutMs` milliseconds. The promise then continues, and a
 * rejection that comes too late is ignored.
 */
export function within<Value, Late = Value>(promise: Promise<Value>, timeoutMs: number, late: Late): Promise<Value | Late> {
	const first = Promise.withResolvers<Value | Late>();
	const timer = setTimeout(first.resolve, timeoutMs, late);
	promise.then(first.resolve, first.reject);
	// In a continuation of a promise that was made here: where `promise` is another request's, its own would run in that request,
	// which cannot clear this one's timer.
	return first.promise.then(
		(value) => {
			clearTimeout(timer);
			return value;
		},
		(error: unknown) => {
			clearTimeout(timer);
			throw error;
		},
	);
}
