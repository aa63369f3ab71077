import { toBase64Url } from "./base64-url.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}

const UUID_POOL_SIZE = 128;
const UUID_BYTES = 16;
let pool: string[] = [];

/**
 * A random UUID (version 4). Made many at once: within a request, each call of `crypto.randomUUID()` is a noticeable part of a bid
 * (docs/decisions/0005-bid-path-without-router.md).
 */
export function newUuid(): string {
	const next = pool.pop();
	if (next !== undefined) return next;
	pool = makeUuids();
	return newUuid();
}

function makeUuids(): string[] {
	const digits = crypto.getRandomValues(new Uint8Array(UUID_POOL_SIZE * UUID_BYTES)).toHex();
	const made: string[] = [];
	for (let at = 0; at < digits.length; at += 2 * UUID_BYTES) {
		// Six bits are not chance: the version, and the variant in the two highest bits of its digit.
		const variant = "89ab".charAt(digits.charCodeAt(at + 16) & 3);
		made.push(
			`${digits.slice(at, at + 8)}-${digits.slice(at + 8, at + 12)}-4${digits.slice(at + 13, at + 16)}-${variant}${digits.slice(at + 17, at + 20)}-${digits.slice(at + 20, at + 32)}`,
		);
	}
	return made;
}

/**
 * A UUID that sorts by time (version 7), to the millisecond: rows keyed by it are appended, not scattered.
 * @param now Unix milliseconds
 */
export function newTimeOrderedId(now: number): string {
	if (now !== lastNow) {
		lastNow = now;
		lastTime = leastIdAt(now);
	}
	return `${lastTime}-7${newUuid().slice(15)}`;
}

/** Many clicks share a millisecond, and to write it in hex is most of such an id. */
let lastNow = -1;
let lastTime = "";

/** What every time-ordered id of this time or later is greater than, and every earlier one smaller. */
export function leastIdAt(at: number): string {
	const time = Math.max(0, at).toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}`;
}
