/** One user's way through the service, as SSP, browser and affiliate platform see it: what was acknowledged goes into the tally. */
import type { ConversionStatus } from "../../src/lib/enums.ts";
import { clickLink } from "../stack/click-link.ts";
import type { Stack } from "../stack/start-stack.ts";
import { ACCESS_KEY, DOMAIN, IDENTITY, PLATFORM_KEY } from "./network.ts";
import type { Tally } from "./tally.ts";

/** What becomes of an order, as the platform reports it. */
const HISTORIES: readonly (readonly ConversionStatus[])[] = [
	["approved"],
	["approved"],
	["pending", "approved"],
	["approved", "cancelled"],
	["approved", "cancelled", "approved"],
	["pending", "cancelled"],
];
const REPEATED = 0.3;
const CLICKED = 0.7;
const CONVERTED = 0.6;
const REPORTED = 0.05;
/** A platform that was told of a failure tries again. */
const TRIES = 20;

export async function makeJourney(stack: Stack, tally: Tally, number: number): Promise<void> {
	const click = await bid(stack, tally, number);
	if (click === null || !happens(CLICKED)) return;
	const hash = await followLink(tally, click);
	if (happens(REPEATED)) await followLink(tally, click);
	if (hash !== null && happens(CONVERTED)) await convert(stack, tally, hash, number);
	if (happens(REPORTED)) await readReport(stack, tally);
}

async function bid(stack: Stack, tally: Tally, number: number): Promise<string | null> {
	const response = await fetch(`${stack.edge}/openrtb/${IDENTITY}`, {
		method: "POST",
		body: JSON.stringify({
			id: `auction-${number}`,
			imp: [{ id: "1", tagid: `source-${number % 7}` }],
			site: { domain: DOMAIN, publisher: { id: `click-${number}` } },
		}),
	});
	tally.answered("bid", response.status === 200);
	if (response.status !== 200) {
		await response.body?.cancel();
		return null;
	}
	const { seatbid } = (await response.json()) as { seatbid: [{ bid: [{ adm: string }] }] };
	const url = new URL(JSON.parse(seatbid[0].bid[0].adm).native.link.url);
	return `${stack.edge}${url.pathname}${url.search}`;
}

/** Follows a click URL once; its click hash, or null where it was not redirected. */
async function followLink(tally: Tally, url: string): Promise<string | null> {
	const target = await clickLink(url);
	const hash = target?.searchParams.get("sub") ?? null;
	tally.answered("click", hash !== null);
	if (hash !== null) tally.redirected(hash);
	return hash;
}

async function convert(stack: Stack, tally: Tally, hash: string, number: number): Promise<void> {
	const txnid = `order-${number}`;
	const payoutCents = 100 + Math.floor(Math.random() * 10_000);
	const history = HISTORIES[Math.floor(Math.random() * HISTORIES.length)] ?? [];
	for (const [step, status] of history.entries()) {
		const query = new URLSearchParams({
			txnid,
			cid: happens(0.5) ? hash : hash.toUpperCase(),
			// One that says what an earlier one said, to the second, is that one come again.
			edate: new Date(Date.now() + step * 1_000).toISOString().slice(0, 19),
			payout: (payoutCents / 100).toFixed(2),
			status,
		});
		do {
			if (!(await sendPostback(stack, tally, query))) return;
			tally.reported(txnid, status, payoutCents);
		} while (happens(REPEATED));
	}
}

/** Sends a postback until it is acknowledged; false where it never was. */
async function sendPostback(stack: Stack, tally: Tally, query: URLSearchParams): Promise<boolean> {
	for (let i = 0; i < TRIES; i++) {
		const response = await fetch(`${stack.origin}/api/postback/${PLATFORM_KEY}?${query}`);
		const { error_code: code } = (await response.json()) as { error_code?: number };
		tally.answered("postback", code === undefined);
		if (code === undefined) return true;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	return false;
}

async function readReport(stack: Stack, tally: Tally): Promise<void> {
	const today = new Date().toISOString().slice(0, 10);
	const response = await fetch(`${stack.origin}/api/reporting/revenue-share`, {
		method: "POST",
		headers: { AccessKey: ACCESS_KEY },
		body: new URLSearchParams({ report_type: "daywise", start_date: today, end_date: today }),
	});
	await response.body?.cancel();
	tally.answered("report", response.status === 200);
}

function happens(share: number): boolean {
	return Math.random() < share;
}
