/** What a request itself tells of a click, for `payable.ts`. */
import { canonicalCountry } from "../lib/country.ts";
import { isWithin } from "../lib/host.ts";
import type { TrafficPolicy } from "../lib/traffic-rules.ts";
import { isBot } from "../lib/user-agent.ts";
import { DATA_CENTRE_ASNS } from "./data-centres.ts";
import type { ClickFacts } from "./payable.ts";

/** How browsers and previewers say that nobody has clicked yet. */
const EARLY_HEADERS = ["sec-purpose", "purpose", "x-purpose", "x-moz"] as const;
const EARLY = /\b(?:prefetch|prerender|preview)\b/i;

/** @param userAgent the header, null or empty where there is none @param of whose address is asked for where it matters */
export function readRequestFacts(method: string, headers: Headers, userAgent: string | null, of: { readonly url: string }) {
	const isAnonymous = userAgent === null || userAgent.trim() === "";
	return {
		head: method === "HEAD",
		prefetch: isEarly(headers),
		no_user_agent: isAnonymous,
		bot: (!isAnonymous && isBot(userAgent)) || isOfWorker(headers, of),
		embedded: isEmbedded(headers),
	} satisfies ClickFacts;
}

function isEarly(headers: Headers): boolean {
	for (const name of EARLY_HEADERS) {
		const value = headers.get(name);
		if (value !== null && EARLY.test(value)) return true;
	}
	return false;
}

/**
 * Whether somebody's Worker at Cloudflare calls, whatever browser it names: it comes from the network that carries people's privacy relays,
 * too, so that alone tells nothing. Cloudflare adds the zone of the Worker, and no Worker can take that out. One of the operator's own zone
 * may stand before us.
 */
function isOfWorker(headers: Headers, of: { readonly url: string }): boolean {
	const zone = headers.get("cf-worker");
	return zone !== null && !isWithin(URL.parse(of.url)?.hostname ?? "", zone.toLowerCase());
}

/** What browsers accept of an image or a style sheet. Of a navigation each names HTML or, if it is very old, programs that open files. */
const ACCEPTED_BY_PARTS = /^\s*(?:image\/|text\/css)(?!.*(?:html|application\/x-))/i;

/**
 * Whether fetch metadata is sent and says anything but a top-level navigation to a document: an image, a frame, a script's fetch.
 * Browsers send it to secure addresses, and no page can forge it. A page without https that has the link without it, too, is told by what
 * is accepted, as far as that tells.
 */
function isEmbedded(headers: Headers): boolean {
	const mode = headers.get("sec-fetch-mode");
	const destination = headers.get("sec-fetch-dest");
	if (mode === null && destination === null) return ACCEPTED_BY_PARTS.test(headers.get("accept") ?? "");
	return (mode !== null && mode !== "navigate") || (destination !== null && destination !== "document");
}

/** What Cloudflare knows of the network that a request comes from; nothing where it is not Cloudflare that runs us. */
export function readNetworkFacts(request: Request, headers: Headers, campaignCountry: string, policy: TrafficPolicy) {
	// The runtime makes an object of all that it knows when it is asked for one thing of it.
	const asn = policy.modes.data_centre === "off" ? undefined : (request as { cf?: { asn?: unknown } }).cf?.asn;
	return {
		country: isAbroad(headers.get("cf-ipcountry"), campaignCountry),
		data_centre: typeof asn === "number" && (policy.asns.includes(asn) || (policy.useDefaultList && DATA_CENTRE_ASNS.has(asn))),
	} satisfies ClickFacts;
}

/** XX and T1 (Tor) are no countries. */
const UNKNOWN_COUNTRIES: ReadonlySet<string> = new Set(["XX", "T1"]);

function isAbroad(country: string | null, campaignCountry: string): boolean {
	if (country === null || !/^[A-Z]{2}$/.test(country) || UNKNOWN_COUNTRIES.has(country)) return false;
	return country !== canonicalCountry(campaignCountry);
}
