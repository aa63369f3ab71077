/** Revaluations asked of the Worker. */
import { exports } from "cloudflare:workers";
import * as v from "valibot";
import { type Adjusted, adjustedSchema } from "../../src/adjustments/adjustment-answer.ts";
import { OPERATOR_HEADERS } from "./network-import.ts";

export function postRevalue(body: object, query = ""): Promise<Response> {
	return exports.default.fetch(`https://base.example/operator/rates/revalue${query}`, {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify({ currency: "EUR", from: "2026-11-10", to: "2026-11-11", text: "corrected", ...body }),
	});
}

/** A revaluation that must be made, as far as one request does it. */
export async function revalue(body: object = {}, query = ""): Promise<Adjusted> {
	const response = await postRevalue(body, query);
	if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
	return v.parse(adjustedSchema, await response.json());
}
