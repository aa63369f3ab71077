/** Why requests get no bid: the counts of the last hours, and a request tried, as those who write an adapter need it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { HttpError } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import { utf8 } from "../../lib/utf8.ts";
import { MAX_EXPLAIN_BYTES } from "../../publisher-api/explain-own.ts";
import { readNoBids, readNoBidsQuery } from "../../publisher-api/no-bids.ts";
import { tryOwn } from "../../publisher-api/try-own.ts";
import { ExplainedBid } from "../explained-bid.tsx";
import { formFaults } from "../form-faults.ts";
import { page, view } from "../page.ts";
import { isStaff } from "../session/sessions.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty, Faults } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { Count, inWords, Time } from "../ui/values.tsx";
import { newestFirst, ORDER_FILTER } from "./list-order.ts";
import { ownPublisher } from "./own-publisher.ts";
import { TriedBid } from "./tried-bid.tsx";

const PATH = "/console/no-bids";
const TRY_PATH = `${PATH}/try`;
const LABELS = { request: "Request" };

export const NO_BIDS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Why no bid",
		async handle({ deps, publisher, person, query, now }) {
			const { data, next_cursor } = await readNoBids(deps.db, publisher.id, readNoBidsQuery(newestFirst(query), now));
			return (
				<>
					{isStaff(person.role) ? (
						<p>
							The publisher's own people try a request here; <a href="/console/operator/explain">you see why</a> it gets what it gets.
						</p>
					) : publisher.status === "suspended" ? null : (
						<TryForm />
					)}
					<h2>Your requests, by hour</h2>
					<Filters
						path={PATH}
						query={query}
						filters={[{ kind: "date", name: "from", label: "From" }, { kind: "date", name: "to", label: "To" }, ORDER_FILTER]}
					/>
					<Table
						caption={`Requests by hour, the ${newestFirst(query).order} first${query.from || query.to ? "" : "; of the last 24 hours"}`}
						columns={[
							{ head: "Hour", cell: ({ hour }) => <Time at={hour} /> },
							{ head: "Requests", kind: "number", cell: ({ requests }) => <Count of={requests} /> },
							{ head: "Bids", kind: "number", cell: ({ bids }) => <Count of={bids} /> },
							{ head: "No bids", kind: "number", cell: ({ no_bids }) => <Count of={no_bids} /> },
							{
								head: "Why",
								cell: ({ reasons }) => (
									<ul class="plain">
										{reasons.map(({ reason, count }) => (
											<li>
												{inWords(reason)}: <Count of={count} />
											</li>
										))}
									</ul>
								),
							},
						]}
						rows={data}
						empty={
							<Empty title="No request was counted in this time">
								<p>A request is counted within about a minute. Without any, your identity or id may be missing in it.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
	// Changes nothing: by POST, since a request is too long for an address.
	page({
		method: "POST",
		path: TRY_PATH,
		needs: { publisher: "analyst", active: true },
		title: "Why no bid",
		maxBytes: 4 * MAX_EXPLAIN_BYTES,
		async handle({ c, deps, publisher, form }) {
			const request = form.get("request") ?? "";
			if (utf8(request).byteLength > MAX_EXPLAIN_BYTES) throw new HttpError(413, { error: "Payload too large" });
			try {
				const owner = await ownPublisher(deps, publisher);
				const waitUntil = (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
				const tried = await tryOwn(deps.publisherApi.bidding, owner, bodyOf(request), waitUntil);
				return view(
					{ mayReturn: true },
					<>
						<ExplainedBid explanation={tried.explanation} />
						<TriedBid tried={tried} />
						<TryForm request={request} />
					</>,
				);
			} catch (error) {
				const faults = formFaults(error);
				return view({ status: 422 }, <TryForm request={request} faults={faults} />);
			}
		},
	}),
];

/** A Serving Engine's address or query is as good as a bid request. */
function bodyOf(request: string): string {
	const text = request.trim();
	if (parseJson(text) !== undefined) return text;
	const query = text.includes("?") ? text.slice(text.indexOf("?") + 1) : text;
	return query.includes("=") ? JSON.stringify({ query }) : text;
}

function TryForm({ request = "", faults = [] }: { request?: string; faults?: readonly Fault[] }): JSX.Element {
	const ofRequest = faults.map(({ message }) => ({ path: "request", message }));
	return (
		<form method="post" action={TRY_PATH} class="stack">
			<Faults title="The request was not tried" faults={ofRequest} labels={LABELS} />
			<Field
				kind="long"
				name="request"
				label={LABELS.request}
				value={request}
				hint="An OpenRTB bid request, or the address or query of a Serving Engine request. It is asked with your own identity, and is not counted."
				faults={ofRequest}
				required
			/>
			<div class="buttons">
				<button type="submit">Try it</button>
			</div>
		</form>
	);
}
