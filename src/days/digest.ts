/**
 * The digest of a day's records, as docs/publishers/days.md defines it for publishers: each record's line is hashed, and the hashes are
 * added up. So it is the same in whatever order records come, and may be computed piece by piece.
 */
import { formatUsd } from "../lib/money.ts";

/** What the digest has of a record of `clickid_level`. */
export type DigestRecord = {
	/** UTC day. */
	date: string;
	revType: string;
	transactionId: string;
	clickId: string;
	revenueMicros: number;
};

const encoder = new TextEncoder();
const HASH_BITS = 256;
const HEX_DIGITS = HASH_BITS / 4;

export const NO_RECORDS = "0".repeat(HEX_DIGITS);

function lineOf({ date, revType, transactionId, clickId, revenueMicros }: DigestRecord): string {
	return [date, revType, transactionId, clickId, formatUsd(revenueMicros)].join("\t");
}

/** The first byte is the highest. */
function numberOf(hash: ArrayBuffer): bigint {
	const view = new DataView(hash);
	return [0, 8, 16, 24].reduce((number, at) => (number << 64n) | view.getBigUint64(at), 0n);
}

/** @param digest of the records before, {@link NO_RECORDS} without any @returns the digest of those and of these */
export async function addToDigest(digest: string, records: readonly DigestRecord[]): Promise<string> {
	const hashes = await Promise.all(records.map((record) => crypto.subtle.digest("SHA-256", encoder.encode(lineOf(record)))));
	const sum = hashes.reduce((total, hash) => total + numberOf(hash), BigInt(`0x${digest}`));
	return BigInt.asUintN(HASH_BITS, sum).toString(16).padStart(HEX_DIGITS, "0");
}
