/** Ids that are the MD5 of something: they name it, and protect nothing. 32 hex characters, lower case. */
import { Md5 } from "ts-md5";

/**
 * The click hash: of an auction's id, so that one auction is one click however often its URL is called; of a fresh UUID for a
 * tracking link.
 * @param id ASCII
 */
export function clickHashOf(id: string): string {
	return Md5.hashAsciiStr(id);
}

/** Tells what postbacks said from one another: 16 hex characters of a content's hash. */
export function contentHashOf(values: readonly (string | number | null)[]): string {
	return Md5.hashStr(JSON.stringify(values)).slice(0, 16);
}

/**
 * The offer id of a brand in brand lists and reports: of its canonical domain, for as long as it has that domain.
 * @example offerIdOf("shoes.example") // "091aca8737be855a420a027b75f820c2"
 */
export function offerIdOf(domain: string): string {
	return Md5.hashStr(domain);
}

/** The id of a conversion as publishers know it: transactions of two platforms may have the same name. */
export function conversionIdOf(platform: string, txnid: string): string {
	return Md5.hashStr(JSON.stringify([platform, txnid]));
}
