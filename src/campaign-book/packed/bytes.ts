/** Writes and reads packed bytes: numbers in as few bytes as they need, texts as UTF-8 behind their length. */
import { keepShape } from "../../lib/kept-shapes.ts";
import { fromUtf8, utf8 } from "../../lib/utf8.ts";

/** Bytes that grow as they are written. */
export class ByteWriter {
	#bytes = new Uint8Array(1_024);
	#length = 0;

	get length(): number {
		return this.#length;
	}

	/** What has been written; no copy of it. */
	take(): Uint8Array {
		return this.#bytes.subarray(0, this.#length);
	}

	byte(value: number): void {
		this.#reserve(1);
		this.#bytes[this.#length++] = value;
	}

	/** @param value a whole number from 0 to 2^53 - 1: seven bits a byte, the lowest first */
	number(value: number): void {
		if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} cannot be packed`);
		let rest = value;
		for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80);
		this.byte(rest);
	}

	/** The lowest three bytes of a number. */
	threeBytes(value: number): void {
		this.byte(value & 0xff);
		this.byte((value >>> 8) & 0xff);
		this.byte((value >>> 16) & 0xff);
	}

	text(value: string): void {
		this.section(utf8(value));
	}

	bytes(value: Uint8Array): void {
		this.#reserve(value.length);
		this.#bytes.set(value, this.#length);
		this.#length += value.length;
	}

	/** Bytes behind their length, so that a reader may pass over them. */
	section(value: Uint8Array): void {
		this.number(value.length);
		this.bytes(value);
	}

	#reserve(more: number): void {
		const needed = this.#length + more;
		if (needed <= this.#bytes.length) return;
		const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
		grown.set(this.#bytes);
		this.#bytes = grown;
	}
}

/** A place in packed bytes that moves on as they are read. */
export class ByteReader {
	readonly bytes: Uint8Array;
	at: number;

	constructor(bytes: Uint8Array, at: number) {
		this.bytes = bytes;
		this.at = at;
	}

	byte(): number {
		return this.bytes[this.at++] as number;
	}

	number(): number {
		const { bytes } = this;
		let byte = bytes[this.at++] as number;
		if (byte < 0x80) return byte;
		let value = byte & 0x7f;
		byte = bytes[this.at++] as number;
		value |= (byte & 0x7f) << 7;
		if (byte < 0x80) return value;
		byte = bytes[this.at++] as number;
		value |= (byte & 0x7f) << 14;
		if (byte < 0x80) return value;
		// Past 31 bits there are no bit operations.
		for (let factor = 2 ** 21; byte >= 0x80; factor *= 128) {
			byte = bytes[this.at++] as number;
			value += (byte & 0x7f) * factor;
		}
		return value;
	}

	threeBytes(): number {
		const { bytes, at } = this;
		this.at = at + 3;
		return readThreeBytes(bytes, at);
	}

	text(): string {
		const length = this.number();
		const from = this.at;
		this.at = from + length;
		return readText(this.bytes, from, this.at);
	}

	/** Passes over a section. Returns where it begins. */
	skip(): number {
		const length = this.number();
		const from = this.at;
		this.at = from + length;
		return from;
	}
}

keepShape(new ByteReader(new Uint8Array(), 0));

export function readThreeBytes(bytes: Uint8Array, at: number): number {
	return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
}

/** Longer texts are left to the decoder, which costs a call into the runtime. */
const MAX_PLAIN = 64;

function readText(bytes: Uint8Array, from: number, to: number): string {
	if (to - from > MAX_PLAIN) return fromUtf8(bytes.subarray(from, to));
	let text = "";
	for (let at = from; at < to; at++) {
		const byte = bytes[at] as number;
		if (byte > 0x7f) return fromUtf8(bytes.subarray(from, to));
		text += String.fromCharCode(byte);
	}
	return text;
}

/** Whether a text stands at a place as UTF-8 of this many bytes. */
export function isTextAt(bytes: Uint8Array, at: number, length: number, text: string): boolean {
	if (text.length > length) return false;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code > 0x7f) return fromUtf8(bytes.subarray(at, at + length)) === text;
		if (bytes[at + i] !== code) return false;
	}
	return text.length === length;
}
