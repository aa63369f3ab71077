/** Which publishers may not promote a brand: packed beside the brand, and asked without being unpacked. */
import { keepShape } from "../../lib/kept-shapes.ts";
import { ByteReader, ByteWriter, readThreeBytes } from "./bytes.ts";

/** A publisher's block of a brand. */
export type BlockInput = {
	/** The publisher's number in the book. */
	publisher: number;
	/** Countries in which it holds; empty for all of them. */
	countries: readonly string[];
};

/** Bytes of a publisher's number in the list that is searched. */
const NUMBER_BYTES = 3;
const MAX_PUBLISHER_NUMBER = 2 ** (8 * NUMBER_BYTES) - 1;

/**
 * The blocks of a brand: how many hold everywhere, those publishers in order; how many hold in some countries, and each with them.
 * @param countryAt the place of a country in the chunk's table
 * @throws RangeError for a number that is too large
 */
export function packBlocks(blocks: readonly BlockInput[], countryAt: (country: string) => number): Uint8Array {
	const sorted = [...blocks].sort((a, b) => a.publisher - b.publisher);
	if ((sorted.at(-1)?.publisher ?? 0) > MAX_PUBLISHER_NUMBER) throw new RangeError("too many publishers for the campaign book");
	const everywhere = sorted.filter(({ countries }) => countries.length === 0);
	const inCountries = sorted.filter(({ countries }) => countries.length > 0);
	const writer = new ByteWriter();
	writer.number(everywhere.length);
	for (const { publisher } of everywhere) writer.threeBytes(publisher);
	writer.number(inCountries.length);
	for (const { publisher, countries } of inCountries) {
		writer.threeBytes(publisher);
		writer.number(countries.length);
		for (const country of countries.toSorted()) writer.number(countryAt(country));
	}
	return writer.take();
}

/** The packed blocks of one brand. */
export class PackedBlocks {
	readonly #bytes: Uint8Array;
	readonly #at: number;
	readonly #countries: readonly string[];

	/** @param countries the chunk's table */
	constructor(bytes: Uint8Array, at: number, countries: readonly string[]) {
		this.#bytes = bytes;
		this.#at = at;
		this.#countries = countries;
	}

	/** Whether a publisher may not promote the brand in a country. */
	isBlocked(publisher: number, country: string): boolean {
		const reader = new ByteReader(this.#bytes, this.#at);
		const everywhere = reader.number();
		if (this.#isListed(reader.at, everywhere, publisher)) return true;
		reader.at += everywhere * NUMBER_BYTES;
		for (let left = reader.number(); left > 0; left--) {
			const blocked = reader.threeBytes();
			if (blocked > publisher) return false;
			let holds = false;
			for (let countries = reader.number(); countries > 0; countries--) {
				holds = this.#countries[reader.number()] === country || holds;
			}
			if (blocked === publisher) return holds;
		}
		return false;
	}

	#isListed(first: number, count: number, publisher: number): boolean {
		let low = 0;
		let high = count;
		while (low < high) {
			const middle = (low + high) >>> 1;
			const number = readThreeBytes(this.#bytes, first + middle * NUMBER_BYTES);
			if (number === publisher) return true;
			if (number < publisher) low = middle + 1;
			else high = middle;
		}
		return false;
	}
}

keepShape(new PackedBlocks(new Uint8Array(), 0, []));
