/** What stands before the operator's verbs: they exist only where a secret is set, and every request must carry it. */
import { Hono } from "hono";
import { BREAK_GLASS } from "../http/actor.ts";
import { answerHttpError } from "../http/errors.ts";
import { limitBody, refuseQuery } from "../http/read-input.ts";
import { equalSecrets } from "../lib/bytes.ts";
import { jsonResponse, unauthorized } from "../lib/http.ts";
import { requestIdOf } from "../lib/request-id.ts";

export type OperatorDeps = {
	/** The secret that the OperatorKey header must hold. */
	operatorKey: string;
	now: () => number;
	/** Whether the network database takes no writes, since it is being moved. */
	isHeld: () => Promise<boolean>;
	/** The verbs, by the path under /operator at which they stand. */
	verbs: Record<string, Hono>;
};

/** Cloudflare takes no larger request body on most plans. */
export const MAX_FILE_BYTES = 95 * 1024 * 1024;
export const MAX_EXPLAIN_BYTES = 1024 * 1024;
/** Of every verb that takes no more than a few fields. */
export const MAX_SMALL_BYTES = 16 * 1024;

/** Of the others. */
const MAX_BODY_BYTES: Readonly<Record<string, number>> = {
	"/network": MAX_FILE_BYTES,
	"/products": MAX_FILE_BYTES,
	"/seller-products": MAX_FILE_BYTES,
	"/explain": MAX_EXPLAIN_BYTES,
};

/** Verbs that read their query, or change nothing: the others are refused with one, which may have been meant to preview them. */
const MAY_HAVE_QUERY: ReadonlySet<string> = new Set([
	...["/products", "/seller-products", "/adjustments", "/rates", "/replay", "/callbacks"],
	...["/explain", "/trace", "/check-ledger"],
]);

/** POSTs that only read, or write to the products database; and the move itself. */
const NEVER_HELD: ReadonlySet<string> = new Set(["/explain", "/trace", "/check-ledger", "/products", "/seller-products", "/database"]);

const HELD =
	"The network database is being moved, and takes no writes until the network has switched, or the move is cancelled: operator database move";

export function operatorRoutes({ operatorKey, now, isHeld, verbs }: OperatorDeps): Hono {
	const app = new Hono();
	app.use("*", async (c, next) => {
		const given = c.req.header("OperatorKey");
		if (given === undefined || !(await equalSecrets(given, operatorKey))) return unauthorized();
		c.set("actor", { name: BREAK_GLASS, role: "admin", requestId: requestIdOf(c.req.raw, now()) });
		return next();
	});
	for (const [path, verb] of Object.entries(verbs)) {
		if (!NEVER_HELD.has(path)) {
			app.use(`${path}/*`, async (c, next) => {
				if (c.req.method !== "GET" && (await isHeld())) return jsonResponse({ error: HELD }, 503);
				return next();
			});
		}
		app.use(`${path}/*`, limitBody(MAX_BODY_BYTES[path] ?? MAX_SMALL_BYTES));
		if (!MAY_HAVE_QUERY.has(path)) app.use(`${path}/*`, refuseQuery);
		app.route(path, verb);
	}
	app.onError(answerHttpError);
	return app;
}
