/** D1 takes 2 MB in one value, and UTF-8 needs up to three bytes for a UTF-16 unit: far below that, whatever the text. */
const MAX_JSON_LENGTH = 500_000;

/** Parts of a list, in order, each of which is short enough to be one JSON parameter of a statement. */
export function splitByBytes<Item>(items: readonly Item[], most = MAX_JSON_LENGTH): Item[][] {
	const parts: Item[][] = [];
	let length = Number.POSITIVE_INFINITY;
	for (const item of items) {
		const size = JSON.stringify(item).length + 1;
		if (length + size > most) {
			parts.push([]);
			length = 0;
		}
		parts.at(-1)?.push(item);
		length += size;
	}
	return parts;
}
