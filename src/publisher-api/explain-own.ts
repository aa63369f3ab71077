/** POST /api/explain: what a request of one's own would get now, and why, without what is others' affair. */
import * as v from "valibot";
import type { BiddingDeps } from "../bidding/deps.ts";
import { explainBid } from "../bidding/explain.ts";
import type { Explanation } from "../bidding/explain-answer.ts";
import { invalidInput } from "../http/errors.ts";
import type { Publisher } from "../keys/key-owners.ts";
import type { WaitUntil } from "../lib/async.ts";
import { parseJson } from "../lib/json.ts";
import { MAX_BODY_BYTES } from "../openrtb/body-limits.ts";
import { NO_BID_CODES, type NoBidReason } from "../openrtb/no-bid.ts";
import { NO_BID_REASONS } from "../openrtb/no-bid-reasons.ts";
import { type OwnExplanation, tellReason } from "./explain-answer.ts";

const querySchema = v.strictObject({ query: v.pipe(v.string(), v.description("`bd=…&cc=…`, without `pubi`.")) });

/** As long as a bid request may be. */
export const MAX_EXPLAIN_BYTES = MAX_BODY_BYTES;

/** What may be sent, for the description. */
export const explainRequestSchema = v.union([
	querySchema,
	v.looseObject({ id: v.pipe(v.string(), v.description("An OpenRTB bid request.")) }),
]);

/** A Serving Engine's query, or an OpenRTB bid request. @throws HttpError 422 for a body that is neither */
export async function explainOwn(deps: BiddingDeps, publisher: Publisher, body: string, waitUntil: WaitUntil): Promise<OwnExplanation> {
	const request = parseJson(body);
	if (typeof request !== "object" || request === null || Array.isArray(request)) {
		throw invalidInput([{ path: "", message: 'must be an OpenRTB bid request, or hold a Serving Engine query: {"query": "bd=…&cc=…"}' }]);
	}
	if (!("query" in request)) {
		return show(await explainBid(deps, { endpoint: "openrtb", identity: publisher.publisherIdentity, request, text: body }, waitUntil));
	}
	const read = v.safeParse(querySchema, request);
	if (!read.success) throw invalidInput([{ path: "query", message: "must be a text, and alone" }]);
	const { query } = read.output;
	return show(await explainBid(deps, { endpoint: "serving-engine", publisherId: publisher.publisherId, query }, waitUntil));
}

function show({ endpoint, decision, privacy, candidates }: Explanation): OwnExplanation {
	return {
		endpoint,
		decision:
			decision.outcome === "no-bid" ? { outcome: "no-bid", ...explain(decision.reason), code: NO_BID_CODES[decision.reason] } : decision,
		privacy,
		candidates: candidates.map(({ reason, explanation, ...candidate }) => ({
			...candidate,
			...(reason === null ? { reason, explanation } : explain(reason)),
		})),
	};
}

function explain(reason: NoBidReason): { reason: ReturnType<typeof tellReason>; explanation: string } {
	const told = tellReason(reason);
	return { reason: told, explanation: told === "not_available_now" ? "the campaign takes no bids now" : NO_BID_REASONS[told].text };
}
