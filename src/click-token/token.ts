/**
 * The click token: the opaque `encyp` value of every click URL, and the contract between bidding (which mints it) and the
 * click tracker (which opens it).
 *
 * Bytes, as URL-safe base64: version (1) · key fingerprint (4) · isolate salt (13) · counter (3) · ciphertext and tag. Each isolate
 * derives a key of its own from the newest secret and a random salt (HKDF-SHA-256) and counts, so that nothing is ever used twice under
 * a key however many tokens are minted; when the counter is full it derives the next key. The header needs no authentication of its
 * own: it decides key and nonce, so that any change to it breaks the tag.
 *
 * Version 1 is AES-256-GCM by WebCrypto. Version 4 is ChaCha20-Poly1305 (RFC 8439) in JavaScript: without a promise, which on a bid or a
 * redirect costs more than the cipher. Version 2 is that of tracking links (link-token.ts). There was a version 3.
 */
import { readBase64Url, toBase64Url } from "../lib/base64-url.ts";
import { fromUtf8, utf8 } from "../lib/utf8.ts";
import { content, KEY_LENGTH, MAX_CONTENT_LENGTH, NONCE_LENGTH, open, seal, TAG_LENGTH } from "./chacha20-poly1305.ts";
import { LINK_TOKEN_VERSION, LinkTokens } from "./link-token.ts";
import { type ClickToken, decodeContent, encodeContent, ofLink } from "./token-content.ts";

/** Versions of a bid's token. */
export const TOKEN_VERSIONS = [1, 4] as const;
export type TokenVersion = (typeof TOKEN_VERSIONS)[number];

const GCM = 1;
const CHACHA = 4;
const FINGERPRINT_LENGTH = 4;
const SALT_LENGTH = 13;
/** A multiple of three bytes, so that header and ciphertext can be encoded apart. */
const COUNTER_AT = 1 + FINGERPRINT_LENGTH + SALT_LENGTH;
const COUNTER_LENGTH = 3;
const HEADER_LENGTH = COUNTER_AT + COUNTER_LENGTH;
const PREFIX_CHARACTERS = (COUNTER_AT / 3) * 4;
/** Longest token that is looked at, in characters; ours are about 200. */
const MAX_TOKEN_LENGTH = 1_024;
const MAX_COUNTER = 0xff_ffff;
const OPENING_KEYS_KEPT = 512;
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

type Master = { fingerprint: Uint8Array; key: CryptoKey };

/** A key of one isolate, with what is reused from token to token. */
type Minting<Key> = {
	key: Key;
	/** The encoded header up to the counter. */
	prefix: string;
	counter: number;
	nonce: Uint8Array;
};

/** What opens the tokens of one isolate's key: by its version. */
type OpeningKey = CryptoKey | Uint8Array;

const encoder = new TextEncoder();
/** Mints and opens click tokens with a ring of secrets: the first mints, all of them open. */
export class ClickTokens {
	readonly #secrets: readonly string[];
	readonly #links: LinkTokens;
	readonly #version: TokenVersion;
	readonly #perKey: number;
	#masters: Master[] | undefined;
	#gcm: Minting<CryptoKey> | undefined;
	#chacha: Minting<Uint8Array> | undefined;
	readonly #opening = new Map<string, { key: OpeningKey; used: number }>();
	/** Counts what was opened: the key that was used at the lowest count is the first to go. */
	#uses = 0;

	/**
	 * @param version of what is minted; all are opened
	 * @param perKey  how many tokens a key mints at most
	 */
	constructor(secrets: readonly string[], version: TokenVersion = GCM, perKey = MAX_COUNTER + 1) {
		if (secrets.length === 0) throw new Error("TOKEN_KEYS: at least one key is needed");
		this.#secrets = secrets;
		this.#version = version;
		this.#perKey = perKey;
		this.#links = new LinkTokens(secrets);
	}

	async mint(token: ClickToken): Promise<string> {
		return this.mintFor(token, (encyp) => encyp);
	}

	/** Mints a token, and returns what is made of it. No async function: on the bid path every step between promises counts. */
	mintFor<Made>(token: ClickToken, make: (encyp: string) => Made): Made | Promise<Made> {
		return this.#version === CHACHA ? this.#mintByChaCha(token, make) : this.#mintByGcm(token, make);
	}

	#mintByChaCha<Made>(token: ClickToken, make: (encyp: string) => Made): Made | Promise<Made> {
		const minting = this.#chacha;
		if (minting === undefined || minting.counter >= this.#perKey) return this.#startChaCha().then(() => this.#mintByChaCha(token, make));
		const counter = takeCounter(minting);
		const sealed = seal(minting.key, minting.nonce, writeContent(encodeContent(token)));
		return make(minting.prefix + encodeCounter(counter) + toBase64Url(sealed));
	}

	#mintByGcm<Made>(token: ClickToken, make: (encyp: string) => Made): Promise<Made> {
		const minting = this.#gcm;
		if (minting === undefined || minting.counter >= this.#perKey) return this.#startGcm().then(() => this.#mintByGcm(token, make));
		const counter = takeCounter(minting);
		const length = writeContent(encodeContent(token));
		const { key, nonce, prefix } = minting;
		return crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, key, content.subarray(0, length)).then((encrypted) => {
			const text = prefix + encodeCounter(counter) + toBase64Url(new Uint8Array(encrypted));
			// Frees the bytes now, not when they are collected.
			encrypted.transfer(0);
			return make(text);
		});
	}

	/**
	 * The token's content, or null where it is not ours: malformed, truncated, altered, or of a key that is not in the ring.
	 * At once where it is of version 4 and its key is known. No async function, like {@link mintFor}: it is most of a redirect.
	 */
	open(text: string): ClickToken | null | Promise<ClickToken | null> {
		const length = text.length > MAX_TOKEN_LENGTH ? null : readBase64Url(text, opened);
		if (length === null) return null;
		const version = opened[0];
		if (version === LINK_TOKEN_VERSION) return this.#links.open(opened.slice(0, length)).then(ofLink);
		if (length < HEADER_LENGTH + TAG_LENGTH || (version !== GCM && version !== CHACHA)) return null;
		// The header up to the counter, as it is encoded: what one isolate minted begins alike.
		const prefix = text.slice(0, PREFIX_CHARACTERS);
		const known = this.#opening.get(prefix);
		if (known === undefined) {
			const bytes = opened.slice(0, length);
			return this.#deriveOpeningKey(prefix, bytes, version).then((key) => (key === null ? null : unseal(key, bytes)));
		}
		known.used = ++this.#uses;
		return unseal(known.key, opened.subarray(0, length));
	}

	async #startGcm(): Promise<void> {
		const { master, salt, prefix } = await this.#startMinting(GCM);
		this.#gcm = { key: await deriveGcmKey(master, salt), prefix, counter: 0, nonce: new Uint8Array(NONCE_LENGTH) };
	}

	async #startChaCha(): Promise<void> {
		const { master, salt, prefix } = await this.#startMinting(CHACHA);
		this.#chacha = { key: await deriveChaChaKey(master, salt), prefix, counter: 0, nonce: new Uint8Array(NONCE_LENGTH) };
	}

	/**
	 * Chooses this isolate's next key, and its header up to the counter. Two requests may do so at once: either key is good, and counts
	 * for itself.
	 */
	async #startMinting(version: TokenVersion): Promise<{ master: CryptoKey; salt: Uint8Array; prefix: string }> {
		const [newest] = await this.#ring();
		if (newest === undefined) throw new Error("TOKEN_KEYS: at least one key is needed");
		const salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH));
		const prefix = new Uint8Array(COUNTER_AT);
		prefix[0] = version;
		prefix.set(newest.fingerprint, 1);
		prefix.set(salt, 1 + FINGERPRINT_LENGTH);
		return { master: newest.key, salt, prefix: toBase64Url(prefix) };
	}

	async #deriveOpeningKey(prefix: string, bytes: Uint8Array, version: TokenVersion): Promise<OpeningKey | null> {
		const fingerprint = bytes.slice(1, 1 + FINGERPRINT_LENGTH).toHex();
		const master = (await this.#ring()).find((candidate) => candidate.fingerprint.toHex() === fingerprint);
		if (master === undefined) return null;
		const salt = bytes.slice(1 + FINGERPRINT_LENGTH, COUNTER_AT);
		const key = await (version === CHACHA ? deriveChaChaKey(master.key, salt) : deriveGcmKey(master.key, salt));
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

function deriveGcmKey(master: CryptoKey, salt: Uint8Array): Promise<CryptoKey> {
	return crypto.subtle.deriveKey(derivation(GCM, salt), master, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

async function deriveChaChaKey(master: CryptoKey, salt: Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await crypto.subtle.deriveBits(derivation(CHACHA, salt), master, KEY_LENGTH * 8));
}

function derivation(version: TokenVersion, salt: Uint8Array) {
	return { name: "HKDF", hash: "SHA-256", salt, info: utf8(`click token v${version}`) };
}

/**
 * Writes a content as UTF-8 and returns how many bytes it took: nearly always ASCII, which needs no call into the runtime. Names are
 * bounded, so it is never too long.
 */
function writeContent(text: string): number {
	if (text.length > MAX_CONTENT_LENGTH) throw new RangeError("a click token's content is too long");
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code > 0x7f) return encodeText(text);
		content[i] = code;
	}
	return text.length;
}

function encodeText(text: string): number {
	const { read, written } = encoder.encodeInto(text, content);
	if (read < text.length) throw new RangeError("a click token's content is too long");
	return written;
}

/** Takes the next nonce of a key: the counter, in its last three bytes. */
function takeCounter(minting: Minting<unknown>): number {
	const counter = minting.counter++;
	const { nonce } = minting;
	nonce[NONCE_LENGTH - 3] = counter >>> 16;
	nonce[NONCE_LENGTH - 2] = counter >>> 8;
	nonce[NONCE_LENGTH - 1] = counter;
	return counter;
}

/** Reused from token to token: WebCrypto takes a copy of the nonce before it returns. */
const opening = { name: "AES-GCM", iv: new Uint8Array(NONCE_LENGTH) } as const;
/** The bytes of a token whose key is known: as above. */
const opened = new Uint8Array(MAX_TOKEN_LENGTH);

/** @param bytes of a token; may change once this returns */
function unseal(key: OpeningKey, bytes: Uint8Array): ClickToken | null | Promise<ClickToken | null> {
	for (let at = 0; at < COUNTER_LENGTH; at++) opening.iv[NONCE_LENGTH - COUNTER_LENGTH + at] = bytes[COUNTER_AT + at] ?? 0;
	const body = bytes.subarray(HEADER_LENGTH);
	if (key instanceof Uint8Array) {
		const plain = open(key, opening.iv, body);
		return plain === null ? null : decodeContent(fromUtf8(plain));
	}
	return crypto.subtle.decrypt(opening, key, body).then(decodePlain, refuseAltered);
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

function encodeCounter(counter: number): string {
	return (
		BASE64URL.charAt(counter >>> 18) +
		BASE64URL.charAt((counter >>> 12) & 63) +
		BASE64URL.charAt((counter >>> 6) & 63) +
		BASE64URL.charAt(counter & 63)
	);
}
