/** What stands before the operator's verbs: whose key a request carries, and whether its role is the one that the operation takes. */
import { type Context, Hono } from "hono";
import { actorOf, BREAK_GLASS, mayAct } from "../http/actor.ts";
import { answerHttpError, invalidInput } from "../http/errors.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { GIVEN_TWICE, limitBody } from "../http/read-input.ts";
import { suggest } from "../http/suggest.ts";
import type { OperatorRole } from "../lib/access-enums.ts";
import type { WaitUntil } from "../lib/async.ts";
import { equalSecrets } from "../lib/bytes.ts";
import { HttpError, jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { SLOW_BODY_MS } from "../lib/read-capped.ts";
import { requestIdOf, withBody } from "../lib/request-id.ts";
import { type DeclaredOperation, operationTable } from "./role-table.ts";

type Operator = { name: string; role: OperatorRole };

export type OperatorDeps = {
	/** A secret that the OperatorKey header may hold, of an admin; undefined where there are only the keys that were issued. */
	operatorKey: string | undefined;
	/** Whose operator key this is; null where it is none that is valid. */
	findOperator: (key: string, waitUntil: WaitUntil) => Promise<Operator | null>;
	failedKeys: Pick<FailedKeys, "count">;
	/** Every operation, as it is described, with the role that it takes. */
	operations: readonly DeclaredOperation[];
	now: () => number;
	/** Whether the network database takes no writes, since it is being moved. */
	isHeld: () => Promise<boolean>;
	/** The verbs, by the path under /operator at which they stand. */
	verbs: Record<string, Hono>;
};

/** Cloudflare takes no larger request body on most plans. */
export const MAX_FILE_BYTES = 95 * 1024 * 1024;
export const MAX_EXPLAIN_BYTES = 1024 * 1024;
/** Of a platform's statement: some 100,000 rows. */
export const MAX_STATEMENT_BYTES = 16 * 1024 * 1024;
/** Of one entry of the network file. */
export const MAX_ENTRY_BYTES = 1024 * 1024;
/** Of every verb that takes no more than a few fields. */
export const MAX_SMALL_BYTES = 16 * 1024;

/** Of the others. */
const MAX_BODY_BYTES: Readonly<Record<string, number>> = {
	"/network": MAX_FILE_BYTES,
	"/products": MAX_FILE_BYTES,
	"/seller-products": MAX_FILE_BYTES,
	"/explain": MAX_EXPLAIN_BYTES,
	"/reconcile": MAX_STATEMENT_BYTES,
	"/platforms": MAX_ENTRY_BYTES,
	"/publishers": MAX_ENTRY_BYTES,
	"/brands": MAX_ENTRY_BYTES,
	"/campaigns": MAX_ENTRY_BYTES,
};

/** Feeds answer as the interface's other uploads do, by field. */
const IN_OWN_WORDS: ReadonlySet<string> = new Set(["/products", "/seller-products"]);

/** What comes in files is taken over as it comes. */
const IN_STREAMS: ReadonlySet<string> = new Set(["/network", "/products", "/seller-products"]);

declare module "hono" {
	interface ContextVariableMap {
		/** When it was looked up whose key the request carries. */
		keyReadAt: number;
	}
}

/** Methods that only read, as HEAD does, which is answered as GET is. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/** POSTs that only read; and the move itself. */
const NEVER_HELD: ReadonlySet<string> = new Set(
	["explain", "trace", "check-ledger", "keys/list", "database/move"].map((path) => `/operator/${path}`),
);

/** When to try again, seconds: a move takes minutes. */
const HELD_SECONDS = "60";
const HELD =
	"The network database is being moved, and takes no writes until the network has switched, or the move is cancelled: operator database move";

export function operatorRoutes(deps: OperatorDeps): Hono {
	const { isHeld, verbs } = deps;
	const { operationOf, methodsOf } = operationTable(deps.operations);
	const app = new Hono();
	app.use("*", async (c, next) => {
		c.set("keyReadAt", deps.now());
		const given = c.req.header("OperatorKey");
		const operator = given === undefined ? null : await identify(deps, given, (promise) => c.executionCtx.waitUntil(promise));
		if (operator === null) return refuseKey(deps, c, given);
		const operation = operationOf(c.req.method, c.req.path);
		// What is not described is not there: no verb is reached without a role.
		if (operation === null) {
			const allow = methodsOf(c.req.path);
			return allow === "" ? c.notFound() : methodNotAllowed(allow);
		}
		if (!mayAct(operator.role, operation.role)) return forbidden(operator, operation.role);
		c.set("actor", { ...operator, requestId: requestIdOf(c.req.raw, deps.now()) });
		return next();
	});
	for (const [path, verb] of Object.entries(verbs)) {
		app.use(`${path}/*`, async (c, next) => {
			const mayWrite = !READING.has(c.req.method) && !NEVER_HELD.has(c.req.path);
			if (mayWrite && (await isHeld())) return jsonResponse({ error: HELD }, 503, { "retry-after": HELD_SECONDS });
			return next();
		});
		app.use(`${path}/*`, limitBody(MAX_BODY_BYTES[path] ?? MAX_SMALL_BYTES));
		app.use(`${path}/*`, async (c, next) => {
			const { raw } = c.req;
			if (raw.body === null) return next();
			const { requestId } = actorOf(c);
			if (IN_STREAMS.has(path)) {
				const checked = raw.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ flush: () => assertStillValid(deps, c) }));
				c.req.raw = withBody(raw, checked, requestId);
			} else {
				c.req.raw = withBody(raw, await raw.arrayBuffer(), requestId);
				await assertStillValid(deps, c);
			}
			return next();
		});
		if (!IN_OWN_WORDS.has(path)) {
			app.use(`${path}/*`, (c, next) => {
				refuseQuery(c.req.queries(), operationOf(c.req.method, c.req.path)?.query ?? []);
				return next();
			});
		}
		app.route(path, verb);
	}
	app.onError(answerHttpError);
	return app;
}

/**
 * A mistyped dry_run would do what it was to preview, and a mistyped filter show what it was to leave out; so would the other value of one
 * that is given twice.
 * @throws HttpError 422 that names them
 */
function refuseQuery(query: Record<string, string[]>, known: readonly string[]): void {
	const faults = Object.entries(query).flatMap(([name, values]) => {
		if (!known.includes(name)) return [{ path: name, message: `is not a known field${suggest(name, known)}` }];
		return values.length > 1 ? [{ path: name, message: GIVEN_TWICE }] : [];
	});
	if (faults.length > 0) throw invalidInput(faults);
}

/** Whose key it is. That of OPERATOR_KEY asks no database: it opens where the database does not answer, too. */
async function identify({ operatorKey, findOperator }: OperatorDeps, given: string, waitUntil: WaitUntil): Promise<Operator | null> {
	if (operatorKey !== undefined && (await equalSecrets(given, operatorKey))) return { name: BREAK_GLASS, role: "admin" };
	return findOperator(given, waitUntil);
}

/** However long a body is held back: nothing is done by a key that was revoked meanwhile. @throws HttpError 401 */
async function assertStillValid(deps: OperatorDeps, c: Context): Promise<void> {
	if (deps.now() - c.get("keyReadAt") < SLOW_BODY_MS) return;
	const operator = await identify(deps, c.req.header("OperatorKey") ?? "", (promise) => c.executionCtx.waitUntil(promise));
	if (operator === null) throw new HttpError(401, { error: "Unauthorized" });
}

/** Without OPERATOR_KEY there is nothing here for whoever holds no operator key. */
async function refuseKey({ operatorKey, failedKeys }: OperatorDeps, c: Context, given: string | undefined): Promise<Response> {
	if (operatorKey !== undefined) return unauthorized();
	if (given !== undefined) await failedKeys.count(c.req.raw);
	return c.notFound();
}

function forbidden({ name, role }: Operator, needed: OperatorRole): Response {
	const message = `The key of ${name} has the role ${role}; this takes the role ${needed}.`;
	return jsonResponse({ error: "Forbidden", message }, 403);
}
