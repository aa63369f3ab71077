/**
 * Secrets that have to be read again, sealed for the database: AES-256-GCM under a key that HKDF-SHA-256 derives from a ring of secrets, of
 * which the first seals and all of them open. Bytes, as URL-safe base64: version (1) · key fingerprint (4) · nonce (12, of chance) · ciphertext
 * and tag. Whose it is goes into the tag: a row that is copied to another owner does not open.
 */
import { fromBase64Url, toBase64Url } from "./base64-url.ts";
import { fromUtf8, utf8 } from "./utf8.ts";

const VERSION = 1;
const FINGERPRINT_LENGTH = 4;
const NONCE_AT = 1 + FINGERPRINT_LENGTH;
const NONCE_LENGTH = 12;
const CONTENT_AT = NONCE_AT + NONCE_LENGTH;

type BoxKey = { fingerprint: Uint8Array; key: CryptoKey };

export class SecretBox {
	readonly #secrets: readonly string[];
	#keys: Promise<BoxKey[]> | undefined;

	/** @param secrets the newest first */
	constructor(secrets: readonly string[]) {
		this.#secrets = secrets;
	}

	async seal(secret: string, owner: string): Promise<string> {
		const { fingerprint, key } = await this.#newest();
		const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
		const content = await crypto.subtle.encrypt(algorithmOf(nonce, owner), key, utf8(secret));
		const sealed = new Uint8Array(CONTENT_AT + content.byteLength);
		sealed[0] = VERSION;
		sealed.set(fingerprint, 1);
		sealed.set(nonce, NONCE_AT);
		sealed.set(new Uint8Array(content), CONTENT_AT);
		return toBase64Url(sealed);
	}

	/** Null where it was altered, is another owner's, or of a key that is not in the ring any more. */
	async open(sealed: string, owner: string): Promise<string | null> {
		const bytes = fromBase64Url(sealed);
		if (bytes === null || bytes.length <= CONTENT_AT || bytes[0] !== VERSION) return null;
		const of = (await this.#ring()).find(({ fingerprint }) => isOf(bytes, fingerprint));
		if (of === undefined) return null;
		try {
			return fromUtf8(
				await crypto.subtle.decrypt(algorithmOf(bytes.slice(NONCE_AT, CONTENT_AT), owner), of.key, bytes.subarray(CONTENT_AT)),
			);
		} catch (error) {
			// WebCrypto's word for a tag that does not fit.
			if (error instanceof DOMException && error.name === "OperationError") return null;
			throw error;
		}
	}

	/** Whether the newest key has sealed it. */
	async isOfNewestKey(sealed: string): Promise<boolean> {
		const bytes = fromBase64Url(sealed);
		return bytes !== null && isOf(bytes, (await this.#newest()).fingerprint);
	}

	async #newest(): Promise<BoxKey> {
		const [newest] = await this.#ring();
		if (newest === undefined) throw new Error("TOKEN_KEYS: at least one key is needed");
		return newest;
	}

	#ring(): Promise<BoxKey[]> {
		this.#keys ??= Promise.all(this.#secrets.map(deriveKey));
		return this.#keys;
	}
}

function isOf(sealed: Uint8Array, fingerprint: Uint8Array): boolean {
	return sealed.subarray(1, NONCE_AT).toHex() === fingerprint.toHex();
}

function algorithmOf(nonce: Uint8Array, owner: string) {
	return { name: "AES-GCM", iv: nonce, additionalData: utf8(owner) };
}

async function deriveKey(secret: string): Promise<BoxKey> {
	const master = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey", "deriveBits"]);
	const from = (info: string) => ({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8(info) });
	const [fingerprint, key] = await Promise.all([
		crypto.subtle.deriveBits(from("secret box key fingerprint"), master, FINGERPRINT_LENGTH * 8),
		crypto.subtle.deriveKey(from("secret box"), master, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]),
	]);
	return { fingerprint: new Uint8Array(fingerprint), key };
}
