import { keepShape } from "./kept-shapes.ts";

/**
 * Reads a query string as URLSearchParams does, up to 100 parameters, but calls into the runtime for none of it and decodes only what is asked for:
 * on the bid path those calls, and user agents nobody reads, cost more than the auction. Names beyond ASCII, or with a percent sign of their
 * own, are not looked for.
 */
export class Query {
	readonly #names: string[] = [];
	readonly #values: string[] = [];
	/** Whether there are more parameters than are read. */
	readonly isCut: boolean;

	/** @param search the query without its question mark */
	constructor(search: string) {
		const plainNames = !((search.includes("%") || search.includes("+")) && ESCAPED_NAME.test(search));
		let start = 0;
		while (start < search.length && this.#names.length < MAX_PARAMETERS) {
			let end = search.indexOf("&", start);
			if (end === -1) end = search.length;
			if (end > start) {
				const equals = search.indexOf("=", start);
				const split = equals === -1 || equals > end ? end : equals;
				const name = plainNames ? search.slice(start, split) : decodeName(search.slice(start, split));
				this.#names.push(name);
				this.#values.push(search.slice(split + 1, end));
			}
			start = end + 1;
		}
		this.isCut = start < search.length;
	}

	/** The raw value of a parameter, not decoded; null where there is none. */
	raw(name: string): string | null {
		const at = this.#names.indexOf(name);
		return at === -1 ? null : (this.#values[at] ?? null);
	}

	/** The value of a parameter, the first where it is repeated; null where there is none. */
	get(name: string): string | null {
		const raw = this.raw(name);
		return raw === null ? null : decodeText(raw);
	}

	/** Whether there is a parameter of any of these names. */
	hasAny(names: readonly string[]): boolean {
		// To look one up in a set V8 would find out first whether it has the same text somewhere.
		for (const name of this.#names) if (names.includes(name)) return true;
		return false;
	}

	/** The raw values of a parameter, not decoded, however often it is repeated. */
	rawAll(name: string): string[] {
		return this.#values.filter((_, at) => this.#names[at] === name);
	}
}

/** Four times as many as any endpoint knows: a URL has room for thousands, and each has a name to decode. */
const MAX_PARAMETERS = 100;
/** A name with an escape or a plus in it: nearly no query has one, and many have neither anywhere. */
const ESCAPED_NAME = /(?:^|&)[^=&]*[%+]/;
/** Nearly no value has anything to decode. */
const ESCAPED = /[%+]/;

/** A stray escape, or one that is not of ASCII. */
const OF_NO_NAME = /%(?![0-7][0-9A-Fa-f])/;

/** A name as it reads, or, where it is none that any endpoint knows, as it stands: to find out what it reads costs much. */
function decodeName(name: string): string {
	return OF_NO_NAME.test(name) ? name : decodeText(name);
}

/** A name or value of a query or form as it reads. Never throws. */
export function decodeText(text: string): string {
	if (!ESCAPED.test(text)) return text.toWellFormed();
	// What costs less by a call into the runtime, which reads each as the standard does: to replace many a plus, and to throw.
	if (text.length > MAX_DECODED_HERE || BROKEN.test(text)) return decodeByRuntime(text);
	const spaced = text.replaceAll("+", " ");
	try {
		return decodeURIComponent(spaced).toWellFormed();
	} catch (error) {
		if (!(error instanceof URIError)) throw error;
		return decodeByRuntime(text);
	}
}

const MAX_DECODED_HERE = 1_024;
/** A stray escape. */
const BROKEN = /%(?![0-9A-Fa-f]{2})/;

function decodeByRuntime(text: string): string {
	return new URLSearchParams(`x=${text.replaceAll("&", "%26")}`).get("x") ?? "";
}

/** Whether two queries have the same parameters, in whatever order they stand. */
export function haveSameParameters(one: string, other: string): boolean {
	const sorted = (query: string) => [...new URLSearchParams(query)].map((parameter) => JSON.stringify(parameter)).sort();
	return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

keepShape(new Query("name=value"));
