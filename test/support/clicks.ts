/** Clicks for tests: bids whose click URL is called, and the rows that the queue's consumer writes of them. */
import { env, exports } from "cloudflare:workers";
import { vi } from "vitest";
import { findClickUrl } from "./golden/normalise.ts";
import "./worker-env.ts";

export const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";

export type BidDetails = { identity?: string; clickId?: string; tagId?: string; buyerUid?: string; deeplink?: string; test?: 1 };

/** The click URL of a new bid for a domain; null where there is no bid. */
export async function clickUrlOrNull(domain: string, details: BidDetails = {}): Promise<string | null> {
	const { identity = "acme_rtb", clickId, tagId, buyerUid, deeplink, test } = details;
	const response = await exports.default.fetch(`http://rtb.example/openrtb/${identity}`, {
		method: "POST",
		body: JSON.stringify({
			id: "auction",
			imp: [{ id: "1", tagid: tagId }],
			site: { domain, publisher: { id: clickId } },
			user: { buyeruid: buyerUid },
			ext: { deeplink },
			test,
		}),
	});
	if (response.status === 204) return null;
	return findClickUrl(await response.json());
}

/** @throws Error where there is no bid */
export async function clickUrlFor(domain: string, details: BidDetails = {}): Promise<string> {
	const url = await clickUrlOrNull(domain, details);
	if (url === null) throw new Error(`no bid for ${domain}`);
	return url;
}

/** Calls a click URL as a browser does, without going where it leads. */
export function follow(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
	return exports.default.fetch(url, { method, redirect: "manual", headers: { "user-agent": BROWSER, ...headers } });
}

export type Row = Record<string, string | number | null>;

/** Rows of clicks, once there are `count` of them. */
export async function clickRows({ hash, count = 1 }: { hash?: string | undefined; count?: number }): Promise<Row[]> {
	return vi.waitFor(
		async () => {
			const statement =
				hash === undefined
					? env.DB.prepare("SELECT * FROM clicks ORDER BY id")
					: env.DB.prepare("SELECT * FROM clicks WHERE click_hash = ? ORDER BY id").bind(hash);
			const { results } = await statement.all<Row>();
			if (results.length < count) throw new Error(`${results.length} clicks are written, not ${count}`);
			return results;
		},
		{ timeout: 20_000, interval: 50 },
	);
}
