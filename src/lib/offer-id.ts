import { Md5 } from "ts-md5";

/**
 * The offer id of a brand in brand lists and reports: the MD5 of its canonical domain, 32 lower-case hex characters. It names
 * the brand for as long as the domain does, and protects nothing.
 * @example offerIdOf("shoes.example") // "091aca8737be855a420a027b75f820c2"
 */
export function offerIdOf(domain: string): string {
	return Md5.hashStr(domain);
}
