/** Clicks on bids that an edge has just made. */
import type { Target } from "./load-protocol.ts";
import { browserHeaders } from "./requests.ts";

const MAX_URLS = 1_000;

/** The click URLs of the first of these bids, each called by one of the browsers. */
export async function clickTargets(origin: string, bids: readonly Target[]): Promise<Target[]> {
	const targets: Target[] = [];
	for (const [at, { path, body = null }] of bids.slice(0, MAX_URLS).entries()) {
		const response = await fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });
		const answer = (await response.json()) as { seatbid: { bid: { adm: string }[] }[] };
		const adm = JSON.parse(answer.seatbid[0]?.bid[0]?.adm ?? "null") as { native: { link: { url: string } } };
		const { pathname, search } = new URL(adm.native.link.url);
		targets.push({ method: "GET", path: pathname + search, headers: browserHeaders(at) });
	}
	return targets;
}

/** @throws Error where a click does not lead to an advertiser */
export async function checkRedirect(origin: string, targets: readonly Target[]): Promise<void> {
	const [{ path, headers = {} } = { path: "/" }] = targets;
	const response = await fetch(`${origin}${path}`, { redirect: "manual", headers });
	const location = response.headers.get("location") ?? "";
	if (response.status !== 302 || !/[0-9a-f]{32}/.test(location)) throw new Error(`a click answers HTTP ${response.status}, ${location}`);
}
