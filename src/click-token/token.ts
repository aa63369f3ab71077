/**
 * The click token: the opaque `encyp` value of every click URL, and the contract between bidding (which mints it) and the
 * click tracker (which opens it).
 *
 * Bytes, as URL-safe base64: version (1) · key fingerprint (4) · isolate salt (13) · counter (3) · ciphertext and tag. Each isolate
 * derives a key of its own from the newest secret and a random salt (HKDF-SHA-256) and counts, so that nothing is ever used twice under
 * a key however many tokens are minted; when the counter is full it derives the next key. The header needs no authentication of its
 * own: it decides key and nonce, so that any change to it breaks the tag.
 *
 * Version 1 is AES-256-GCM, and the counter is of its nonces. Version 3 is AES-256-CTR with Poly1305 (token-stream.ts), and the counter
 * is of the key stream's blocks. Version 2 is that of tracking links (link-token.ts).
 */
import { readBase64Url, toBase64Url } from "../lib/base64-url.ts";
import { fromUtf8, utf8 } from "../lib/utf8.ts";
import { LINK_TOKEN_VERSION, LinkTokens } from "./link-token.ts";
import { type ClickToken, decodeContent, encodeContent, ofLink } from "./token-content.ts";
import { TAG_LENGTH, TokenStream, unsealStream } from "./token-stream.ts";

/** Versions of a bid's token. */
export const TOKEN_VERSIONS = [1, 3] as const;
export type TokenVersion = (typeof TOKEN_VERSIONS)[number];

const GCM = 1;
const STREAM = 3;
const FINGERPRINT_LENGTH = 4;
const SALT_LENGTH = 13;
/** A multiple of three bytes, so that header and ciphertext can be encoded apart. */
const COUNTER_AT = 1 + FINGERPRINT_LENGTH + SALT_LENGTH;
const COUNTER_LENGTH = 3;
const HEADER_LENGTH = COUNTER_AT + COUNTER_LENGTH;
const PREFIX_CHARACTERS = (COUNTER_AT / 3) * 4;
const NONCE_LENGTH = 12;
/** Longest token that is looked at, in characters; ours are about 200. */
const MAX_TOKEN_LENGTH = 1_024;
/** Longest content, in bytes: names are bounded, so it is never reached. */
const MAX_CONTENT_LENGTH = 1_024;
const MAX_COUNTER = 0xff_ffff;
const OPENING_KEYS_KEPT = 512;
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

type Master = { fingerprint: Uint8Array; key: CryptoKey };

/** What minting by AES-GCM reuses from token to token: WebCrypto takes copies before it returns. */
type GcmMinting = {
	key: CryptoKey;
	/** The encoded header up to the counter. */
	prefix: string;
	counter: number;
	algorithm: { name: "AES-GCM"; iv: Uint8Array };
};
type StreamMinting = { stream: TokenStream; prefix: string };

const encoder = new TextEncoder();
/** What is encrypted, and what it becomes; reused from token to token. */
const content = new Uint8Array(MAX_CONTENT_LENGTH);
const sealed = new Uint8Array(MAX_CONTENT_LENGTH + TAG_LENGTH);

/** Mints and opens click tokens with a ring of secrets: the first mints, all of them open. */
export class ClickTokens {
	readonly #secrets: readonly string[];
	readonly #links: LinkTokens;
	readonly #version: TokenVersion;
	#masters: Master[] | undefined;
	#gcm: GcmMinting | undefined;
	#stream: StreamMinting | undefined;
	readonly #opening = new Map<string, { key: CryptoKey; used: number }>();
	/** Counts what was opened: the key that was used at the lowest count is the first to go. */
	#uses = 0;

	/** @param version of what is minted; all are opened */
	constructor(secrets: readonly string[], version: TokenVersion = GCM) {
		if (secrets.length === 0) throw new Error("TOKEN_KEYS: at least one key is needed");
		this.#secrets = secrets;
		this.#version = version;
		this.#links = new LinkTokens(secrets);
	}

	async mint(token: ClickToken): Promise<string> {
		return this.mintFor(token, (encyp) => encyp);
	}

	/** Mints a token, and returns what is made of it. No async function: on the bid path every step between promises counts. */
	mintFor<Made>(token: ClickToken, make: (encyp: string) => Made): Made | Promise<Made> {
		return this.#version === STREAM ? this.#mintByStream(token, make) : this.#mintByGcm(token, make);
	}

	#mintByStream<Made>(token: ClickToken, make: (encyp: string) => Made): Made | Promise<Made> {
		const minting = this.#stream;
		if (minting !== undefined) {
			const length = writeText(encodeContent(token), content);
			const block = minting.stream.seal(content, length, sealed);
			if (block !== null) return make(minting.prefix + encodeCounter(block) + toBase64Url(sealed.subarray(0, length + TAG_LENGTH)));
		}
		return this.#makeStream().then(() => this.#mintByStream(token, make));
	}

	#mintByGcm<Made>(token: ClickToken, make: (encyp: string) => Made): Promise<Made> {
		const minting = this.#gcm;
		if (minting === undefined || minting.counter > MAX_COUNTER) return this.#startGcm().then(() => this.#mintByGcm(token, make));
		const counter = minting.counter++;
		writeCounter(minting.algorithm.iv, counter);
		const written = writeText(encodeContent(token), content);
		const { prefix } = minting;
		return crypto.subtle.encrypt(minting.algorithm, minting.key, content.subarray(0, written)).then((encrypted) => {
			const text = prefix + encodeCounter(counter) + toBase64Url(new Uint8Array(encrypted));
			// Frees the bytes now, not when they are collected.
			encrypted.transfer(0);
			return make(text);
		});
	}

	/**
	 * The token's content, or null where it is not ours: malformed, truncated, altered, or of a key that is not in the ring.
	 * No async function, like {@link mint}: it is most of a redirect.
	 */
	open(text: string): Promise<ClickToken | null> {
		const length = text.length > MAX_TOKEN_LENGTH ? null : readBase64Url(text, opened);
		if (length === null) return Promise.resolve(null);
		if (opened[0] === LINK_TOKEN_VERSION) return this.#links.open(opened.slice(0, length)).then(ofLink);
		const version = opened[0];
		if (length < HEADER_LENGTH + TAG_LENGTH || (version !== GCM && version !== STREAM)) return Promise.resolve(null);
		// The header up to the counter, as it is encoded: what one isolate minted begins alike.
		const prefix = text.slice(0, PREFIX_CHARACTERS);
		const known = this.#opening.get(prefix);
		if (known === undefined) {
			const bytes = opened.slice(0, length);
			return this.#deriveOpeningKey(prefix, bytes).then((key) => (key === null ? null : unseal(key, bytes, length)));
		}
		known.used = ++this.#uses;
		return unseal(known.key, opened, length);
	}

	async #startGcm(): Promise<void> {
		this.#gcm = { ...(await this.#startMinting(GCM)), counter: 0, algorithm: { name: "AES-GCM", iv: new Uint8Array(NONCE_LENGTH) } };
	}

	async #makeStream(): Promise<void> {
		if (this.#stream === undefined || this.#stream.stream.isUsedUp) {
			const { key, prefix } = await this.#startMinting(STREAM);
			this.#stream = { stream: new TokenStream(key), prefix };
		}
		await this.#stream.stream.make();
	}

	/** Derives this isolate's next key, and its header up to the counter. Two requests may do so at once: either key is good, and counts for itself. */
	async #startMinting(version: TokenVersion): Promise<{ key: CryptoKey; prefix: string }> {
		const [newest] = await this.#ring();
		if (newest === undefined) throw new Error("TOKEN_KEYS: at least one key is needed");
		const salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH));
		const prefix = new Uint8Array(COUNTER_AT);
		prefix[0] = version;
		prefix.set(newest.fingerprint, 1);
		prefix.set(salt, 1 + FINGERPRINT_LENGTH);
		return { key: await deriveKey(newest.key, salt, version), prefix: toBase64Url(prefix) };
	}

	async #deriveOpeningKey(prefix: string, bytes: Uint8Array): Promise<CryptoKey | null> {
		const fingerprint = bytes.slice(1, 1 + FINGERPRINT_LENGTH).toHex();
		const master = (await this.#ring()).find((candidate) => candidate.fingerprint.toHex() === fingerprint);
		if (master === undefined) return null;
		const key = await deriveKey(master.key, bytes.slice(1 + FINGERPRINT_LENGTH, COUNTER_AT), bytes[0] === STREAM ? STREAM : GCM);
		if (this.#opening.size >= OPENING_KEYS_KEPT) this.#dropOpeningKey();
		this.#opening.set(prefix, { key, used: ++this.#uses });
		return key;
	}

	#dropOpeningKey(): void {
		let oldest: string | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const [prefix, { used }] of this.#opening) {
			if (used >= least) continue;
			oldest = prefix;
			least = used;
		}
		if (oldest !== undefined) this.#opening.delete(oldest);
	}

	async #ring(): Promise<Master[]> {
		this.#masters ??= await Promise.all(this.#secrets.map(importMaster));
		return this.#masters;
	}
}

async function importMaster(secret: string): Promise<Master> {
	const key = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey", "deriveBits"]);
	const fingerprint = await crypto.subtle.deriveBits(
		{ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8("click token key fingerprint") },
		key,
		FINGERPRINT_LENGTH * 8,
	);
	return { fingerprint: new Uint8Array(fingerprint), key };
}

function deriveKey(master: CryptoKey, salt: Uint8Array, version: TokenVersion): Promise<CryptoKey> {
	return crypto.subtle.deriveKey(
		{ name: "HKDF", hash: "SHA-256", salt, info: utf8(`click token v${version}`) },
		master,
		{ name: version === STREAM ? "AES-CTR" : "AES-GCM", length: 256 },
		false,
		["encrypt", "decrypt"],
	);
}

/** Writes text as UTF-8 and returns how many bytes it took: nearly always ASCII, which needs no call into the runtime. */
function writeText(text: string, bytes: Uint8Array): number {
	if (text.length > bytes.length) throw new RangeError("a click token's content is too long");
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code > 0x7f) return encodeText(text, bytes);
		bytes[i] = code;
	}
	return text.length;
}

function encodeText(text: string, bytes: Uint8Array): number {
	const { read, written } = encoder.encodeInto(text, bytes);
	if (read < text.length) throw new RangeError("a click token's content is too long");
	return written;
}

/** The counter stands in the last three bytes of a nonce. */
function writeCounter(nonce: Uint8Array, counter: number): void {
	nonce[NONCE_LENGTH - 3] = counter >>> 16;
	nonce[NONCE_LENGTH - 2] = counter >>> 8;
	nonce[NONCE_LENGTH - 1] = counter;
}

/** Reused from token to token: WebCrypto takes a copy of the nonce before it returns. */
const opening = { name: "AES-GCM", iv: new Uint8Array(NONCE_LENGTH) } as const;
/** The bytes of a token whose key is known: as above. */
const opened = new Uint8Array(MAX_TOKEN_LENGTH);

function unseal(key: CryptoKey, bytes: Uint8Array, length: number): Promise<ClickToken | null> {
	if (bytes[0] === STREAM) {
		return unsealStream(key, readCounter(bytes), bytes.subarray(HEADER_LENGTH, length)).then((plain) => {
			if (plain === null) return null;
			const text = fromUtf8(plain);
			plain.buffer.transfer(0);
			return decodeContent(text);
		});
	}
	for (let at = 0; at < COUNTER_LENGTH; at++) opening.iv[NONCE_LENGTH - COUNTER_LENGTH + at] = bytes[COUNTER_AT + at] ?? 0;
	return crypto.subtle.decrypt(opening, key, bytes.subarray(HEADER_LENGTH, length)).then(decodePlain, refuseAltered);
}

function decodePlain(plain: ArrayBuffer): ClickToken | null {
	const text = fromUtf8(plain);
	// Frees the bytes now, not when they are collected.
	plain.transfer(0);
	return decodeContent(text);
}

function refuseAltered(error: unknown): null {
	if (error instanceof DOMException && error.name === "OperationError") return null;
	throw error;
}

function readCounter(bytes: Uint8Array): number {
	return ((bytes[COUNTER_AT] ?? 0) << 16) | ((bytes[COUNTER_AT + 1] ?? 0) << 8) | (bytes[COUNTER_AT + 2] ?? 0);
}

function encodeCounter(counter: number): string {
	return (
		BASE64URL.charAt(counter >>> 18) +
		BASE64URL.charAt((counter >>> 12) & 63) +
		BASE64URL.charAt((counter >>> 6) & 63) +
		BASE64URL.charAt(counter & 63)
	);
}
