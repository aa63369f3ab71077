/** What a request would get, and why: for any publisher, with everything that counts. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { explainSchema, explainWithPrices } from "../../bidding/explain-route.ts";
import { readInput } from "../../http/read-input.ts";
import { HttpError } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import { utf8 } from "../../lib/utf8.ts";
import { explainPrices } from "../../operator/learning/explain-prices.ts";
import { ExplainedBid } from "../explained-bid.tsx";
import { formFaults } from "../form-faults.ts";
import { page, view } from "../page.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults } from "../ui/messages.tsx";
import { ExplainedPrices } from "./explained-prices.tsx";

const PATH = "/console/operator/explain";
const LABELS = { who: "Publisher Identity or Publisher Id", request: "Request" };
/** As of the endpoint. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Escaped in a form. */
const MAX_BYTES = 4 * MAX_REQUEST_BYTES;

export const EXPLAIN_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Explain a bid",
		handle: ({ query }) => <Form who={query.who ?? ""} request={query.request ?? ""} />,
	}),
	// Changes nothing: by POST, since a request is too long for an address.
	page({
		method: "POST",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Explain a bid",
		maxBytes: MAX_BYTES,
		async handle({ c, deps, form, now }) {
			const who = (form.get("who") ?? "").trim();
			const request = (form.get("request") ?? "").trim();
			if (utf8(request).byteLength > MAX_REQUEST_BYTES) throw new HttpError(413, { error: "Payload too large" });
			try {
				const input = readInput(explainSchema, questionOf(who, request), {
					path: "request",
					message: "must be an OpenRTB bid request with a Publisher Identity, or a Serving Engine query with a Publisher Id",
				});
				const explanation = await explainWithPrices(
					deps.publisherApi.bidding,
					(asked) => explainPrices(deps.db, asked, now),
					input,
					(promise) => c.executionCtx.waitUntil(promise),
				);
				return view(
					{ mayReturn: true },
					<>
						<ExplainedBid explanation={explanation} campaignOf={(id) => <a href={`/console/operator/campaigns/${id}`}>{id}</a>} />
						{explanation.prices === undefined ? null : <ExplainedPrices prices={explanation.prices} />}
						<Form who={who} request={request} />
					</>,
				);
			} catch (error) {
				return view({ status: 422 }, <Form who={who} request={request} faults={formFaults(error)} />);
			}
		},
	}),
];

/** A bid request is JSON; all else is a Serving Engine's address or query. */
function questionOf(who: string, request: string): unknown {
	const body = parseJson(request);
	if (body !== undefined) return { publisher_identity: who, request: body };
	if (!request.includes("=")) return null;
	const query = request.slice(request.indexOf("?") + 1);
	return { publisher_id: who || (new URLSearchParams(query).get("pubi") ?? ""), query };
}

function Form({ who, request, faults = [] }: { who: string; request: string; faults?: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={PATH} class="stack">
			<Faults title="The request was not explained" faults={faults} labels={LABELS} />
			<Field name="who" label={LABELS.who} value={who} hint="The identity for OpenRTB, the id for the Serving Engine" />
			<Field
				kind="long"
				name="request"
				label={LABELS.request}
				value={request}
				hint="An OpenRTB bid request, or the address or query of a Serving Engine request. Nothing is counted."
				faults={faults}
				required
			/>
			<div class="buttons">
				<button type="submit">Explain</button>
			</div>
		</form>
	);
}
