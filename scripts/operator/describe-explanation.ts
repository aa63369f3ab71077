/** What a request would get, and why, in words. */
import { type ExplainedPriceAnswer, type Explanation, PRIVACY_REFUSALS } from "../../src/bidding/explain-answer.ts";
import { counted } from "../../src/lib/counted.ts";
import { roundTo } from "../../src/lib/money.ts";

/** Of factors, as they are shown. */
const DIGITS = 6;

/** The decision, and a line for each campaign that was considered. */
export function describeExplanation({ endpoint, decision, privacy, candidates, prices = [] }: Explanation): string {
	const stripped = decision.outcome === "bid" && decision.stripped ? ", and the link has nothing of the user" : "";
	const head = [
		`${endpoint === "openrtb" ? "OpenRTB" : "Serving Engine"}: ${describeDecision(decision)}`,
		...(privacy === null ? [] : [`Privacy: ${PRIVACY_REFUSALS[privacy]} says no${stripped}.`]),
	].join("\n");
	if (candidates.length === 0) return `${head}\nNo campaign was considered.`;
	const rows = candidates.map(({ domain, campaign_id, link, price, explanation }) => ({
		cells: [String(campaign_id), `${domain}, ${link}`, price === null ? "no price" : `${price} USD`],
		explanation,
	}));
	const widths = [0, 1, 2].map((at) => Math.max(...rows.map(({ cells }) => cells[at]?.length ?? 0)));
	const lines = rows.map(
		({ cells, explanation }) => `  ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}  ${explanation}`,
	);
	return [head, "Campaigns considered (price: what a click earns the publisher):", ...lines, ...prices.flatMap(describePrice)].join("\n");
}

/** A price as the chain that it is. */
function describePrice(price: ExplainedPriceAnswer): string[] {
	const { factors, last_change, last_break } = price;
	const guards = `caution ${roundTo(price.caution, DIGITS)} × overpaid ${roundTo(price.overpaid, DIGITS)} × creep ${roundTo(price.creep, DIGITS)}`;
	const keyword = price.keyword === null ? "" : `, keyword ${price.keyword}`;
	return [
		`How campaign ${price.campaign_id} is priced (${price.link}${keyword}, source ${price.source || "none"}; mode ${price.mode}${
			price.learned_until === null ? ", nothing learned yet" : `, learned of clicks before ${price.learned_until}`
		}):`,
		`  operator's number ${price.operator_epc} USD`,
		...factors.map(
			({ level, in_force, learned, clicks, expected, earned, expected_conversions, earned_conversions, weight, maturity }) =>
				`  × ${roundTo(price.mode === "automatic" ? in_force : learned, DIGITS)} ${level.replace("_", " and ")} (learned ${roundTo(learned, DIGITS)}: ${counted(clicks, "click")}; expected ${expected} USD, ${counted(expected_conversions, "conversion")}; earned ${earned} USD, ${earned_conversions}; weight ${weight}; known ${maturity})`,
		),
		// In those that are in force it is contained.
		...(price.mode === "automatic" || price.renumbered === 1
			? []
			: [`  × ${roundTo(price.renumbered, DIGITS)} since the operator's number has changed after that night`]),
		`  = ${price.advised_epc} USD advised; reckoned with ${price.epc} USD${
			price.released_at === null ? "" : `, which set out from the operator's number ${price.released_at}`
		}`,
		`  campaign's factor within ${price.lowest_factor} and ${price.highest_factor}${price.payout_cap === null ? "" : `; a payout counts up to ${price.payout_cap} USD`}`,
		...(price.reversal_level === 1
			? []
			: [`  taken back of the source's conversions: ${roundTo(price.reversal_level, DIGITS)} times its publisher's part`]),
		`  × ${guards} × share ${price.revenue_share} = ${price.price} USD`,
		...(last_change === null
			? []
			: [`  last published ${last_change.at}: ${last_change.operator_epc} → ${last_change.epc} USD (${last_change.why})`]),
		...(last_break === null ? [] : [`  broke by ${last_break.day} (z ${last_break.z})`]),
	];
}

function describeDecision(decision: Explanation["decision"]): string {
	switch (decision.outcome) {
		case "bid": {
			const { price, campaign_id, domain, is_deeplink } = decision;
			return `bid of ${price} USD a click by campaign ${campaign_id} of ${domain}${is_deeplink ? ", to the deeplink" : ""}`;
		}
		case "no-bid": {
			const { reason, condition, explanation } = decision;
			return `no bid, because ${explanation} (${reason}${condition === null ? "" : `, no-bid condition ${condition}`})`;
		}
		case "invalid":
			return `invalid: ${decision.explanation}`;
	}
}
