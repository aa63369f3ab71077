import { readCapped } from "../lib/read-capped.ts";
import { MAX_BODY_BYTES, MAX_UNCOUNTED_BYTES, MAX_VALUES } from "./body-limits.ts";
import { holdsMoreValuesThan } from "./count-values.ts";

/** A gzip body cannot be much longer than what it holds; this much more is allowed for its framing. */
const GZIP_SLACK_BYTES = 1_024;

/** Why a body is refused with 413. */
type Excess = "too_large" | "too_many_values";
export type BodyResult = { ok: true; text: string } | { ok: false; reason: Excess | "unreadable" };

/** What whoever sent it is told. */
export const EXCESSES: Readonly<Record<Excess, string>> = {
	too_large: `The body may hold at most ${MAX_BODY_BYTES} bytes`,
	too_many_values: `The body may hold at most ${MAX_VALUES} names and values`,
};

const TOO_LARGE = { ok: false, reason: "too_large" } as const;
const TOO_MANY_VALUES = { ok: false, reason: "too_many_values" } as const;
const UNREADABLE = { ok: false, reason: "unreadable" } as const;
const decoder = new TextDecoder();

/** A bid request's body as it came; null where it is too large to hold one, of which no more than that is read. */
export function receiveBody(request: Request, headers: Headers): Promise<ArrayBuffer | null> {
	const cap = MAX_BODY_BYTES + GZIP_SLACK_BYTES;
	const length = headers.get("content-length");
	if (length === null) return readCapped(request.body, cap).then((bytes) => bytes?.buffer ?? null);
	return Number(length) > cap ? Promise.resolve(null) : request.arrayBuffer();
}

/**
 * Reads a received body as text: plain, or gzip by its first bytes whatever the headers say. The limits hold for what comes out of
 * the decoder, and decoding ends as soon as MAX_BODY_BYTES are passed. The buffer cannot be read again.
 */
export function decodeBody(buffer: ArrayBuffer | null): BodyResult | Promise<BodyResult> {
	if (buffer === null) return TOO_LARGE;
	const raw = new Uint8Array(buffer);
	if (raw[0] === 0x1f && raw[1] === 0x8b) return gunzip(raw);
	if (raw.byteLength > MAX_BODY_BYTES) return TOO_LARGE;
	return decodeJson(raw);
}

/** Why a text in UTF-8 would be refused; null where it would not. */
export function excessOf(bytes: Uint8Array): Excess | null {
	if (bytes.byteLength > MAX_BODY_BYTES) return "too_large";
	return holdsTooManyValues(bytes) ? "too_many_values" : null;
}

function holdsTooManyValues(bytes: Uint8Array): boolean {
	return bytes.byteLength > MAX_UNCOUNTED_BYTES && holdsMoreValuesThan(bytes, MAX_VALUES);
}

function decodeJson(bytes: Uint8Array<ArrayBuffer>): BodyResult {
	const result: BodyResult = holdsTooManyValues(bytes) ? TOO_MANY_VALUES : { ok: true, text: decoder.decode(bytes) };
	// Frees the bytes now. Until they are collected they would count as memory in use, and so hasten the next collection.
	bytes.buffer.transfer(0);
	return result;
}

/**
 * Unzips no more than the body says it holds: its last four bytes tell, and what does not end with them is broken. So a bomb is refused
 * before it is opened, and one that says less than it holds is stopped.
 */
async function gunzip(raw: Uint8Array<ArrayBuffer>): Promise<BodyResult> {
	const size = raw.byteLength < GZIP_LEAST_BYTES ? Number.POSITIVE_INFINITY : new DataView(raw.buffer).getUint32(raw.byteLength - 4, true);
	if (size > raw.byteLength * GZIP_MAX_RATIO) return UNREADABLE;
	if (size > MAX_BODY_BYTES) return TOO_LARGE;
	const reader = streamOf(raw).pipeThrough(new DecompressionStream("gzip")).getReader({ mode: "byob" });
	try {
		const bytes = await readAtMost(reader, size + 1);
		if (bytes.byteLength > size) {
			await reader.cancel();
			return UNREADABLE;
		}
		return decodeJson(bytes);
	} catch (error) {
		// The runtime reports corrupt or truncated gzip as a TypeError.
		if (error instanceof TypeError) return UNREADABLE;
		throw error;
	}
}

/** All bytes of a stream, or the first so many, in as few reads as it takes. */
async function readAtMost(reader: ReadableStreamBYOBReader, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
	const { value } = await reader.readAtLeast(bytes, new Uint8Array(bytes));
	return value ?? new Uint8Array();
}

/** Header and trailer. */
const GZIP_LEAST_BYTES = 18;
/** Deflate makes nothing smaller than that. */
const GZIP_MAX_RATIO = 1_032;
/** So few bytes that what they grow to, a thousand times as much at most, is soon stopped. */
const GZIP_SLICE_BYTES = 512;

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
