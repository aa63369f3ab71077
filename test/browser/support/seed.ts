/** A little history for the first publisher of the demo, so that pages have something to show. */
import { setTimeout as sleep } from "node:timers/promises";
import { ACME, PLATFORMS } from "../../../scripts/demo/well-known.ts";
import { clickLink } from "../../../scripts/stack/click-link.ts";
import type { Stack } from "../../../scripts/stack/start-stack.ts";

const TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** One more comes as a robot's, and is not paid. */
const CLICKS = ["seed-approved", "seed-pending", "seed-cancelled"] as const;
const UNKNOWN_CLICK = "0123456789abcdef0123456789abcdef";

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = Date.now() + TIMEOUT_MS;
	while (!(await isSo())) {
		if (Date.now() > deadline) throw new Error(`${what}: not within ${TIMEOUT_MS / 1_000} s`);
		await sleep(POLL_MS);
	}
}

/** Where a bid leads whoever clicks it. @param facts of the request, over those of the demo's first publisher */
export async function bid(url: string, facts: Readonly<Record<string, string>>): Promise<string> {
	const query = new URLSearchParams({ pubi: ACME.publisher_id, bd: "shoes.example", cc: "US", subid: "sidebar", ...facts });
	const answer = (await (await fetch(`${url}/serving-engine?${query}`)).json()) as { redirect_url?: string };
	if (answer.redirect_url === undefined) throw new Error(`${query} got no bid`);
	return answer.redirect_url;
}

/** Clicks as a person's browser does. @returns the click hash, by which platforms name the click */
export async function click(link: string): Promise<string> {
	const hash = (await clickLink(link))?.searchParams.get("sub");
	if (hash == null) throw new Error(`${link} led to no platform`);
	return hash;
}

/** Waits until a click is counted: a postback that is sent again before waits for a minute of the cron. @param id the publisher's own */
export async function counted(url: string, id: string): Promise<void> {
	await until(`the click ${id}`, async () => {
		const response = await fetch(`${url}/api/clicks?${new URLSearchParams({ id })}`, { headers: { AccessKey: ACME.access_key } });
		return ((await response.json()) as { data: unknown[] }).data.length > 0;
	});
}

/** A platform tells of a sale. @returns what it is answered */
export async function postback(url: string, facts: Readonly<Record<string, string>>): Promise<string> {
	const query = new URLSearchParams({ edate: new Date().toISOString(), ...facts });
	return (await fetch(`${url}/api/postback/${PLATFORMS[0]?.access_key}?${query}`)).text();
}

/** The publisher misses the sale of a click. */
async function claim(url: string, id: string): Promise<void> {
	const response = await fetch(`${url}/api/claims`, {
		method: "POST",
		headers: { AccessKey: ACME.access_key },
		body: JSON.stringify({ kind: "missing", id, brand: "shoes.example", amount: "4.20", text: "The shop confirmed the order." }),
	});
	const text = await response.text();
	if (!text.includes('"outcome":"opened"')) throw new Error(`POST /api/claims: HTTP ${response.status} ${text}`);
}

/** Sales in every state, one that waits for its click, postbacks that need a person, and a claim. */
export async function seed(url: string, stack: Stack, received: readonly string[]): Promise<void> {
	const hashes = await Promise.all(CLICKS.map(async (id) => click(await bid(url, { clickid: id }))));
	await fetch(await bid(url, { clickid: "seed-robot" }), { redirect: "manual", headers: { "user-agent": "Googlebot/2.1" } });
	await until("the clicks", async () => {
		const { results } = await (await stack.database()).prepare("SELECT id FROM clicks").all();
		return results.length === CLICKS.length + 1;
	});
	const [approved = "", pending = "", cancelled = ""] = hashes;
	await claim(url, "seed-robot");
	await postback(url, { txnid: "S-1", cid: approved, payout: "12.34", sales: "99.99", status: "approved" });
	await postback(url, { txnid: "S-2", cid: pending, payout: "5.00", status: "pending" });
	await postback(url, { txnid: "S-3", cid: cancelled, payout: "7.50", status: "approved" });
	await postback(url, { txnid: "S-3", cid: cancelled, payout: "7.50", status: "cancelled" });
	await postback(url, { txnid: "S-4", cid: UNKNOWN_CLICK, payout: "3.00", status: "approved" });
	await postback(url, { txnid: "S-5", cid: approved, payout: "a lot", status: "approved" });
	await postback(url, { txnid: "S-6", cid: approved, payout: "1.00", status: "no such status" });
	await until("the callback of S-1", () => received.some((path) => path.includes("S-1")));
}
