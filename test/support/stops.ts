/** A small network whose parts stop, and the redirect of one isolate with a campaign book of its own. */
import { env } from "cloudflare:workers";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { ClickToken } from "../../src/click-token/token-content.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { HOUR_MS } from "../../src/lib/time.ts";
import { BROWSER } from "./clicks.ts";
import { forgetTraffic } from "./forget-traffic.ts";
import { ACME, brandEntry, importExactly, type importUnpublished, NORTHWIND } from "./network-import.ts";
import { openStoredBook } from "./stored-book.ts";

export type Stopped =
	| "campaign inactive"
	| "campaign removed"
	| "brand inactive"
	| "country blocked"
	| "brand blocked"
	| "brand blocked in the country"
	| "publisher suspended";
/** What stops: campaign 5001 in the US, its brand shoes.example, or what concerns publisher acme. */
export const STOPPED: readonly [Stopped, ClickReason][] = [
	["campaign inactive", "campaign_stopped"],
	["campaign removed", "campaign_stopped"],
	["brand inactive", "brand_stopped"],
	["country blocked", "blocked"],
	["brand blocked", "blocked"],
	["brand blocked in the country", "blocked"],
	["publisher suspended", "publisher_suspended"],
];
type ClickReason = "campaign_stopped" | "brand_stopped" | "blocked" | "publisher_suspended";

const CPC = { ...ACME, pricing_model: "CPC" };
const OTHER = {
	...CPC,
	id: "other",
	publisher_id: "1002",
	publisher_identity: "other_rtb",
	access_key: "access-key-other",
	publisher_key: "publisher-key-other",
};
const UNCAPPED = { daily_click_cap: null };

/**
 * Imports all of the network with these parts of it stopped: publishers acme and other, shoes.example (5001 US, 5003 DE), boots.example.
 * @param takeOver where no redirect is to hear of it, {@link importUnpublished}
 */
export async function importStopped(
	stopped: ReadonlySet<Stopped>,
	traffic: object | null = null,
	...takeOver: [typeof importUnpublished?]
): Promise<void> {
	const us = brandEntry("shoes.example", 5001, {}, { ...UNCAPPED, active: !stopped.has("campaign inactive") }).campaigns;
	const de = brandEntry("shoes.example", 5003, {}, { ...UNCAPPED, country: "DE" }).campaigns;
	const blocks = [
		...(stopped.has("brand blocked") ? [{ domain: "shoes.example" }] : []),
		...(stopped.has("brand blocked in the country") ? [{ domain: "shoes.example", country: "US" }] : []),
	];
	const network = {
		platforms: [NORTHWIND],
		publishers: [
			{ ...CPC, status: stopped.has("publisher suspended") ? "suspended" : "active", blocked_brands: blocks, traffic },
			{ ...OTHER, status: "active", traffic },
		],
		brands: [
			{
				domain: "shoes.example",
				name: "Shoes",
				active: !stopped.has("brand inactive"),
				blocked_countries: stopped.has("country blocked") ? ["US"] : [],
				campaigns: [...(stopped.has("campaign removed") ? [] : us), ...de],
			},
			brandEntry("boots.example", 5002, {}, UNCAPPED),
		],
	};
	await importExactly(network, ...takeOver);
}

/** Forgets all that was counted, and what has stopped. */
export async function forgetStops(): Promise<void> {
	await forgetTraffic("stops");
}

/** A redirect that reads the book when it is first asked, and never again. */
export function frozenRedirect() {
	const tokens = new ClickTokens(env.TOKEN_KEYS.split(","));
	const book = openStoredBook({ snapshotTtlMs: 1_000 * HOUR_MS });
	let made = 0;
	return {
		/** The message of a click that somebody new makes now on a bid of now; null where it leads nowhere. */
		async click(of: Pick<ClickToken, "publisher" | "advertiserId" | "domain" | "campaignId">): Promise<ClickMessage | null> {
			const now = Date.now();
			const bid = { kind: "openrtb", bidMicros: 200_000, typoId: 0, auctionId: crypto.randomUUID(), mintedAt: now } as const;
			const terms = { pricingModel: "CPC", sharePpm: 800_000, grossMicros: 250_000 } as const;
			const encyp = await tokens.mint({
				...of,
				...bid,
				...terms,
				test: false,
				device: null,
				keyword: null,
				askedFrom: null,
				stripped: false,
				userClickId: false,
				deeplink: false,
				lifeSeconds: null,
				sourceHash: "",
			});
			const sent: ClickMessage[] = [];
			const background: Promise<unknown>[] = [];
			const store = {
				sender: { send: async (message: ClickMessage) => void sent.push(message) },
				connectionKey: crypto.randomUUID(),
				limits: { address: undefined, token: undefined, stripped: undefined },
				visits: new RecentVisits(),
			};
			const headers = { "user-agent": BROWSER, "cf-connecting-ip": `198.51.${Math.floor(made / 250)}.${made++ % 250}` };
			const url = `http://click.example/click?encyp=${encyp}&cc=US`;
			await routeClick(
				{ book, tokens, store, clickTtlMs: HOUR_MS, now: () => now, measure: undefined },
				new Request(url, { headers }),
				url,
				(promise) => void background.push(promise),
			);
			await Promise.all(background);
			return sent[0] ?? null;
		},
	};
}
