/**
 * What the keys that we issue look like: a prefix, 32 characters of chance and a checksum of six, so that a key that nobody issued is
 * recognised without asking the database. The checksum is no secret, and protects nothing else. Keys that an operator chose, and those
 * issued before there were checksums, have none.
 */
import { Md5 } from "ts-md5";
import type { KeyKind } from "./access-enums.ts";
import { toBase64Url } from "./base64-url.ts";
import { newSecret } from "./ids.ts";

const PREFIX: Record<KeyKind, string> = { access_key: "ak", publisher_key: "pk", platform_key: "plk", operator_key: "opk" };
const CHECKSUM_LENGTH = 6;
const ISSUED = new RegExp(`^(?:${Object.values(PREFIX).join("|")})_[A-Za-z0-9_-]{${32 + CHECKSUM_LENGTH}}$`);

/** A new secret of a kind: shown once, stored as its hash. */
export function newKey(kind: KeyKind): string {
	const secret = newSecret(PREFIX[kind]);
	return secret + checksumOf(secret);
}

/** Whether a key looks like one that we issue, and cannot be one: its checksum is wrong. */
export function hasWrongChecksum(key: string): boolean {
	return ISSUED.test(key) && checksumOf(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH);
}

/** @param text ASCII */
function checksumOf(text: string): string {
	return toBase64Url(Uint8Array.fromHex(Md5.hashAsciiStr(text))).slice(0, CHECKSUM_LENGTH);
}
