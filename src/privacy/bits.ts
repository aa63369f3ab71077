/** Bits of a text in URL-safe base64 without padding, as IAB's consent strings have them: read where they stand, never unpacked. */
import { keepShape } from "../lib/kept-shapes.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS_A_CHARACTER = 6;
/** How many there are of whatever there are several of. */
export const COUNT_BITS = 12;
/** An end of a range. */
const END_BITS = 16;
const VALUES = new Uint8Array(128);
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Thrown where a string is not what it must be. Nobody is told why: it says no. */
export class MalformedError extends Error {}

/** Reads bits in order. Whatever lies behind the end is malformed. */
export class Bits {
	readonly #text: string;
	readonly length: number;
	at = 0;

	/** @throws MalformedError where the text is empty or no base64 */
	constructor(text: string) {
		if (!BASE64URL.test(text)) throw new MalformedError();
		this.#text = text;
		this.length = text.length * BITS_A_CHARACTER;
	}

	/** The next bits as a whole number, the highest first; 31 at most. @throws MalformedError behind the end */
	take(count: number): number {
		let value = 0;
		const end = this.at + count;
		if (end > this.length) throw new MalformedError();
		for (let at = this.at; at < end; ) {
			const character = Math.floor(at / BITS_A_CHARACTER);
			// Of this character: what stands behind those taken before, and where fewer are wanted, before those left over.
			const here = (character + 1) * BITS_A_CHARACTER - at;
			const taken = Math.min(here, end - at);
			const bits = (VALUES[this.#text.charCodeAt(character)] ?? 0) >> (here - taken);
			value = (value << taken) | (bits & ((1 << taken) - 1));
			at += taken;
		}
		this.at = end;
		return value;
	}

	/** Passes over bits. @throws MalformedError behind the end */
	skip(count: number): void {
		this.at += count;
		if (this.at > this.length) throw new MalformedError();
	}

	/** A whole number from 1 in Fibonacci coding: it ends with two ones. @throws MalformedError behind the end, or where it is too large */
	takeFibonacci(): number {
		let value = 0;
		let present = 1;
		let next = 2;
		for (let last = 0; ; ) {
			const bit = this.take(1);
			if (bit === 1 && last === 1) return value;
			if (bit === 1) value += present;
			if (present > MAX_FIBONACCI) throw new MalformedError();
			next += present;
			present = next - present;
			last = bit;
		}
	}

	/**
	 * Reads ranges, of which one of a single number has one end.
	 * @param isFibonacci each end as its distance from the one before, as GPP has it, and not in 16 bits
	 * @throws MalformedError behind the end, or where one ends before it begins
	 */
	takeRanges(isFibonacci: boolean, each: (first: number, last: number) => void): void {
		let last = 0;
		const takeEnd = () => (isFibonacci ? last + this.takeFibonacci() : this.take(END_BITS));
		for (let left = this.take(COUNT_BITS); left > 0; left--) {
			const isRange = this.take(1) === 1;
			const first = takeEnd();
			last = first;
			if (isRange) last = takeEnd();
			if (last < first) throw new MalformedError();
			each(first, last);
		}
	}
}

keepShape(new Bits("A"));

/** No number in these strings is larger: ids of sections and vendors have 16 bits at most. */
const MAX_FIBONACCI = 0xffff;
