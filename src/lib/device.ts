/**
 * A few bits of the device that a bid was asked for, and of the one that clicks: 16 of its connection and 16 of its user agent, as one
 * number in the bid's token. The token is encrypted, so a hash without a key gives nothing away; two devices share 16 bits once in 65,536.
 */
import { connectionOf } from "./ip.ts";

/** Longest part of a user agent that counts, in UTF-16 units. */
const MAX_USER_AGENT_LENGTH = 256;

/** Null where the address or the user agent is not known: then nothing can be told of the device. */
export function deviceOf(address: string | null, userAgent: string | null): number | null {
	return address === null ? null : deviceAt(connectionOf(address), userAgent);
}

/** As {@link deviceOf}, of a connection that is known already. */
export function deviceAt(connection: string | null, userAgent: string | null): number | null {
	if (connection === null || userAgent === null || userAgent === "") return null;
	return hash16(connection) * 0x10000 + hash16(userAgent);
}

/** Whether two devices agree neither in their connection nor in their user agent. */
export function isOtherDevice(left: number, right: number): boolean {
	return left >>> 16 !== right >>> 16 && (left & 0xffff) !== (right & 0xffff);
}

/** FNV-1a, folded to 16 bits. */
function hash16(text: string): number {
	let hash = 0x811c9dc5;
	const end = Math.min(text.length, MAX_USER_AGENT_LENGTH);
	for (let at = 0; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
	return ((hash >>> 16) ^ hash) & 0xffff;
}
