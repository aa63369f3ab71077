/**
 * Puts an entry into a map as its newest one, and drops the oldest where that makes more than `maxEntries`. Returns the value.
 * The order is that in which entries were put: to look one up does not make it newer.
 */
export function putBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, maxEntries: number): Value {
	map.delete(key);
	map.set(key, value);
	if (map.size > maxEntries) {
		const oldest = map.keys().next();
		if (!oldest.done) map.delete(oldest.value);
	}
	return value;
}
