/** The secrets of links and sessions: 32 random bytes, of which the database has the SHA-256 alone. */
import { toBase64Url } from "../../lib/base64-url.ts";
import { sha256Hex } from "../../lib/bytes.ts";

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

export type Token = { token: string; hash: string };

export async function newToken(): Promise<Token> {
	const token = toBase64Url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
	return { token, hash: await sha256Hex(token) };
}

/** The hash under which a token is stored; null where the text can be none. */
export async function hashToken(given: string | undefined): Promise<string | null> {
	return given !== undefined && TOKEN.test(given) ? sha256Hex(given) : null;
}
