/**
 * A few bits of the device that a bid was asked for, and of the one that clicks: 16 of its connection and 16 of its user agent, as one
 * number in the bid's token; where the bid names two addresses, before these 16 of the other connection. The token is encrypted, so a hash
 * without a key gives nothing away; two devices share 16 bits once in 65,536.
 */
import { connectionOf } from "./ip.ts";

/** Longest part of a user agent that counts, in UTF-16 units. */
const MAX_USER_AGENT_LENGTH = 256;

/** What stands before the bits that every device has. */
const OTHER_CONNECTION = 2 ** 32;

/**
 * Null where no address or no user agent is known: then nothing can be told of the device.
 * @param other a second address of it: nobody knows by which of them it will click
 */
export function deviceOf(address: string | null, userAgent: string | null, other: string | null = null): number | null {
	const first = address === null ? null : connectionOf(address);
	const second = other === null ? null : connectionOf(other);
	const device = deviceAt(first ?? second, userAgent);
	return device === null || first === null || second === null ? device : device + OTHER_CONNECTION * hash16(second);
}

/** As {@link deviceOf}, of a connection that is known already. */
export function deviceAt(connection: string | null, userAgent: string | null): number | null {
	if (connection === null || userAgent === null || userAgent === "") return null;
	return hash16(connection) * 0x10000 + hash16(userAgent);
}

/** Whether a device that clicks has neither a connection nor the user agent of the one that was asked for. */
export function isOtherDevice(asked: number, clicking: number): boolean {
	const connection = clicking >>> 16;
	return asked >>> 16 !== connection && Math.floor(asked / OTHER_CONNECTION) !== connection && (asked & 0xffff) !== (clicking & 0xffff);
}

/** FNV-1a, folded to 16 bits. */
function hash16(text: string): number {
	let hash = 0x811c9dc5;
	const end = Math.min(text.length, MAX_USER_AGENT_LENGTH);
	for (let at = 0; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
	return ((hash >>> 16) ^ hash) & 0xffff;
}
