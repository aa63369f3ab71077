import { readCapped } from "../lib/read-capped.ts";

/** Largest bid request body, in bytes, after decompression. */
export const MAX_BODY_BYTES = 256 * 1024;

/** A gzip body cannot be much longer than what it holds; this much more is allowed for its framing. */
const GZIP_SLACK_BYTES = 1_024;

export type BodyResult = { ok: true; text: string } | { ok: false; reason: "too_large" | "unreadable" };

const TOO_LARGE = { ok: false, reason: "too_large" } as const;
const decoder = new TextDecoder();

/** A bid request's body as it came; null where it is too large to hold one, of which no more than that is read. */
export function receiveBody(request: Request): Promise<ArrayBuffer | null> {
	const cap = MAX_BODY_BYTES + GZIP_SLACK_BYTES;
	const length = request.headers.get("content-length");
	if (length === null) return readCapped(request.body, cap).then((bytes) => bytes?.buffer ?? null);
	return Number(length) > cap ? Promise.resolve(null) : request.arrayBuffer();
}

/**
 * Reads a received body as text: plain, or gzip by its first bytes whatever the headers say. The cap of MAX_BODY_BYTES holds for
 * what comes out of the decoder, and decoding ends as soon as it is passed. The buffer cannot be read again.
 */
export function decodeBody(buffer: ArrayBuffer | null): BodyResult | Promise<BodyResult> {
	if (buffer === null) return TOO_LARGE;
	const raw = new Uint8Array(buffer);
	if (raw[0] === 0x1f && raw[1] === 0x8b) return gunzip(raw);
	if (raw.byteLength > MAX_BODY_BYTES) return TOO_LARGE;
	const text = decoder.decode(raw);
	// Frees the bytes now. Until they are collected they would count as memory in use, and so hasten the next collection.
	buffer.transfer(0);
	return { ok: true, text };
}

async function gunzip(raw: Uint8Array<ArrayBuffer>): Promise<BodyResult> {
	const stream = streamOf(raw).pipeThrough(new DecompressionStream("gzip"));
	try {
		const bytes = await readCapped(stream, MAX_BODY_BYTES);
		return bytes === null ? TOO_LARGE : { ok: true, text: decoder.decode(bytes) };
	} catch (error) {
		// The runtime reports corrupt or truncated gzip as a TypeError.
		if (error instanceof TypeError) return { ok: false, reason: "unreadable" };
		throw error;
	}
}

/** So few bytes that what they grow to, a thousand times as much at most, is soon stopped. */
const GZIP_SLICE_BYTES = 256;

function streamOf(raw: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
	let at = 0;
	return new ReadableStream<Uint8Array<ArrayBuffer>>({
		pull(controller) {
			if (at >= raw.byteLength) return controller.close();
			controller.enqueue(raw.subarray(at, at + GZIP_SLICE_BYTES));
			at += GZIP_SLICE_BYTES;
		},
	});
}
