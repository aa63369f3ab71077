/** D1 takes 2 MB in one value. Rows that are made of these items may be longer than they, by half at most. */
const MAX_JSON_BYTES = 1_000_000;

/** Messages of a queue that come together, at most: a longer list may be too long for one text. */
const MAX_BATCH = 100;

const utf8 = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
	return utf8.encode(text).length;
}

/** Parts of a list, in order, each of which is short enough to be one JSON parameter of a statement. @param most bytes of a part */
export function splitByBytes<Item>(items: readonly Item[], most = MAX_JSON_BYTES): Item[][] {
	// A queue's batch nearly always is one part: then one look at all of it will do. A UTF-16 unit has three bytes at most.
	if (items.length > 0 && items.length <= MAX_BATCH && JSON.stringify(items).length * 3 <= most) return [[...items]];
	const parts: Item[][] = [];
	let length = Number.POSITIVE_INFINITY;
	for (const item of items) {
		const size = bytesOf(JSON.stringify(item)) + 1;
		if (length + size > most) {
			parts.push([]);
			length = 0;
		}
		parts.at(-1)?.push(item);
		length += size;
	}
	return parts;
}
