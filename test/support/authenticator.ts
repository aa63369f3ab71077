/** A device that makes and uses passkeys, as a browser answers for it: P-256, no attestation. */
import { isoCBOR } from "@simplewebauthn/server/helpers";
import { toBase64Url } from "../../src/lib/base64-url.ts";
import { utf8 } from "../../src/lib/utf8.ts";

type Options = { challenge: string };
type Faults = { origin?: string; host?: string; isVerified?: boolean };

const ORIGIN = "http://localhost:8787";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const USER_IS_THERE = 0x01;
const USER_IS_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
const FINGERPRINT = 16;

export class Authenticator {
	readonly #id = crypto.getRandomValues(new Uint8Array(16));
	readonly #keys: CryptoKeyPair;
	#counter = 0;

	private constructor(keys: CryptoKeyPair) {
		this.#keys = keys;
	}

	static async open(): Promise<Authenticator> {
		return new Authenticator((await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as CryptoKeyPair);
	}

	async register({ challenge }: Options, { origin = ORIGIN, host = "localhost", isVerified = true }: Faults = {}): Promise<object> {
		const key = new Uint8Array((await crypto.subtle.exportKey("raw", this.#keys.publicKey)) as ArrayBuffer);
		const cose = isoCBOR.encode(
			new Map<number, number | Uint8Array>([
				[1, 2],
				[3, -7],
				[-1, 1],
				[-2, key.slice(1, 33)],
				[-3, key.slice(33)],
			]) as never,
		);
		const credential = join(new Uint8Array(FINGERPRINT), Uint8Array.of(0, this.#id.length), this.#id, cose);
		const authData = join(await this.#head(host, flagsOf(isVerified) | HAS_CREDENTIAL), credential);
		const attestation = isoCBOR.encode(
			new Map<string, unknown>([
				["fmt", "none"],
				["attStmt", new Map()],
				["authData", authData],
			]) as never,
		);
		return this.#answer({ clientDataJSON: clientData("webauthn.create", challenge, origin), attestationObject: toBase64Url(attestation) });
	}

	async use({ challenge }: Options, { origin = ORIGIN, host = "localhost", isVerified = true }: Faults = {}): Promise<object> {
		this.#counter++;
		const authenticatorData = await this.#head(host, flagsOf(isVerified));
		const data = clientData("webauthn.get", challenge, origin);
		const signed = join(
			authenticatorData,
			new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.fromBase64(data, { alphabet: "base64url" }))),
		);
		const signature = toDer(new Uint8Array(await crypto.subtle.sign(ALGORITHM, this.#keys.privateKey, signed)));
		return this.#answer({ clientDataJSON: data, authenticatorData: toBase64Url(authenticatorData), signature: toBase64Url(signature) });
	}

	#answer(response: object): object {
		const id = toBase64Url(this.#id);
		return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
	}

	async #head(host: string, flags: number): Promise<Uint8Array<ArrayBuffer>> {
		const counter = new Uint8Array(4);
		new DataView(counter.buffer).setUint32(0, this.#counter);
		return join(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(host))), Uint8Array.of(flags), counter);
	}
}

function flagsOf(isVerified: boolean): number {
	return USER_IS_THERE | (isVerified ? USER_IS_VERIFIED : 0);
}

function clientData(type: string, challenge: string, origin: string): string {
	return toBase64Url(utf8(JSON.stringify({ type, challenge, origin, crossOrigin: false })));
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
	const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const part of parts) {
		joined.set(part, at);
		at += part.length;
	}
	return joined;
}

/** WebCrypto signs r and s in a row; authenticators write them as two integers of ASN.1. */
function toDer(signature: Uint8Array): Uint8Array {
	const integer = (bytes: Uint8Array) => {
		const first = bytes.findIndex((byte) => byte !== 0);
		const trimmed = bytes.slice(first);
		const whole = (trimmed[0] ?? 0) >= 0x80 ? join(Uint8Array.of(0), trimmed) : trimmed;
		return join(Uint8Array.of(2, whole.length), whole);
	};
	const body = join(integer(signature.slice(0, 32)), integer(signature.slice(32)));
	return join(Uint8Array.of(0x30, body.length), body);
}
