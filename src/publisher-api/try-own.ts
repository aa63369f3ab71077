/** What a publisher's own code would be answered, beside why: for those who write an adapter. */
import type { BiddingDeps } from "../bidding/deps.ts";
import { queryAs } from "../bidding/explain.ts";
import { routeBid } from "../bidding/routes.ts";
import type { Publisher } from "../keys/key-owners.ts";
import type { WaitUntil } from "../lib/async.ts";
import { parseJson } from "../lib/json.ts";
import type { OwnExplanation } from "./explain-answer.ts";
import { explainOwn } from "./explain-own.ts";

export type Tried = {
	explanation: OwnExplanation;
	/** As the endpoint gives it. Of an OpenRTB request it is that of the same request with `test` 1: its link pays nothing. */
	answer: { status: number; headers: readonly (readonly [name: string, value: string])[]; body: string };
	/** Where the bid's `adm` leads; null without one. */
	link: string | null;
};

/** Nobody asks this host: a handler only needs an address. */
const ORIGIN = "https://try.invalid";

/**
 * Explains a request and has it answered, without counting either.
 * @param body as {@link explainOwn} takes it
 * @throws HttpError 422 for a body that is neither a bid request nor a query
 */
export async function tryOwn(deps: BiddingDeps, publisher: Publisher, body: string, waitUntil: WaitUntil): Promise<Tried> {
	const explanation = await explainOwn(deps, publisher, body, waitUntil);
	const request = requestOf(explanation, publisher, body);
	const response = await routeBid({ ...deps, measure: undefined, counts: undefined }, request, request.url, waitUntil);
	if (response === null) throw new Error(`${request.url} is no endpoint's`);
	const text = await response.text();
	return {
		explanation,
		answer: { status: response.status, headers: [...response.headers], body: text },
		link: linkOf(parseJson(text)),
	};
}

function requestOf({ endpoint }: OwnExplanation, publisher: Publisher, body: string): Request {
	if (endpoint === "openrtb") {
		return new Request(`${ORIGIN}/openrtb/${publisher.publisherIdentity}`, { method: "POST", body: asTest(body) });
	}
	const { query } = parseJson(body) as { query: string };
	return new Request(`${ORIGIN}/serving-engine?${queryAs(publisher.publisherId, query)}`);
}

/** The text of an object with `test` 1 as its last member, which counts: written again it might nest too deep for that. */
function asTest(object: string): string {
	const inner = object.trim().slice(0, -1);
	return `${inner}${inner.trim() === "{" ? "" : ","}"test":1}`;
}

type Fill = { seatbid?: { bid?: { adm?: string }[] }[] };
type Adm = { native?: { link?: { url?: string } } };

function linkOf(answer: unknown): string | null {
	const adm = (answer as Fill | undefined)?.seatbid?.[0]?.bid?.[0]?.adm;
	return adm === undefined ? null : ((parseJson(adm) as Adm).native?.link?.url ?? null);
}
