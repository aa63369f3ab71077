/** The one function of the package that is used: it has no types of its own. */
declare module "siphash" {
	const siphash: {
		/** SipHash-2-4 as 16 hex characters. @param key four 32-bit words */
		hash_hex(key: Uint32Array, message: ArrayLike<number>): string;
	};
	export default siphash;
}
