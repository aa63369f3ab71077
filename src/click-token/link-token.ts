/**
 * The token of a tracking link: the same for the same publisher, campaign and key, at every call, so that a brand list changes
 * only where its brands do. Minted here, opened by {@link ClickTokens.open} like any other token.
 *
 * Bytes, as URL-safe base64: version (1) · key fingerprint (4) · tag (16) · ciphertext. Deterministic authenticated encryption
 * in the manner of SIV: the tag is HMAC-SHA-256 over the content, cut to 128 bits, and the counter from which AES-256-CTR
 * encrypts it. Two contents share a counter only where their HMACs collide, so there is no nonce to run out of or to repeat;
 * what the same token twice gives away is that it is the same link, which its two bearers know. Both keys are derived from the
 * ring's secret by HKDF-SHA-256, under names of their own.
 */
import { toBase64Url } from "../lib/base64-url.ts";
import { fromUtf8, utf8 } from "../lib/utf8.ts";

/** What a tracking link's token holds. */
export type TrackingLink = {
	/** Publisher identity. */
	publisher: string;
	/** Internal brand id. */
	advertiserId: number;
	/** The brand's canonical domain. */
	domain: string;
	campaignId: number;
};

/** First byte of a token of this kind. */
export const LINK_TOKEN_VERSION = 2;
const FINGERPRINT_LENGTH = 4;
const TAG_LENGTH = 16;
const TAG_AT = 1 + FINGERPRINT_LENGTH;
const CONTENT_AT = TAG_AT + TAG_LENGTH;

type LinkKeys = { fingerprint: Uint8Array; mac: CryptoKey; cipher: CryptoKey };

/** Mints and opens tracking links' tokens with a ring of secrets: the first mints, all of them open. */
export class LinkTokens {
	readonly #secrets: readonly string[];
	#keys: LinkKeys[] | undefined;

	constructor(secrets: readonly string[]) {
		if (secrets.length === 0) throw new Error("TOKEN_KEYS: at least one key is needed");
		this.#secrets = secrets;
	}

	/** Names the key that mints, in hex: links change with it. It stands in every token, and tells nothing of the key. */
	async fingerprint(): Promise<string> {
		return (await this.#newest()).fingerprint.toHex();
	}

	async mint({ publisher, advertiserId, domain, campaignId }: TrackingLink): Promise<string> {
		const keys = this.#keys?.[0] ?? (await this.#newest());
		const content = utf8(JSON.stringify([publisher, advertiserId, domain, campaignId]));
		const tag = new Uint8Array(await crypto.subtle.sign("HMAC", keys.mac, content), 0, TAG_LENGTH);
		const sealed = await crypto.subtle.encrypt(counterFrom(tag), keys.cipher, content);
		const token = new Uint8Array(CONTENT_AT + sealed.byteLength);
		token[0] = LINK_TOKEN_VERSION;
		token.set(keys.fingerprint, 1);
		token.set(tag, TAG_AT);
		token.set(new Uint8Array(sealed), CONTENT_AT);
		return toBase64Url(token);
	}

	/** The link of a token's bytes, or null where it is truncated, altered, or of a key that is not in the ring. */
	async open(token: Uint8Array): Promise<TrackingLink | null> {
		if (token.length <= CONTENT_AT || token[0] !== LINK_TOKEN_VERSION) return null;
		const fingerprint = token.subarray(1, TAG_AT).toHex();
		const keys = (await this.#ring()).find((candidate) => candidate.fingerprint.toHex() === fingerprint);
		if (keys === undefined) return null;
		const tag = token.slice(TAG_AT, CONTENT_AT);
		const content = new Uint8Array(await crypto.subtle.decrypt(counterFrom(tag), keys.cipher, token.subarray(CONTENT_AT)));
		const expected = new Uint8Array(await crypto.subtle.sign("HMAC", keys.mac, content), 0, TAG_LENGTH);
		if (!crypto.subtle.timingSafeEqual(tag, expected)) return null;
		const [publisher, advertiserId, domain, campaignId] = JSON.parse(fromUtf8(content));
		return { publisher, advertiserId, domain, campaignId };
	}

	async #newest(): Promise<LinkKeys> {
		const [newest] = await this.#ring();
		if (newest === undefined) throw new Error("TOKEN_KEYS: at least one key is needed");
		return newest;
	}

	async #ring(): Promise<LinkKeys[]> {
		this.#keys ??= await Promise.all(this.#secrets.map(deriveKeys));
		return this.#keys;
	}
}

function counterFrom(tag: Uint8Array) {
	return { name: "AES-CTR", counter: tag, length: 128 };
}

async function deriveKeys(secret: string): Promise<LinkKeys> {
	const master = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey", "deriveBits"]);
	const from = (info: string) => ({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8(info) });
	const [fingerprint, mac, cipher] = await Promise.all([
		crypto.subtle.deriveBits(from("link token key fingerprint"), master, FINGERPRINT_LENGTH * 8),
		crypto.subtle.deriveKey(from("link token mac"), master, { name: "HMAC", hash: "SHA-256", length: 256 }, false, ["sign"]),
		crypto.subtle.deriveKey(from("link token cipher"), master, { name: "AES-CTR", length: 256 }, false, ["encrypt", "decrypt"]),
	]);
	return { fingerprint: new Uint8Array(fingerprint), mac, cipher };
}
