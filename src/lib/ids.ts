import { toBase64Url } from "./bytes.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}

const POOL_BYTES = 4_096;
const UUID_DIGITS = 32;
let pool = "";
let used = 0;

/**
 * A random UUID (version 4). Draws its randomness for many at once: one by one, `crypto.randomUUID()` is a noticeable part of
 * a bid.
 */
export function newUuid(): string {
	if (used === pool.length) {
		pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES)).toHex();
		used = 0;
	}
	const at = used;
	used += UUID_DIGITS;
	// Six bits are not chance: the version, and the variant in the two highest bits of its digit.
	const variant = "89ab".charAt(pool.charCodeAt(at + 16) & 3);
	return `${pool.slice(at, at + 8)}-${pool.slice(at + 8, at + 12)}-4${pool.slice(at + 13, at + 16)}-${variant}${pool.slice(at + 17, at + 20)}-${pool.slice(at + 20, at + 32)}`;
}

/**
 * A UUID that sorts by time (version 7), to the millisecond: rows keyed by it are appended, not scattered.
 * @param now Unix milliseconds
 */
export function newTimeOrderedId(now: number): string {
	const random = newUuid();
	const time = now.toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
