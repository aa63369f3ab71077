/** Adjustments asked of the Worker. */
import { exports } from "cloudflare:workers";
import * as v from "valibot";
import { type Adjusted, type AdjustmentPage, adjustedSchema, adjustmentPageSchema } from "../../src/adjustments/adjustment-answer.ts";
import { OPERATOR_HEADERS } from "./network-import.ts";

const URL_OF_ALL = "http://origin.example/operator/adjustments";

export function postAdjustment(body: object, query = ""): Promise<Response> {
	const request = { text: "a test", ...body };
	return exports.default.fetch(`${URL_OF_ALL}${query}`, { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify(request) });
}

/** A verb of /operator/conversions. */
export function postVerb(platform: string, txnid: string, verb: string, body: object): Promise<Response> {
	const url = `http://origin.example/operator/conversions/${encodeURIComponent(platform)}/${encodeURIComponent(txnid)}/${verb}`;
	return exports.default.fetch(url, { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify({ text: "a test", ...body }) });
}

/** An adjustment that must be made, to its end. */
export async function adjust(body: object, query = ""): Promise<Adjusted> {
	const response = await postAdjustment(body, query);
	if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
	return v.parse(adjustedSchema, await response.json());
}

export const preview = (body: object) => adjust(body, "?dry_run=1");

export async function listAdjustments(query = ""): Promise<AdjustmentPage> {
	const response = await exports.default.fetch(`${URL_OF_ALL}${query}`, { headers: OPERATOR_HEADERS });
	return v.parse(adjustmentPageSchema, await response.json());
}
