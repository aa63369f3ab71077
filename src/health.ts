/** Answers `/health` and `/ready`, which every Worker has, before any router: the edge has none. */
import { answerFault } from "./lib/answer-fault.ts";
import { jsonResponse, methodNotAllowed } from "./lib/http.ts";
import { isPathAt, pathStartOf } from "./lib/request-url.ts";

/** What `/ready` answers. */
export type Readiness = readonly [status: 200 | 503, body: Readonly<Record<string, unknown>>];

/** No cache answers for a Worker. */
const NEVER_KEPT = { "cache-control": "no-store" } as const;

/**
 * Null for other paths.
 * @param isReady what `/ready` says
 */
export function routeHealth(request: Request, isReady: () => Promise<Readiness>): Response | Promise<Response> | null {
	const { method, url } = request;
	const start = pathStartOf(url);
	const asksReadiness = isPathAt(url, start, "/ready", false);
	if (!asksReadiness && !isPathAt(url, start, "/health", false)) return null;
	if (method !== "GET" && method !== "HEAD") return methodNotAllowed("GET, HEAD");
	const answer = ([status, body]: Readiness) => {
		const response = jsonResponse(body, status, NEVER_KEPT);
		return method === "HEAD" ? new Response(null, response) : response;
	};
	if (!asksReadiness) return answer([200, { status: "ok" }]);
	return isReady().then(answer, (error: unknown) => answerFault(error, request));
}
