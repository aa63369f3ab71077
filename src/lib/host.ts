/**
 * The one canonical form of a host name. Every place that stores, hashes or compares a domain goes through here.
 */
import { isPlaceholder } from "./placeholder.ts";

const SIMPLE_HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)+$/;
const HTTP_URL = /^https?:\/\//i;
/** A scheme, unless what follows the colon is a port (`shop.example:8080`). */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must be found
const UNSAFE_IN_URL = /[\u0000-\u001f\u007f\\]/;

/** The common kind of address, which needs no parser to be sound. */
const PLAIN_URL = /^https?:\/\/[a-z0-9.-]+\.[a-z]{2,}(?:\/[!-[\]-~]*)?$/i;

/** Longest deeplink or page address that is used; longer ones are treated as not usable. */
export const MAX_URL_LENGTH = 2_048;

/**
 * Canonical host of a URL or bare host: lower case, punycode, without port, trailing dot and leading `www.`.
 * Returns null where the input names no DNS host with at least two labels (addresses are not brands).
 * @example canonicalHost("HTTPS://www.Shoes.Example:443/sale") // "shoes.example"
 */
export function canonicalHost(input: string): string | null {
	let host = input;
	if (!SIMPLE_HOST.test(host)) {
		const parsed = parseLoose(input.trim());
		if (parsed === null) return null;
		host = parsed.hostname.endsWith(".") ? parsed.hostname.slice(0, -1) : parsed.hostname;
		if (!SIMPLE_HOST.test(host)) return null;
	}
	return canonicalPlainHost(host);
}

/** Whether a text is a host name as it stands, so that {@link canonicalHost} needs no URL parser for it. */
export function isPlainHost(text: string): boolean {
	return SIMPLE_HOST.test(text);
}

/** As {@link canonicalHost}, of a text that {@link isPlainHost} holds for. */
export function canonicalPlainHost(text: string): string | null {
	let host = text;
	while (host.startsWith("www.") && host.indexOf(".", 4) !== -1) host = host.slice(4);
	// No top-level domain begins with a digit: what looks like a number there is an IPv4 address in some notation.
	return /\.\d[^.]*$/.test(host) ? null : host;
}

/** Reads no more than MAX_URL_LENGTH characters of an address: what follows its host does not change it, and costs as much to parse. */
function parseLoose(input: string): URL | null {
	const text = input.slice(0, MAX_URL_LENGTH);
	if (text === "" || (text.length < input.length && !endsHost(text))) return null;
	if (HTTP_URL.test(text)) return URL.parse(text);
	if (text.startsWith("//")) return URL.parse(`https:${text}`);
	// Another hierarchical scheme (android-app://…) names an app, not a site; so does mailto: and the like.
	if (SCHEME.test(text)) return null;
	return URL.parse(`https://${text}`);
}

/** Whether the host of an address that was cut is there in full: something follows it. */
function endsHost(text: string): boolean {
	return /[/\\?#]/.test(text.replace(/^(?:https?:)?\/\/[/\\]*/i, ""));
}

/** True when `host` is `domain` or one of its subdomains. Both canonical. */
export function isWithin(host: string, domain: string): boolean {
	return host === domain || (host.endsWith(domain) && host.charCodeAt(host.length - domain.length - 1) === 46);
}

/**
 * The host itself and then its parents, nearest first, down to two labels.
 * @example hostAndParents("a.shop.example") // ["a.shop.example", "shop.example"]
 */
export function hostAndParents(host: string): string[] {
	const hosts = [host];
	let dot = host.indexOf(".");
	while (dot !== -1) {
		const parent = host.slice(dot + 1);
		dot = parent.indexOf(".");
		if (dot === -1) break;
		hosts.push(parent);
		host = parent;
	}
	return hosts;
}

/** An address as sent, made absolute. */
export type WebAddress = {
	/** The address with a scheme. */
	url: string;
	/** Whether it came with one. */
	hadScheme: boolean;
};

/**
 * Reads a page or deeplink address. Returns null when it is not http(s), cannot be parsed, holds control characters or
 * backslashes (which URL parsers disagree about), is too long, or an unfilled placeholder: such an address counts as absent.
 * An address without a scheme gets `https://`, and spaces within are escaped.
 */
export function readWebAddress(text: string): WebAddress | null {
	if (text.length <= MAX_URL_LENGTH && PLAIN_URL.test(text) && !text.includes("xn--")) return { url: text, hadScheme: true };
	const sent = text.trim();
	if (sent.length > MAX_URL_LENGTH || isPlaceholder(sent)) return null;
	const trimmed = sent.toWellFormed().replaceAll(" ", "%20");
	if (trimmed === "" || trimmed.length > MAX_URL_LENGTH || UNSAFE_IN_URL.test(trimmed)) return null;
	const hadScheme = HTTP_URL.test(trimmed);
	if (!hadScheme && (SCHEME.test(trimmed) || trimmed.startsWith("/"))) return null;
	const url = hadScheme ? trimmed : `https://${trimmed}`;
	return URL.canParse(url) ? { url, hadScheme } : null;
}

/** Canonical host of an address; null where it has none, or carries credentials. */
export function hostOfAddress(address: WebAddress): string | null {
	const parsed = URL.parse(address.url);
	return parsed === null || parsed.username !== "" || parsed.password !== "" ? null : canonicalHost(parsed.hostname);
}

/** The address of a site that is known by its bare domain: `https://` before it and a slash behind. */
export function siteUrl(domain: string): string {
	return `https://${domain}/`;
}

/** Puts a trailing slash on the path of an absolute URL, before any query or fragment. */
export function withTrailingSlash(url: string): string {
	const end = url.search(/[?#]/);
	const path = end === -1 ? url : url.slice(0, end);
	return path.endsWith("/") ? url : `${path}/${end === -1 ? "" : url.slice(end)}`;
}
