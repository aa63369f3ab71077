/** POST /operator/explain: what a request would get, and why. */
import * as v from "valibot";
import { HttpError } from "../lib/http.ts";

const text = v.pipe(v.string(), v.nonEmpty());
const bodySchema = v.union([
	v.object({ publisher_identity: text, request: v.unknown() }),
	v.object({ publisher_id: text, query: v.record(v.string(), v.string()) }),
]);

export type ExplainQuestion =
	| { endpoint: "openrtb"; identity: string; request: unknown }
	| { endpoint: "serving-engine"; publisherId: string; query: Record<string, string> };

/** Reads the body of an explain request. @throws HttpError 422 where it is neither of the two forms */
export function readExplainBody(body: unknown): ExplainQuestion {
	const result = v.safeParse(bodySchema, body);
	if (!result.success) {
		throw new HttpError(422, {
			error: "Validation failed",
			faults: [
				{
					path: "",
					message:
						"must hold publisher_identity and request (an OpenRTB bid request), or publisher_id and query (an object of Serving Engine parameters)",
				},
			],
			fault_count: 1,
		});
	}
	const { output } = result;
	return "request" in output
		? { endpoint: "openrtb", identity: output.publisher_identity, request: output.request }
		: { endpoint: "serving-engine", publisherId: output.publisher_id, query: output.query };
}
