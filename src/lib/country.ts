/**
 * The code that a country goes by here, ISO 3166-1 alpha-2: it is what Cloudflare tells of visitors, and what is compared. ISO keeps `UK` for
 * the United Kingdom, whose code is `GB`, and many write it.
 * @param code in capitals
 */
export function canonicalCountry(code: string): string {
	return code === "UK" ? "GB" : code;
}
