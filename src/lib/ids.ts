import { toBase64Url } from "./bytes.ts";

/** A new opaque secret with a readable prefix, 192 bits of chance. */
export function newSecret(prefix: string): string {
	return `${prefix}_${toBase64Url(crypto.getRandomValues(new Uint8Array(24)))}`;
}

/** A random UUID (version 4). */
export function newUuid(): string {
	return crypto.randomUUID();
}

/**
 * A UUID that sorts by time (version 7), to the millisecond: rows keyed by it are appended, not scattered.
 * @param now Unix milliseconds
 */
export function newTimeOrderedId(now: number): string {
	const time = now.toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}-7${newUuid().slice(15)}`;
}

/** What every time-ordered id of this time or later is greater than, and every earlier one smaller. */
export function leastIdAt(at: number): string {
	const time = Math.max(0, at).toString(16).padStart(12, "0");
	return `${time.slice(0, 8)}-${time.slice(8)}`;
}
