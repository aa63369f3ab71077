import { newTimeOrderedId } from "./ids.ts";

const ids = new WeakMap<Request, string>();

/**
 * The id of a request: made here, because what a caller sends proves nothing. It is answered as `x-request-id`, stands in the log
 * where the request fails, and is the id of a postback's row in the intake ledger, from which a trace leads on.
 */
export function requestIdOf(request: Request, now: number): string {
	const known = ids.get(request);
	if (known !== undefined) return known;
	const id = newTimeOrderedId(now);
	ids.set(request, id);
	return id;
}

/** A request with its body in another form: it keeps its id. */
export function withBody(request: Request, body: BodyInit, id: string): Request {
	const same = new Request(request, { body });
	ids.set(same, id);
	return same;
}

/** What every answer of the origin carries: the request's id, and a word to browsers not to guess at its type. */
export function originHeaders(request: Request, now: number): Record<string, string> {
	return { "x-request-id": requestIdOf(request, now), "x-content-type-options": "nosniff" };
}
