/** Sends the request of a golden case to the Worker and compares the whole answer. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { expect } from "vitest";
import { explanationSchema } from "../../../src/bidding/explain-answer.ts";
import { gzip } from "../gzip.ts";
import { DEFAULT_NOW, setNow } from "../load-network.ts";
import type { GoldenCase } from "./case.ts";
import { expectedBody } from "./expected-body.ts";
import { normaliseBody } from "./normalise.ts";

const ORIGIN = "http://rtb.example";

export async function runCase(golden: GoldenCase): Promise<void> {
	setNow(golden.now ?? DEFAULT_NOW);
	const response = await exports.default.fetch(await requestOf(golden));
	const body = await response.text();
	expect({ status: response.status, body: response.status === golden.expect.status ? "" : body }).toEqual({
		status: golden.expect.status,
		body: "",
	});
	for (const [name, value] of Object.entries(headersOf(golden))) expect(response.headers.get(name), `header ${name}`).toBe(value);
	const expected = expectedBody(golden);
	if (expected === null) expect(body).toBe("");
	else if (expected !== undefined) expect(await normaliseBody(JSON.parse(body), expected)).toEqual(expected);
	if (golden.expect.reason !== undefined) expect(await explain(golden)).toBe(golden.expect.reason);
}

/** The request of a case. */
export async function requestOf(golden: GoldenCase): Promise<Request> {
	const { path, query, headers, gzip: zipped } = golden;
	const search = query === undefined ? "" : typeof query === "string" ? query : new URLSearchParams(query).toString();
	const text = golden.raw ?? (golden.request === undefined ? null : JSON.stringify(golden.request));
	const method = golden.method ?? (text === null ? "GET" : "POST");
	const contentType = text === null ? {} : { "content-type": "application/json" };
	return new Request(`${ORIGIN}${path}${search === "" ? "" : `?${search}`}`, {
		method,
		headers: { ...contentType, ...headers },
		body: text === null ? null : zipped ? await gzip(text) : text,
	});
}

/** What a case says of headers, and what every answer of these paths must have. A null header must be missing. */
function headersOf({ path, expect: { status, headers } }: GoldenCase): Record<string, string | null> {
	return {
		"content-type": status === 204 ? null : "application/json",
		"x-openrtb-version": path.startsWith("/openrtb") ? "2.5" : null,
		allow: null,
		...headers,
	};
}

/** The reason of a no-bid, as the operator's explanation of the same request gives it. */
async function explain(golden: GoldenCase): Promise<string> {
	const query = golden.query === undefined ? null : new URLSearchParams(golden.query);
	// A raw body goes in as it stands: some numbers do not survive being parsed and written again.
	const question =
		query === null
			? `{"publisher_identity":${JSON.stringify(golden.path.split("/").at(-1))},"request":${golden.raw ?? JSON.stringify(golden.request)}}`
			: JSON.stringify({ publisher_id: query.get("pubi"), query: Object.fromEntries(query) });
	const response = await exports.default.fetch(`${ORIGIN}/operator/explain`, {
		method: "POST",
		headers: { OperatorKey: env.OPERATOR_KEY, "content-type": "application/json" },
		body: question,
	});
	const { decision } = v.parse(explanationSchema, await response.json());
	return decision.outcome === "no-bid" ? decision.reason : decision.outcome;
}
