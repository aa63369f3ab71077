/**
 * A chunk of records that are found by their keys. All numbers are little-endian.
 *
 * - header: four 32-bit numbers: what it is, the number of keys, where the tail begins, the length of the whole
 * - the hashes of all keys, 32 bits each, ascending; then, in the same order, where their records begin
 * - records: the key as text, then what it stands for
 * - tail: JSON of what records share
 */
import { hashOf } from "../../lib/hash.ts";
import { fromUtf8, utf8 } from "../../lib/utf8.ts";
import { BookUnavailableError } from "../resident-shards.ts";
import { ByteReader, ByteWriter, isTextAt } from "./bytes.ts";

const HEADER_NUMBERS = 4;
const HEADER_BYTES = HEADER_NUMBERS * 4;

/**
 * Packs records: the same ones always give the same bytes.
 * @param write writes what stands behind a key
 * @param tail  made once all records are written
 */
export function packKeyed(
	magic: number,
	keys: Iterable<string>,
	write: (writer: ByteWriter, key: string) => void,
	tail: () => unknown,
): Uint8Array {
	const records = new ByteWriter();
	const places = [...keys]
		.map((key) => ({ key, hash: hashOf(key) }))
		.sort((a, b) => a.hash - b.hash || (a.key < b.key ? -1 : 1))
		.map(({ key, hash }) => {
			const at = records.length;
			records.text(key);
			write(records, key);
			return { hash, at };
		});
	const firstRecord = HEADER_BYTES + places.length * 8;
	const tailAt = firstRecord + records.length;
	const end = utf8(JSON.stringify(tail()));
	const chunk = new Uint8Array(tailAt + end.length);
	const view = new DataView(chunk.buffer);
	for (const [at, value] of [magic, places.length, tailAt, chunk.length].entries()) view.setUint32(at * 4, value, true);
	for (const [at, { hash, at: record }] of places.entries()) {
		view.setUint32(HEADER_BYTES + at * 4, hash, true);
		view.setUint32(HEADER_BYTES + (places.length + at) * 4, firstRecord + record, true);
	}
	chunk.set(records.take(), firstRecord);
	chunk.set(end, tailAt);
	return chunk;
}

export class KeyedChunk<Tail> {
	readonly bytes: Uint8Array;
	readonly tail: Tail;
	readonly #hashes: Uint32Array;
	readonly #offsets: Uint32Array;

	/** @throws BookUnavailableError where the bytes are missing, cut short, or of a format this code does not know */
	constructor(magic: number, buffer: ArrayBuffer | null) {
		if (buffer === null) throw new BookUnavailableError("a chunk of the campaign book is not in KV");
		const header = buffer.byteLength < HEADER_BYTES ? [] : new Uint32Array(buffer, 0, HEADER_NUMBERS);
		const [found, count = 0, tailAt = 0, length] = header;
		if (found !== magic || length !== buffer.byteLength)
			throw new BookUnavailableError("a chunk of the campaign book has an unknown format");
		this.bytes = new Uint8Array(buffer);
		this.#hashes = new Uint32Array(buffer, HEADER_BYTES, count);
		this.#offsets = new Uint32Array(buffer, HEADER_BYTES + count * 4, count);
		this.tail = JSON.parse(fromUtf8(this.bytes.subarray(tailAt))) as Tail;
	}

	/** A reader of what stands behind a key; null where there is none. @param hash `hashOf(key)` */
	find(key: string, hash: number): ByteReader | null {
		const hashes = this.#hashes;
		let low = 0;
		let high = hashes.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((hashes[middle] as number) < hash) low = middle + 1;
			else high = middle;
		}
		for (; hashes[low] === hash; low++) {
			const reader = new ByteReader(this.bytes, this.#offsets[low] as number);
			const length = reader.number();
			if (!isTextAt(this.bytes, reader.at, length, key)) continue;
			reader.at += length;
			return reader;
		}
		return null;
	}
}
