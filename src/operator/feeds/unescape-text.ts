/** Texts of feeds that were made from XML without being read as such. */

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * A text with the entities of XML as what they mean, each once. Those of HTML, and of characters that nobody sees, stay.
 * @example unescapeText("Men&#39;s coats &amp; hats") === "Men's coats & hats"
 */
export function unescapeText(text: string): string {
	return text.replaceAll(
		/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
		(entity, named?: string, decimal?: string, hex?: string) =>
			named === undefined ? (seen(Number(decimal ?? `0x${hex}`)) ?? entity) : (NAMED[named.toLowerCase()] ?? entity),
	);
}

function seen(codePoint: number): string | null {
	if (codePoint > 0x10ffff) return null;
	const character = String.fromCodePoint(codePoint);
	return character.isWellFormed() && !/[\p{C}\p{Z}]/u.test(character) ? character : null;
}
