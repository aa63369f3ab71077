/** Finds entries in a shard's text by where its lines begin: they are sorted by key, and a request may ask for a hundred that are not there. */

const TAB = 0x09;

/** Where the lines behind the header begin, in order. */
export function indexLines(shard: string): Uint32Array {
	const starts: number[] = [];
	for (let at = shard.indexOf("\n") + 1; at > 0 && at < shard.length; at = shard.indexOf("\n", at) + 1) starts.push(at);
	return Uint32Array.from(starts);
}

/** The text of one entry's JSON, or null. @param lines {@link indexLines} of the shard */
export function findInLines(shard: string, lines: Uint32Array, key: string): string | null {
	let low = 0;
	let high = lines.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		const order = compareAt(shard, lines[middle] as number, key);
		if (order === 0) {
			const end = middle + 1 < lines.length ? (lines[middle + 1] as number) : shard.length;
			return shard.slice((lines[middle] as number) + key.length + 1, end - 1);
		}
		if (order < 0) low = middle + 1;
		else high = middle;
	}
	return null;
}

/** How the key of the line at `start` stands to another one, by UTF-16 units, as lines are sorted. */
function compareAt(shard: string, start: number, key: string): number {
	for (let at = 0; at < key.length; at++) {
		const difference = shard.charCodeAt(start + at) - key.charCodeAt(at);
		if (difference !== 0) return difference;
	}
	return shard.charCodeAt(start + key.length) - TAB;
}
