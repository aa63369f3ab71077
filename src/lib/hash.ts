/** FNV-1a over UTF-16 units with murmur3's final mix: 32 bits, well spread in the high ones. Books and the ledger keep it: it never changes. */
export function hashOf(text: string): number {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
	h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
	return (h ^ (h >>> 16)) >>> 0;
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * A publisher's source as prices are learned by it: five characters for any name, however long, that tokens and `book:learned` have room
 * for; empty for none. Who names two sources so that they hash alike has called them the same.
 */
export function hashSource(source: string | null): string {
	if (source === null || source === "") return "";
	const hash = hashOf(source);
	return (
		BASE64URL.charAt(hash >>> 26) +
		BASE64URL.charAt((hash >>> 20) & 63) +
		BASE64URL.charAt((hash >>> 14) & 63) +
		BASE64URL.charAt((hash >>> 8) & 63) +
		BASE64URL.charAt((hash >>> 2) & 63)
	);
}
