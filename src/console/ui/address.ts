/** Addresses of pages: filters and cursors live in their query. */

/** The parameters of an address, each once. */
export type Query = Readonly<Record<string, string>>;

/**
 * An address of the console with its query.
 * @param changes what is set over the query; what is empty or null is left out
 */
export function addressOf(path: string, query: Query, changes: Readonly<Record<string, string | null>> = {}): string {
	const given = Object.entries({ ...query, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== "");
	return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A text as an id that elements can have: of small letters, digits and dashes. */
export function slugOf(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "");
}
