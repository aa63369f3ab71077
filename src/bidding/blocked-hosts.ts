/** The advertisers that an auction blocks (`badv`): read once, then asked for every candidate. */
import { canonicalHost, canonicalPlainHost, isPlainHost } from "../lib/host.ts";

/** At most this many entries of a list need the URL parser: ports, other scripts, and what is no host at all. */
export const MAX_PARSED_ENTRIES = 30;

/** At most this many are addresses. */
export const MAX_ADDRESSES = 500;

/** An address whose host the URL parser would leave as it is, where it is a plain one. */
const PLAIN_ADDRESS = /^https?:\/\/([a-z0-9_.-]+)(?:[/?#]|$)/;

const NONE: ReadonlySet<string> = new Set();

/** The canonical hosts of a list; what names none is passed over. Null where reading it would cost more than an auction may. */
export function readBlockedHosts(entries: readonly string[]): ReadonlySet<string> | null {
	if (entries.length === 0) return NONE;
	const hosts = new Set<string>();
	let parsed = 0;
	let addresses = 0;
	for (const entry of entries) {
		const sent = withoutWildcard(entry.trim().toLowerCase());
		const address = PLAIN_ADDRESS.exec(sent);
		if (address !== null && ++addresses > MAX_ADDRESSES) return null;
		const text = address?.[1] ?? sent;
		const isPlain = isPlainHost(text);
		if (!isPlain && ++parsed > MAX_PARSED_ENTRIES) return null;
		const host = isPlain ? canonicalPlainHost(text) : canonicalHost(sent);
		if (host !== null) hosts.add(host);
	}
	return hosts;
}

/** `*.shop.example` and `.shop.example` are how some systems write what `shop.example` says here: it, and all below. */
function withoutWildcard(text: string): string {
	if (text.startsWith("*.")) return text.slice(2);
	return text.startsWith(".") ? text.slice(1) : text;
}

/** Whether a canonical host, or one of its parents, is among the blocked ones. */
export function isBlocked(host: string, blocked: ReadonlySet<string>): boolean {
	if (blocked.size === 0) return false;
	for (let at = host; ; ) {
		if (blocked.has(at)) return true;
		const dot = at.indexOf(".");
		if (dot === -1) return false;
		at = at.slice(dot + 1);
	}
}
