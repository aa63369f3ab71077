/** How explained prices were made: each a chain from the operator's number to the bid. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ExplainedPriceAnswer } from "../../bidding/explain-answer.ts";
import { roundTo } from "../../lib/money.ts";
import { Facts, Table } from "../ui/table.tsx";
import { Count, Money, Percent, Share, State, Time } from "../ui/values.tsx";
import { pricesPath } from "./learned-parts.tsx";

/** Of factors, as they are shown. */
const DIGITS = 6;

export function ExplainedPrices({ prices }: { prices: readonly ExplainedPriceAnswer[] }): JSX.Element {
	return (
		<section>
			<h2>How its prices are made</h2>
			{prices.map((price) => (
				<ExplainedPrice price={price} />
			))}
		</section>
	);
}

function ExplainedPrice({ price }: { price: ExplainedPriceAnswer }): JSX.Element {
	const { campaign_id, link, keyword, last_change, last_break } = price;
	return (
		<>
			<Table
				caption={`Factors of campaign ${campaign_id}, ${link}${keyword === null ? "" : `, keyword ${keyword}`}`}
				columns={[
					{ head: "Factor", cell: ({ level }) => level.replace("_", " and ") },
					{ head: "In force", kind: "number", cell: ({ in_force }) => `× ${roundTo(in_force, DIGITS)}` },
					{ head: "Learned", kind: "number", cell: ({ learned }) => roundTo(learned, DIGITS) },
					{ head: "Clicks", kind: "number", cell: ({ clicks }) => <Count of={Math.round(clicks)} /> },
					{ head: "Expected", kind: "money", cell: ({ expected }) => <Money usd={expected} /> },
					{ head: "Earned", kind: "money", cell: ({ earned }) => <Money usd={earned} /> },
					{
						head: "Conversions",
						kind: "number",
						cell: ({ earned_conversions, expected_conversions }) => `${earned_conversions} of ${expected_conversions}`,
					},
					{ head: "Weight", kind: "number", cell: ({ weight }) => <Percent of={weight} /> },
					{ head: "Known", kind: "number", cell: ({ maturity }) => <Percent of={maturity} /> },
				]}
				rows={price.factors}
				empty={null}
			/>
			<Facts
				facts={[
					["Campaign", <a href={pricesPath(campaign_id)}>{campaign_id}</a>],
					["Mode", <State word={price.mode} tone="plain" />],
					["Source", price.source === "" ? "none" : price.source],
					["Operator's number", <Money usd={price.operator_epc} />],
					...(price.renumbered === 1 ? [] : [["The number has changed since", `learned × ${roundTo(price.renumbered, DIGITS)}`] as const]),
					["Advised", <Money usd={price.advised_epc} />],
					["Reckoned with", <Money usd={price.epc} />],
					["Set out from the operator's number", <Time at={price.released_at} />],
					["Bounds of the campaign's factor", `${price.lowest_factor} to ${price.highest_factor}`],
					["Taken back of the source's", `${roundTo(price.reversal_level, DIGITS)} times its publisher's part`],
					["A payout counts up to", <Money usd={price.payout_cap} />],
					[
						"Caution, overpaid, creep",
						`× ${roundTo(price.caution, DIGITS)} × ${roundTo(price.overpaid, DIGITS)} × ${roundTo(price.creep, DIGITS)}`,
					],
					["Share", <Share of={price.revenue_share} />],
					["Price", <Money usd={price.price} />],
					["Learned of clicks before", <Time at={price.learned_until} date />],
					["Last published", <Time at={last_change?.at} />],
					["Broke by", <Time at={last_break?.day} date />],
				]}
			/>
		</>
	);
}
