import { toBase64Url } from "./base64-url.ts";
import { fromUtf8 } from "./utf8.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}

const UUID_POOL_SIZE = 128;
const UUID_BYTES = 16;
const UUID_LENGTH = 36;
const DIGITS = "0123456789abcdef";
const DASH = 0x2d;
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

/** Of one text: to put each together of its parts is more work for V8 than all their digits. */
function makeUuids(): string[] {
	const text = new Uint8Array(UUID_POOL_SIZE * UUID_LENGTH);
	writeUuids(crypto.getRandomValues(new Uint8Array(UUID_POOL_SIZE * UUID_BYTES)), text);
	const all = fromUtf8(text);
	return Array.from({ length: UUID_POOL_SIZE }, (_, at) => all.slice(at * UUID_LENGTH, (at + 1) * UUID_LENGTH));
}

/** A function of its own: V8 compiles a long loop while it runs, and would throw the code away at what comes behind it. */
function writeUuids(bytes: Uint8Array, text: Uint8Array): void {
	for (let uuid = 0, at = 0; uuid < bytes.length; uuid += UUID_BYTES) {
		// Six bits are not chance: the version, and the variant in the two highest bits of its byte.
		bytes[uuid + 6] = ((bytes[uuid + 6] as number) & 0x0f) | 0x40;
		bytes[uuid + 8] = ((bytes[uuid + 8] as number) & 0x3f) | 0x80;
		for (let byte = 0; byte < UUID_BYTES; byte++) {
			if (byte === 4 || byte === 6 || byte === 8 || byte === 10) text[at++] = DASH;
			const value = bytes[uuid + byte] as number;
			text[at++] = DIGITS.charCodeAt(value >>> 4);
			text[at++] = DIGITS.charCodeAt(value & 15);
		}
	}
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
