import { SECOND_MS } from "./time.ts";

/** A body that has come within this time came at once: whoever held it back for longer is asked again who they are. */
export const SLOW_BODY_MS = SECOND_MS;

/** All bytes of a stream; null once there are more than `maxBytes`, and the rest is not read. */
export async function readCapped(stream: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	if (stream !== null) {
		const reader = stream.getReader();
		for (let next = await reader.read(); !next.done; next = await reader.read()) {
			size += next.value.byteLength;
			if (size > maxBytes) {
				await reader.cancel();
				return null;
			}
			chunks.push(next.value);
		}
	}
	const bytes = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.byteLength;
	}
	return bytes;
}
