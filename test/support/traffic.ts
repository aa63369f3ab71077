/** Traffic for worker tests through the real endpoints: links and bids of a publisher that is paid by click, and what became of their clicks. */
import { exports } from "cloudflare:workers";
import { vi } from "vitest";
import { rowsOf } from "./click-messages.ts";
import { BROWSER } from "./clicks.ts";
import { ACME } from "./network-import.ts";

/** A publisher that earns half of a click's worth. */
export const CPC = { ...ACME, pricing_model: "CPC" };

/** The homepage link of a brand in the publisher's list. @throws Error where the list has none */
export async function linkTo(domain: string): Promise<string> {
	const response = await exports.default.fetch("https://base.example/api/brands-list", { headers: { AccessKey: CPC.access_key } });
	const { data } = await response.json<{ data: { domain: string; click_url_homepage: string }[] }>();
	const link = data.find((brand) => brand.domain === domain)?.click_url_homepage;
	if (link === undefined) throw new Error(`no link to ${domain}`);
	return link;
}

/** The click URL of a Serving Engine bid. @throws Error where there is none */
export async function servingEngineUrl(domain: string, more = ""): Promise<string> {
	const query = `pubi=${CPC.publisher_id}&bd=${domain}&cc=US${more}`;
	const response = await exports.default.fetch(`http://rtb.example/serving-engine?${query}`);
	const { redirect_url } = await response.json<{ redirect_url?: string }>();
	if (redirect_url === undefined) throw new Error(`no bid for ${domain}`);
	return redirect_url;
}

/** The n-th of 250 people, each with an address of their own. */
export function person(n: number): Record<string, string> {
	return { "user-agent": BROWSER, "cf-connecting-ip": `198.51.100.${n % 250}` };
}

/** Calls a click URL with just these headers. @throws Error where it does not redirect */
export async function call(url: string, headers: Record<string, string> = {}, cf?: Record<string, unknown>): Promise<void> {
	const request = new Request(url, { redirect: "manual", headers, ...(cf !== undefined && { cf }) } as RequestInit);
	const { status } = await exports.default.fetch(request);
	if (status !== 302) throw new Error(`the click answered ${status}`);
}

/** Calls ten at a time: `make` gives the URL and headers of each. */
export async function callMany(count: number, make: (at: number) => [url: string, headers?: Record<string, string>]): Promise<void> {
	for (let at = 0; at < count; at += 10) {
		await Promise.all(Array.from({ length: Math.min(10, count - at) }, (_, more) => call(...make(at + more))));
	}
}

/** Clicks and what they earned by reason, once `count` of them are written. */
export function outcomes(count: number): Promise<Record<string, number>> {
	return vi.waitFor(
		async () => {
			const rows = await rowsOf<{ reason: string; clicks: number; earned: number }>(
				"SELECT coalesce(reason, 'paid') AS reason, count(*) AS clicks, sum(revenue_micros) AS earned FROM clicks GROUP BY reason",
			);
			const written = rows.reduce((sum, { clicks }) => sum + clicks, 0);
			if (written !== count) throw new Error(`${written} clicks are written, not ${count}`);
			const unpaid = rows.filter(({ reason, earned }) => reason !== "paid" && earned !== 0);
			if (unpaid.length > 0) throw new Error(`unpaid clicks earn: ${JSON.stringify(unpaid)}`);
			return Object.fromEntries(rows.map(({ reason, clicks }) => [reason, clicks]));
		},
		{ timeout: 20_000, interval: 100 },
	);
}
