const encoder = new TextEncoder();
const decoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const byteDecoder = new TextDecoder("windows-1252");

export function utf8(text: string): Uint8Array {
	return encoder.encode(text);
}

export function fromUtf8(bytes: ArrayBuffer | ArrayBufferView): string {
	return decoder.decode(bytes);
}

/** The same, but bytes that are no UTF-8 are read as Windows-1252, where each is a character: no two texts become one, as by U+FFFD. */
export function fromUtf8OrWindows1252(bytes: ArrayBuffer | ArrayBufferView): string {
	try {
		return strictDecoder.decode(bytes);
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		return byteDecoder.decode(bytes);
	}
}

/** Most bytes of UTF-8 that a UTF-16 unit comes to. */
const MAX_BYTES_OF_UNIT = 3;

/** Whether a text has at most so many bytes as UTF-8; a short one is not encoded for it. */
export function hasAtMostBytes(text: string, most: number): boolean {
	return text.length * MAX_BYTES_OF_UNIT <= most || (text.length <= most && utf8(text).byteLength <= most);
}
