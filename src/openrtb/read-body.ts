/** Largest bid request body, in bytes, after decompression. */
export const MAX_BODY_BYTES = 256 * 1024;

/** A gzip body cannot be much longer than what it holds; this much more is allowed for its framing. */
const GZIP_SLACK_BYTES = 1_024;

export type BodyResult = { ok: true; text: string } | { ok: false; reason: "too_large" | "unreadable" };

const TOO_LARGE = { ok: false, reason: "too_large" } as const;
const decoder = new TextDecoder();

/**
 * Reads a bid request's body as text: plain, or gzip by its first bytes whatever the headers say. The cap of MAX_BODY_BYTES
 * holds for what comes out of the decoder, and decoding ends as soon as it is passed.
 */
export function readBody(request: Request): Promise<BodyResult> {
	const cap = MAX_BODY_BYTES + GZIP_SLACK_BYTES;
	const length = request.headers.get("content-length");
	if (length === null) return readCapped(request.body, cap).then(decode);
	if (Number(length) > cap) return Promise.resolve(TOO_LARGE);
	return request.arrayBuffer().then((buffer) => decode(new Uint8Array(buffer)));
}

function decode(raw: Uint8Array | null): BodyResult | Promise<BodyResult> {
	if (raw === null) return TOO_LARGE;
	if (raw[0] === 0x1f && raw[1] === 0x8b) return gunzip(raw);
	return raw.byteLength > MAX_BODY_BYTES ? TOO_LARGE : { ok: true, text: decoder.decode(raw) };
}

async function gunzip(raw: Uint8Array): Promise<BodyResult> {
	const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
	try {
		const bytes = await readCapped(stream, MAX_BODY_BYTES);
		return bytes === null ? TOO_LARGE : { ok: true, text: decoder.decode(bytes) };
	} catch (error) {
		// The runtime reports corrupt or truncated gzip as a TypeError.
		if (error instanceof TypeError) return { ok: false, reason: "unreadable" };
		throw error;
	}
}

/** All bytes of a stream, or null once there are more than `cap`. */
async function readCapped(stream: ReadableStream<Uint8Array> | null, cap: number): Promise<Uint8Array | null> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	if (stream !== null) {
		const reader = stream.getReader();
		for (let next = await reader.read(); !next.done; next = await reader.read()) {
			size += next.value.byteLength;
			if (size > cap) {
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
