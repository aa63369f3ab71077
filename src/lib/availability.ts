/** Stock status in the one spelling that is stored and sent. */

const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
	InStock: ["instock", "available", "yes", "y", "true", "limitedavailability", "limitedstock", "lowstock", "onlineonly", "instockonline"],
	OutOfStock: ["outofstock", "soldout", "unavailable", "notavailable", "notinstock", "nostock", "no", "n", "false"],
	PreOrder: ["preorder", "presale"],
	BackOrder: ["backorder", "backordered", "onbackorder", "availabletoorder"],
	Discontinued: ["discontinued"],
};

const CANONICAL = new Map(Object.entries(SPELLINGS).flatMap(([status, spellings]) => spellings.map((spelling) => [spelling, status])));

/**
 * The canonical stock status: a spelling that feeds use ("in stock", "in_stock", "https://schema.org/InStock", "1", a quantity), else
 * the text as it came. What can be bought online now is `InStock`.
 * @example canonicalAvailability("in_stock") // "InStock"
 */
export function canonicalAvailability(text: string): string {
	const trimmed = text.trim();
	if (/^[+-]?\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) > 0 ? "InStock" : "OutOfStock";
	const name = trimmed.replace(/^https?:\/\/(?:www\.)?schema\.org\//i, "");
	return CANONICAL.get(name.toLowerCase().replaceAll(/[\s_-]/g, "")) ?? trimmed;
}
