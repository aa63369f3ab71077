/** Which addresses the service may call for a publisher. Asked when an address is imported, and again each time it is called. */
import ipaddr from "ipaddr.js";

/** Parameters that a callback brings, where the address has none of its own for what they say. */
export const CALLBACK_PARAMETERS = ["txnid", "cid", "payout", "status", "edate"] as const;

/** What an address may have filled in, as `{name}` in its path and query. */
export const CALLBACK_MACROS = [
	...CALLBACK_PARAMETERS,
	...["id", "sales", "domain", "source", "subid1", "subid2", "subid3", "subid4", "subid5"],
] as const;

/** A macro in whatever case, and as URL parsers and copied addresses have its braces. */
const MACRO = /(?:\{|%7b)([a-z]\w{0,63})(?:\}|%7d)/gi;

/** The address's text with its macros replaced; `read` gives null for one that it does not know, which stays. */
export function replaceMacros(text: string, read: (name: string) => string | null): string {
	return text.replace(MACRO, (macro: string, name: string) => read(name.toLowerCase()) ?? macro);
}

/** The names of the macros in a text that are known, or that are not. */
export function macrosOf(text: string): { known: string[]; unknown: string[] } {
	const names = [...text.matchAll(MACRO)].map(([, name = ""]) => name.toLowerCase());
	const isKnown = (name: string) => (CALLBACK_MACROS as readonly string[]).includes(name);
	return { known: names.filter(isKnown), unknown: names.filter((name) => !isKnown(name)) };
}

/** Names that only mean something within a network, with everything under them. */
const INTERNAL_NAMES = [
	"localhost",
	"local",
	"localdomain",
	"internal",
	"intranet",
	"lan",
	"corp",
	"home",
	"private",
	"home.arpa",
	"onion",
];

export type CallbackUrlRules = {
	/** Allows http and hosts that are not public: for local work and tests. */
	allowInsecure: boolean;
};

/**
 * What is wrong with a publisher's callback address, or null. Only https to a public host, without credentials, will do. Host
 * names are judged by themselves, not by what they resolve to: Workers reach nothing but the public internet.
 * @example findCallbackUrlFault("https://0x7f000001/s2s", { allowInsecure: false }) // "must not point at a loopback address"
 */
export function findCallbackUrlFault(url: string, { allowInsecure }: CallbackUrlRules): string | null {
	const parsed = URL.parse(url);
	if (parsed === null) return "must be an absolute address";
	// Who fills the macro, such as a user with a link's sub id, would say whom we call.
	if (/[{}]/.test(parsed.hostname)) return "must name its host itself: a macro there is not filled in";
	if (parsed.username !== "" || parsed.password !== "") return "must not hold a user name or password";
	if (allowInsecure) return /^https?:$/.test(parsed.protocol) ? null : "must be an http(s) address";
	if (parsed.protocol !== "https:") return "must be an https address";
	return findHostFault(parsed.hostname);
}

/** No name in DNS is longer. */
const MAX_HOST_LENGTH = 253;

/** @param hostname as the URL parser leaves it: lower case, IPv4 in any notation made dotted decimal, IPv6 in brackets */
function findHostFault(hostname: string): string | null {
	const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
	if (ipaddr.isValid(host)) return findAddressFault(host);
	if (host.endsWith(".") || host.length > MAX_HOST_LENGTH) return "must name a public host";
	const internal = !host.includes(".") || INTERNAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
	return internal ? "must name a public host" : null;
}

const RANGE_WORDS: Record<string, string> = {
	loopback: "a loopback",
	linkLocal: "a link-local",
	private: "a private",
	uniqueLocal: "a private",
	carrierGradeNat: "a carrier's internal",
	multicast: "a multicast",
	unspecified: "an unspecified",
	broadcast: "a broadcast",
};

/** The part of IPv6 that is in public use; what lies outside embeds IPv4, is deprecated or belongs to nobody. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Every range but plain unicast is refused: IPv6 forms that embed an IPv4 address (NAT64, 6to4, Teredo …) among them. */
function findAddressFault(host: string): string | null {
	const address = ipaddr.process(host);
	const range = address.range();
	const isPublic = range === "unicast" && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));
	return isPublic ? null : `must not point at ${RANGE_WORDS[range] ?? "a reserved"} address`;
}

/** Those of {@link CALLBACK_PARAMETERS} that an address has with a value that is no macro: callbacks replace them. */
export function replacedCallbackParameters(url: string): string[] {
	const parameters = URL.parse(url)?.searchParams;
	return CALLBACK_PARAMETERS.filter((name) => parameters?.has(name) === true && macrosOf(parameters.get(name) ?? "").known.length === 0);
}
