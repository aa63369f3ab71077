/** The one function of the package that is used: it has no types of its own. */
declare module "siphash" {
	const siphash: {
		/** SipHash-2-4: its higher and lower 32 bits. @param key four 32-bit words */
		hash(key: Uint32Array, message: ArrayLike<number>): { h: number; l: number };
	};
	export default siphash;
}
