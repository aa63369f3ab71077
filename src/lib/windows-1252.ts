/** A file of its own: the edge, which reads nothing by it, need not make its decoders. */
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const byteDecoder = new TextDecoder("windows-1252");

/** Bytes that are no UTF-8 are read as Windows-1252, where each is a character: no two texts become one, as by U+FFFD. */
export function fromUtf8OrWindows1252(bytes: ArrayBuffer | ArrayBufferView): string {
	try {
		return strictDecoder.decode(bytes);
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		return byteDecoder.decode(bytes);
	}
}
