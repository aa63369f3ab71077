const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8(text: string): Uint8Array {
	return encoder.encode(text);
}

export function fromUtf8(bytes: ArrayBuffer | ArrayBufferView): string {
	return decoder.decode(bytes);
}

/** Most bytes of UTF-8 that a UTF-16 unit comes to. */
const MAX_BYTES_OF_UNIT = 3;

/** Whether a text has at most so many bytes as UTF-8; a short one is not encoded for it. */
export function hasAtMostBytes(text: string, most: number): boolean {
	return text.length * MAX_BYTES_OF_UNIT <= most || (text.length <= most && utf8(text).byteLength <= most);
}
