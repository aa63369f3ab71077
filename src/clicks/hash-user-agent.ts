import { putBounded } from "../lib/bounded-map.ts";
import { sha256Hex } from "../lib/bytes.ts";

/** Longest part of a user agent that is hashed, in UTF-16 units. */
const MAX_LENGTH = 1_024;
/** Few strings are most of the traffic: what is known of them is kept, the first seen out first. */
const MAX_KEPT = 1_000;
const HASH_LENGTH = 16;

const hashes = new Map<string, string>();

/**
 * First 16 hex characters of the SHA-256 of a user agent: enough to tell two apart, without keeping them. At once where it was
 * seen before.
 */
export function hashUserAgent(userAgent: string): string | Promise<string> {
	// Nobody's browser has a longer one, and a part of it would keep all of it in memory.
	if (userAgent.length > MAX_LENGTH) return hashOf(userAgent.slice(0, MAX_LENGTH));
	return hashes.get(userAgent) ?? hashOf(userAgent).then((hash) => putBounded(hashes, userAgent, hash, MAX_KEPT));
}

async function hashOf(text: string): Promise<string> {
	return (await sha256Hex(text)).slice(0, HASH_LENGTH);
}
