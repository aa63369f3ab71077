/** A KV namespace that counts what is done with it. */
export type KvCounts = {
	/** Read operations; one of several keys is one. */
	gets: number;
	keysRead: number;
	puts: number;
	bytesPut: number;
};

/** The namespace itself, counted. */
export function countKv(kv: KVNamespace): { kv: KVNamespace; counts: KvCounts } {
	const counts: KvCounts = { gets: 0, keysRead: 0, puts: 0, bytesPut: 0 };
	const counted = new Proxy(kv, {
		get(target, name) {
			if (name === "get") {
				return (keys: string | string[], ...rest: [never]) => {
					counts.gets++;
					counts.keysRead += Array.isArray(keys) ? keys.length : 1;
					return target.get(keys as never, ...rest);
				};
			}
			if (name === "put") {
				return (key: string, value: string | ArrayBuffer, ...rest: [KVNamespacePutOptions?]) => {
					counts.puts++;
					counts.bytesPut += typeof value === "string" ? new TextEncoder().encode(value).byteLength : value.byteLength;
					return target.put(key, value, ...rest);
				};
			}
			const member: unknown = Reflect.get(target, name);
			return typeof member === "function" ? member.bind(target) : member;
		},
	});
	return { kv: counted, counts };
}
