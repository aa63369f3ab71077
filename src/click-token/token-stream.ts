/**
 * How click tokens of version 3 are encrypted and authenticated: AES-256-CTR, and Poly1305 with a key for each token (RFC 8439's manner, with
 * AES in the place of ChaCha20). WebCrypto makes the key stream for some two hundred tokens at once, since on a bid its promise and
 * buffers cost more than all else a token takes.
 *
 * A token takes two blocks of 16 bytes of the stream for its one-time key, and as many as its content is long. It names the first of
 * them: none is ever used twice.
 */
import { equal, Poly1305 } from "@stablelib/poly1305";

export const TAG_LENGTH = 16;
/** So many blocks have numbers of three bytes. */
export const MAX_BLOCKS = 0x100_0000;
const BLOCK_LENGTH = 16;
const ONE_TIME_KEY_LENGTH = 2 * BLOCK_LENGTH;
/** Bytes made at once; more than the longest token takes. */
const STREAM_LENGTH = 32_768;
const ZEROS = new Uint8Array(STREAM_LENGTH);
const NO_BYTES = new Uint8Array();

/** The key stream of one isolate's key. */
export class TokenStream {
	readonly #key: CryptoKey;
	/** Number of the first block that was never made. */
	#unmade = 0;
	#stream: Uint8Array<ArrayBuffer> = NO_BYTES;
	/** Number of the block that `#stream` begins with. */
	#first = 0;
	/** How many of its bytes are taken. */
	#taken = 0;

	/** @param key for AES-CTR, of this isolate alone */
	constructor(key: CryptoKey) {
		this.#key = key;
	}

	/** Whether all blocks that have a number were made: then another key is needed. */
	get isUsedUp(): boolean {
		return this.#unmade >= MAX_BLOCKS;
	}

	/** Makes more of the stream. Two requests may do so at once: each makes blocks of its own, and those made last serve. */
	async make(): Promise<void> {
		const first = this.#unmade;
		this.#unmade += STREAM_LENGTH / BLOCK_LENGTH;
		const made = await crypto.subtle.encrypt(counterAt(first), this.#key, ZEROS);
		if (this.#stream !== NO_BYTES) this.#stream.buffer.transfer(0);
		this.#stream = new Uint8Array(made);
		this.#first = first;
		this.#taken = 0;
	}

	/**
	 * Writes the ciphertext of a content, and its tag behind it.
	 * @returns the number of the first block that it took; null where more must be made first
	 */
	seal(content: Uint8Array, length: number, into: Uint8Array): number | null {
		const stream = this.#stream;
		const start = this.#taken;
		const from = start + ONE_TIME_KEY_LENGTH;
		if (from + length > stream.length) return null;
		for (let at = 0; at < length; at++) into[at] = (content[at] as number) ^ (stream[from + at] as number);
		writeTag(stream.subarray(start, from), into.subarray(0, length));
		into.set(tag, length);
		this.#taken = start + Math.ceil((ONE_TIME_KEY_LENGTH + length) / BLOCK_LENGTH) * BLOCK_LENGTH;
		return this.#first + start / BLOCK_LENGTH;
	}
}

/**
 * The content of what {@link TokenStream.seal} wrote, or null where it was altered.
 * @param block number of the first block that it took
 * @param sealed ciphertext and tag; may change once this returns
 */
export function unsealStream(key: CryptoKey, block: number, sealed: Uint8Array): Promise<Uint8Array<ArrayBuffer> | null> {
	const length = sealed.length - TAG_LENGTH;
	// The stream's first bytes, which are no content's, are what zeros become.
	const padded = new Uint8Array(ONE_TIME_KEY_LENGTH + sealed.length);
	padded.set(sealed, ONE_TIME_KEY_LENGTH);
	const end = ONE_TIME_KEY_LENGTH + length;
	return crypto.subtle.encrypt(counterAt(block), key, padded.subarray(0, end)).then((plain) => {
		const bytes = new Uint8Array(plain);
		writeTag(bytes.subarray(0, ONE_TIME_KEY_LENGTH), padded.subarray(ONE_TIME_KEY_LENGTH, end));
		return equal(tag, padded.subarray(end)) ? bytes.subarray(ONE_TIME_KEY_LENGTH) : null;
	});
}

/** The tag that was written last. */
const tag = new Uint8Array(TAG_LENGTH);

function writeTag(oneTimeKey: Uint8Array, ciphertext: Uint8Array): void {
	new Poly1305(oneTimeKey).update(ciphertext).finish(tag);
}

/** Reused from call to call: WebCrypto takes a copy of the counter before it returns. */
const COUNTER = { name: "AES-CTR", counter: new Uint8Array(BLOCK_LENGTH), length: 64 } as const;

function counterAt(block: number): typeof COUNTER {
	const { counter } = COUNTER;
	counter[BLOCK_LENGTH - 3] = block >>> 16;
	counter[BLOCK_LENGTH - 2] = block >>> 8;
	counter[BLOCK_LENGTH - 1] = block;
	return COUNTER;
}
