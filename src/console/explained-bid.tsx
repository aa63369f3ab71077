/** What a request would get, and what was considered for it: as publishers and operators see it. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Explanation, PRIVACY_REFUSALS } from "../bidding/explain-answer.ts";
import type { OwnExplanation } from "../publisher-api/explain-answer.ts";
import { Facts, Table } from "./ui/table.tsx";
import { Money, State } from "./ui/values.tsx";

/** @param campaignOf a campaign's number, as who looks at it may follow it */
export function ExplainedBid(props: { explanation: Explanation | OwnExplanation; campaignOf?: (id: number) => Child }): JSX.Element {
	const { explanation, campaignOf = String } = props;
	const { decision, endpoint, privacy } = explanation;
	const candidates: readonly Candidate[] = explanation.candidates;
	return (
		<section>
			<h2>What it gets</h2>
			<Facts
				facts={[
					["Answer", <State word={decision.outcome} />],
					["Endpoint", endpoint],
					...(decision.outcome === "bid"
						? ([
								["Brand", decision.domain],
								["Campaign", campaignOf(decision.campaign_id)],
								["Price", <Money usd={decision.price} />],
								["Leads to", decision.is_deeplink ? "the page" : "the homepage"],
							] as const)
						: ([["Why", decision.explanation]] as const)),
					["Privacy", privacy === null ? null : describePrivacy(privacy, decision)],
				]}
			/>
			<Table
				caption="Campaigns that were considered"
				columns={[
					{ head: "Campaign", cell: ({ campaign_id }) => campaignOf(campaign_id) },
					{ head: "Brand", cell: ({ domain }) => domain },
					{ head: "Link", cell: ({ link }) => link },
					{ head: "Price", kind: "money", cell: ({ price }) => <Money usd={price} /> },
					{ head: "State", cell: ({ won, eligible }) => <State word={won ? "won" : eligible ? "eligible" : "refused"} /> },
					{ head: "Why", cell: ({ explanation: why }) => why },
				]}
				rows={candidates}
				empty={<p>No campaign was considered.</p>}
			/>
		</section>
	);
}

/** What a signal that says no has done. */
function describePrivacy(
	privacy: NonNullable<Explanation["privacy"]>,
	decision: Explanation["decision"] | OwnExplanation["decision"],
): string {
	const signal = `${PRIVACY_REFUSALS[privacy]} says no`;
	if (decision.outcome !== "bid") return signal;
	return `${signal}: ${decision.stripped ? "the link has nothing of the user" : "by the publisher's policy the bid is made as sent"}`;
}

type Candidate = (Explanation | OwnExplanation)["candidates"][number];
