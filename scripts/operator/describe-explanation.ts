/** What a request would get, and why, in words. */
import { type Explanation, PRIVACY_REFUSALS } from "../../src/bidding/explain-answer.ts";

/** The decision, and a line for each campaign that was considered. */
export function describeExplanation({ endpoint, decision, privacy, candidates }: Explanation): string {
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
	return [head, "Campaigns considered (price: what a click earns the publisher):", ...lines].join("\n");
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
