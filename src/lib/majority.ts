/** What more than half of a number of items have in common: its key; null where there is no such one. */
export function majorityOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): string | null {
	for (const [key, of] of Map.groupBy(items, keyOf)) if (of.length > items.length / 2) return key;
	return null;
}
