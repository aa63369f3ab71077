import { Md5 } from "ts-md5";

/**
 * The click hash: the MD5 of an auction's id, so that one auction is one click however often its URL is called; of a fresh UUID
 * for a tracking link. 32 hex characters, lower case. It names a click and protects nothing.
 * @param id ASCII
 */
export function clickHashOf(id: string): string {
	return Md5.hashAsciiStr(id);
}
