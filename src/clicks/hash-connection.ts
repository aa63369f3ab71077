import siphash from "siphash";
import { sha256 } from "../lib/bytes.ts";

/** The key of the hash, by the secret that it is made of: an isolate has one. */
const keys = new Map<string, Uint32Array>();

/**
 * Keyed hash of a connection (SipHash-2-4, 16 hex characters): without the secret an address cannot be found by trying them all. At once
 * but for the first: WebCrypto's digests cost as much as a third of a redirect.
 */
export function hashConnection(secret: string, connection: string): string | Promise<string> {
	const key = keys.get(secret);
	return key === undefined ? makeKey(secret).then((made) => hashWith(made, connection)) : hashWith(key, connection);
}

/** As bytes: the package makes an encoder of its own for each text. And in an array that is there: a connection is ASCII. */
function hashWith(key: Uint32Array, connection: string): string {
	const bytes = byLength[connection.length] ?? new Array<number>(connection.length).fill(0);
	for (let at = 0; at < bytes.length; at++) bytes[at] = connection.charCodeAt(at);
	const { h, l } = siphash.hash(key, bytes);
	return toHex(h >>> 16) + toHex(h & 0xffff) + toHex(l >>> 16) + toHex(l & 0xffff);
}

/** Longest connection: 64 bits of an IPv6 address. */
const MAX_LENGTH = 24;
/** One of each length: V8 is slow to give an array another. */
const byLength = Array.from({ length: MAX_LENGTH + 1 }, (_, length) => new Array<number>(length).fill(0));

/** Four hex characters of 16 bits: what the package does with 32 is slow for V8, past 30 bits. */
function toHex(bits: number): string {
	return (0x10000 | bits).toString(16).slice(1);
}

async function makeKey(secret: string): Promise<Uint32Array> {
	const digest = await sha256(`connection ${secret}`);
	const key = new Uint32Array(digest.buffer.slice(0, 16) as ArrayBuffer);
	keys.set(secret, key);
	return key;
}
