/**
 * Reads a query string as URLSearchParams does, but calls into the runtime for none of it and decodes only what is asked for:
 * on the bid path those calls, and user agents nobody reads, cost more than the auction.
 */
export class Query {
	readonly #raw = new Map<string, string>();

	/** @param search the query without its question mark */
	constructor(search: string) {
		for (let start = 0; start < search.length; ) {
			let end = search.indexOf("&", start);
			if (end === -1) end = search.length;
			if (end > start) {
				const equals = search.indexOf("=", start);
				const split = equals === -1 || equals > end ? end : equals;
				const name = decodeText(search.slice(start, split));
				if (!this.#raw.has(name)) this.#raw.set(name, search.slice(split + 1, end));
			}
			start = end + 1;
		}
	}

	/** The value of a parameter as it stands in the query, not decoded; null where there is none. */
	raw(name: string): string | null {
		return this.#raw.get(name) ?? null;
	}

	/** The value of a parameter, the first where it is repeated; null where there is none. */
	get(name: string): string | null {
		const raw = this.#raw.get(name);
		return raw === undefined ? null : decodeText(raw);
	}
}

const PLAIN = /^[A-Za-z0-9_.~:/-]*$/;

/** A name or value of a query or form as it reads. Never throws. */
export function decodeText(text: string): string {
	if (PLAIN.test(text)) return text;
	const spaced = text.replaceAll("+", " ");
	try {
		return decodeURIComponent(spaced).toWellFormed();
	} catch (error) {
		if (!(error instanceof URIError)) throw error;
		// A stray or broken escape: what the standard makes of it.
		return new URLSearchParams(`x=${text}`).get("x") ?? "";
	}
}
