/** What a request would get, and why, in words. */
import type { Explanation } from "./explain-answer.ts";

/** The decision, and a line for each campaign that was considered. */
export function describeExplanation({ endpoint, decision, candidates }: Explanation): string {
	const head = `${endpoint === "openrtb" ? "OpenRTB" : "Serving Engine"}: ${describeDecision(decision)}`;
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

function describeDecision({ outcome, ...facts }: Explanation["decision"]): string {
	if (outcome === "bid")
		return `bid of ${facts.price} USD a click by campaign ${facts.campaign_id} of ${facts.domain}${facts.is_deeplink === true ? ", to the deeplink" : ""}`;
	if (outcome !== "no-bid") return `${outcome}: ${facts.explanation}`;
	const condition = typeof facts.condition === "number" ? `, no-bid condition ${facts.condition}` : "";
	return `no bid, because ${facts.explanation} (${facts.reason}${condition})`;
}
