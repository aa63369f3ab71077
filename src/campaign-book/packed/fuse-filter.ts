/**
 * A binary fuse filter (Graf and Lemire, 2022): says of a key that it is not in a set, in about nine bits a key. It never denies a key
 * that is in it, and takes one in 256 others for one.
 */

/** Tried with another seed until it works out: each try does with a chance of nine in ten and more. */
const MAX_TRIES = 100;
const ARITY = 3;
const HEADER_BYTES = 16;

type Shape = { segmentLength: number; segments: number; size: number };

/**
 * The filter of a set of keys.
 * @param hashes 32-bit hashes of the keys, in any order, repeated or not
 */
export function buildFilter(hashes: Iterable<number>): Uint8Array {
	const keys = [...new Set(hashes)].sort((a, b) => a - b);
	const shape = shapeFor(keys.length);
	for (let seed = 1; seed <= MAX_TRIES; seed++) {
		const fingerprints = tryBuild(keys, shape, seed);
		if (fingerprints !== null) return write(shape, seed, fingerprints);
	}
	throw new Error(`no filter of ${keys.length} keys could be built`);
}

function shapeFor(keys: number): Shape {
	const size = Math.max(keys, 2);
	const segmentLength = Math.min(2 ** 18, Math.max(4, 2 ** Math.floor(Math.log(size) / Math.log(3.33) + 2.25)));
	const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1_000_000)) / Math.log(size));
	const segments = Math.max(1, Math.ceil(Math.ceil(size * factor) / segmentLength) - (ARITY - 1));
	return { segmentLength, segments, size: (segments + ARITY - 1) * segmentLength };
}

/** Peels keys off that alone have a place to themselves, then gives them their fingerprints in the opposite order; null where some stay. */
function tryBuild(keys: readonly number[], shape: Shape, seed: number): Uint8Array | null {
	const counts = new Uint32Array(shape.size);
	const sums = new Uint32Array(shape.size);
	const places: [number, number, number] = [0, 0, 0];
	for (const [at, key] of keys.entries()) {
		placesOf(key, seed, shape, places);
		for (const place of places) {
			counts[place] = (counts[place] ?? 0) + 1;
			sums[place] = (sums[place] ?? 0) ^ at;
		}
	}
	const queue: number[] = [];
	for (let place = 0; place < shape.size; place++) if (counts[place] === 1) queue.push(place);
	const peeled: { key: number; place: number }[] = [];
	for (let place = queue.pop(); place !== undefined; place = queue.pop()) {
		if (counts[place] !== 1) continue;
		const at = sums[place] ?? 0;
		const key = keys[at] ?? 0;
		peeled.push({ key, place });
		placesOf(key, seed, shape, places);
		for (const other of places) {
			counts[other] = (counts[other] ?? 0) - 1;
			sums[other] = (sums[other] ?? 0) ^ at;
			if (counts[other] === 1) queue.push(other);
		}
	}
	if (peeled.length < keys.length) return null;
	const fingerprints = new Uint8Array(shape.size);
	for (const { key, place } of peeled.reverse()) {
		placesOf(key, seed, shape, places);
		let value = fingerprintOf(key, seed);
		for (const other of places) if (other !== place) value ^= fingerprints[other] ?? 0;
		fingerprints[place] = value;
	}
	return fingerprints;
}

/** Three places in neighbouring segments. */
function placesOf(key: number, seed: number, { segmentLength, segments }: Shape, places: [number, number, number]): void {
	const first = mix(key, seed);
	const second = mix(key, ~seed);
	const segment = Math.floor((first / 2 ** 32) * segments);
	const mask = segmentLength - 1;
	places[0] = segment * segmentLength + (second & mask);
	places[1] = (segment + 1) * segmentLength + ((second >>> 14) & mask);
	places[2] = (segment + 2) * segmentLength + (mix(second, seed) & mask);
}

function fingerprintOf(key: number, seed: number): number {
	return mix(key ^ 0x9e37_79b9, seed) & 0xff;
}

/** murmur3's final mix. */
function mix(value: number, seed: number): number {
	let h = value ^ Math.imul(seed, 0x85eb_ca6b);
	h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
	h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
	return (h ^ (h >>> 16)) >>> 0;
}

function write({ segmentLength, segments }: Shape, seed: number, fingerprints: Uint8Array): Uint8Array {
	const filter = new Uint8Array(HEADER_BYTES + fingerprints.length);
	const view = new DataView(filter.buffer);
	for (const [at, value] of [FILTER_MAGIC, seed, segmentLength, segments].entries()) view.setUint32(at * 4, value, true);
	filter.set(fingerprints, HEADER_BYTES);
	return filter;
}

/** "CBX2" */
const FILTER_MAGIC = 0x3258_4243;

export class FuseFilter {
	readonly version: string;
	readonly #shape: Shape;
	readonly #seed: number;
	readonly #fingerprints: Uint8Array;
	readonly #places: [number, number, number] = [0, 0, 0];

	/** @throws Error where the bytes are missing or are no filter */
	constructor(version: string, buffer: ArrayBuffer | null) {
		const bytes = new Uint8Array(buffer ?? new ArrayBuffer(0));
		const [magic, seed = 0, segmentLength = 0, segments = 0] = bytes.length < HEADER_BYTES ? [] : new Uint32Array(bytes.buffer, 0, 4);
		const size = (segments + ARITY - 1) * segmentLength;
		if (magic !== FILTER_MAGIC || bytes.length !== HEADER_BYTES + size) throw new Error("no filter that this code can read");
		this.version = version;
		this.#shape = { segmentLength, segments, size };
		this.#seed = seed;
		this.#fingerprints = bytes.subarray(HEADER_BYTES);
	}

	get size(): number {
		return this.#fingerprints.length;
	}

	/** False where no key of the set has this hash. */
	has(hash: number): boolean {
		const places = this.#places;
		placesOf(hash, this.#seed, this.#shape, places);
		const all = this.#fingerprints;
		const sum = (all[places[0]] as number) ^ (all[places[1]] as number) ^ (all[places[2]] as number);
		return sum === fingerprintOf(hash, this.#seed);
	}
}
