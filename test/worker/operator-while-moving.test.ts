/** What operators may ask while the network database is being moved: all that reads. */
import { Hono } from "hono";
import { expect, it } from "vitest";
import { OPERATOR_API } from "../../src/api-docs/operations/all.ts";
import { operatorRoutes } from "../../src/operator/routes.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";

const VERBS = ["/explain", "/trace", "/check-ledger", "/keys", "/database", "/status", "/adjustments"];

const operator = new Hono().route(
	"/operator",
	operatorRoutes({
		operatorKey: OPERATOR_HEADERS.OperatorKey,
		findOperator: () => Promise.resolve(null),
		failedKeys: { count: () => Promise.resolve() },
		operations: OPERATOR_API.operations,
		now: () => Date.now(),
		isHeld: () => Promise.resolve(true),
		verbs: Object.fromEntries(VERBS.map((path) => [path, new Hono().all("*", (c) => c.text("done"))])),
	}),
);

it.each([
	["GET", "/status", 200],
	["HEAD", "/status", 200],
	["GET", "/adjustments", 200],
	["POST", "/explain", 200],
	["POST", "/trace", 200],
	["POST", "/check-ledger", 200],
	["POST", "/keys/list", 200],
	["POST", "/database/move", 200],
	["POST", "/keys/issue", 503],
	["POST", "/keys/revoke", 503],
	["POST", "/adjustments", 503],
])("%s %s is answered %i", async (method, path, status) => {
	const response = await operator.request(`/operator${path}`, { method, headers: OPERATOR_HEADERS });
	expect(response.status).toBe(status);
});
