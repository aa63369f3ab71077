/**
 * Reads a query string as URLSearchParams does, without a call into the runtime for every parameter: on the bid path those
 * calls cost more than the auction. Of a repeated parameter the first counts.
 * @param search the query without its question mark
 */
export function parseQuery(search: string): Map<string, string> {
	const parameters = new Map<string, string>();
	for (let start = 0; start < search.length; ) {
		let end = search.indexOf("&", start);
		if (end === -1) end = search.length;
		if (end > start) {
			const equals = search.indexOf("=", start);
			const split = equals === -1 || equals > end ? end : equals;
			const name = decode(search.slice(start, split));
			if (!parameters.has(name)) parameters.set(name, decode(search.slice(split + 1, end)));
		}
		start = end + 1;
	}
	return parameters;
}

function decode(text: string): string {
	const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
	if (!spaced.includes("%")) return spaced.isWellFormed() ? spaced : spaced.toWellFormed();
	try {
		return decodeURIComponent(spaced).toWellFormed();
	} catch (error) {
		if (!(error instanceof URIError)) throw error;
		// A stray or broken escape: what the standard makes of it.
		return new URLSearchParams(`x=${text}`).get("x") ?? "";
	}
}
