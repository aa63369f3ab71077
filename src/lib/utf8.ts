const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8(text: string): Uint8Array {
	return encoder.encode(text);
}

export function fromUtf8(bytes: ArrayBuffer | ArrayBufferView): string {
	return decoder.decode(bytes);
}
