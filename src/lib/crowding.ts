/** Whose are `many` or more of these items: those who would leave no room to others. @param keyOf whose an item is */
export function crowding<Item>(items: readonly Item[], keyOf: (item: Item) => string, many: number): string[] {
	return [...Map.groupBy(items, keyOf)].flatMap(([key, of]) => (of.length >= many ? [key] : []));
}
