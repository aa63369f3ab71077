/** Answers that several parts share. Bodies follow the interface's `error` shape. */

const JSON_HEADERS = { "content-type": "application/json" } as const;

export function jsonResponse(body: unknown, status = 200, headers?: Record<string, string>): Response {
	return new Response(JSON.stringify(body), { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } });
}

/** The answer to a key that is missing, unknown or no longer valid. */
export function unauthorized(headers?: Record<string, string>): Response {
	return jsonResponse({ error: "Unauthorized" }, 401, headers);
}

export function notFound(): Response {
	return jsonResponse({ error: "Not found" }, 404);
}

/** The answer to a method that the path does not take. @param allow those that it takes, with commas between them */
export function methodNotAllowed(allow: string, headers?: Record<string, string>): Response {
	return jsonResponse({ error: "Method not allowed" }, 405, { ...headers, allow });
}

/** A request that ends with a known answer: thrown by verbs, turned into the answer by the route that called. */
export class HttpError extends Error {
	override readonly name = "HttpError";
	readonly status: number;
	readonly body: Record<string, unknown>;

	constructor(status: number, body: Record<string, unknown>) {
		super(typeof body.error === "string" ? body.error : `HTTP ${status}`);
		this.status = status;
		this.body = body;
	}
}

/** 412: it is another, or in another state, than was taken for granted. Nothing was changed. (409 asks whether something is meant.) */
export function conflict(message: string, more: Record<string, unknown> = {}): HttpError {
	return new HttpError(CONFLICT, { error: "Conflict", message, ...more });
}

const CONFLICT = 412;

export function isConflict(error: unknown): error is HttpError {
	return error instanceof HttpError && error.status === CONFLICT;
}
