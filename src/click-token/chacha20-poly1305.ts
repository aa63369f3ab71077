/**
 * ChaCha20-Poly1305 of RFC 8439, without associated data, for contents of some hundred bytes. Of the two primitives: the package that has
 * them in one makes more than a dozen arrays for each token, and what must be collected is felt on a bid.
 */
import { streamXOR } from "@stablelib/chacha";
import { equal, Poly1305 } from "@stablelib/poly1305";
import { keepShape } from "../lib/kept-shapes.ts";

export const KEY_LENGTH = 32;
export const NONCE_LENGTH = 12;
export const TAG_LENGTH = 16;
export const MAX_CONTENT_LENGTH = 1_024;

/** The cipher's first block, of which half is the tag's key: what is ciphered begins behind it. */
const CONTENT_AT = 64;
const COUNTER_LENGTH = 4;
/** Poly1305 is given whole blocks, the last of them the lengths. */
const MAC_BLOCK = 16;

keepShape(new Poly1305(new Uint8Array(KEY_LENGTH)));

/** Reused from call to call, for nothing here waits. The number of a block, least byte first, and the nonce. */
const counter = new Uint8Array(COUNTER_LENGTH + NONCE_LENGTH);
/** First block, content or ciphertext, zeros up to a whole block of the tag, lengths. */
const work = new Uint8Array(CONTENT_AT + MAX_CONTENT_LENGTH + 2 * MAC_BLOCK);
const tagKey = work.subarray(0, KEY_LENGTH);
const tag = new Uint8Array(TAG_LENGTH);
const given = new Uint8Array(TAG_LENGTH);

type Views = (Uint8Array | undefined)[];
/** What of {@link work} begins with the first block, and with the content, by where it ends: each is made once, for making one is felt, too. */
const fromBlock: Views = Array.from({ length: work.length + 1 });
const fromContent: Views = Array.from({ length: work.length + 1 });

/** Where a content is written to be sealed: {@link MAX_CONTENT_LENGTH} bytes. */
export const content = work.subarray(CONTENT_AT, CONTENT_AT + MAX_CONTENT_LENGTH);

/**
 * Seals what stands in {@link content}.
 * @param length how many bytes of it
 * @param nonce  never one that the key has sealed with before
 * @returns ciphertext and tag; they change with the next call of this module
 */
export function seal(key: Uint8Array, nonce: Uint8Array, length: number): Uint8Array {
	begin(nonce);
	cipher(key, blockTo(CONTENT_AT + length));
	writeTag(length);
	const end = CONTENT_AT + length;
	work.set(tag, end);
	return contentTo(end + TAG_LENGTH);
}

/**
 * Opens what {@link seal} has sealed.
 * @returns the content, which changes with the next call of this module; null where it was altered, or is none
 */
export function open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | null {
	const length = sealed.length - TAG_LENGTH;
	if (length < 0 || length > MAX_CONTENT_LENGTH) return null;
	begin(nonce);
	cipher(key, blockTo(CONTENT_AT));
	work.set(sealed, CONTENT_AT);
	for (let at = 0; at < TAG_LENGTH; at++) given[at] = sealed[length + at] as number;
	writeTag(length);
	if (!equal(tag, given)) return null;
	const ciphered = contentTo(CONTENT_AT + length);
	cipher(key, ciphered);
	return ciphered;
}

function blockTo(end: number): Uint8Array {
	return fromBlock[end] ?? keepView(fromBlock, 0, end);
}

function contentTo(end: number): Uint8Array {
	return fromContent[end] ?? keepView(fromContent, CONTENT_AT, end);
}

function keepView(views: Views, from: number, end: number): Uint8Array {
	const view = work.subarray(from, end);
	views[end] = view;
	return view;
}

function begin(nonce: Uint8Array): void {
	counter.fill(0, 0, COUNTER_LENGTH);
	counter.set(nonce, COUNTER_LENGTH);
	work.fill(0, 0, CONTENT_AT);
}

/** Adds the key's stream, from where the counter is, to whole blocks, or to what ends with one that is not whole. */
function cipher(key: Uint8Array, ciphered: Uint8Array): void {
	streamXOR(key, counter, ciphered, ciphered, COUNTER_LENGTH);
}

/** Makes the tag of the ciphertext. */
function writeTag(length: number): void {
	const end = CONTENT_AT + Math.ceil(length / MAC_BLOCK) * MAC_BLOCK;
	work.fill(0, CONTENT_AT + length, end + MAC_BLOCK);
	// Behind the length of what is associated, which is zero: eight bytes each, least first.
	work[end + 8] = length;
	work[end + 9] = length >>> 8;
	new Poly1305(tagKey).update(contentTo(end + MAC_BLOCK)).finish(tag);
}
