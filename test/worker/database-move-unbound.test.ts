/** POST /operator/database/move where only one database is bound. */
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { OPERATOR_HEADERS } from "../support/network-import.ts";

it.each([{}, { cancel: true }])("%j names the guide that says how to bind both", async (body) => {
	const response = await exports.default.fetch("https://base.example/operator/database/move", {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify(body),
	});
	expect([response.status, await response.json()]).toEqual([
		412,
		{ error: "a move needs both bindings, DB and POSTGRES: see docs/operations/postgresql.md" },
	]);
});
