import { toBase64Url } from "./bytes.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}

const POOL_LENGTH = 4_096;
const pool = new Uint8Array(POOL_LENGTH);
let used = POOL_LENGTH;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A random UUID (version 4). Draws its randomness for many at once: one by one, `crypto.randomUUID()` is a noticeable part of
 * a bid.
 */
export function newUuid(): string {
	if (used === POOL_LENGTH) {
		crypto.getRandomValues(pool);
		used = 0;
	}
	const at = used;
	used += 16;
	const hex = (offset: number) => HEX[pool[at + offset] ?? 0] ?? "";
	const version = HEX[((pool[at + 6] ?? 0) & 0x0f) | 0x40];
	const variant = HEX[((pool[at + 8] ?? 0) & 0x3f) | 0x80];
	const text = `${hex(0)}${hex(1)}${hex(2)}${hex(3)}-${hex(4)}${hex(5)}-${version}${hex(7)}-${variant}${hex(9)}-`;
	return `${text}${hex(10)}${hex(11)}${hex(12)}${hex(13)}${hex(14)}${hex(15)}`;
}
