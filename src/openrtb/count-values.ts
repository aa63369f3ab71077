/** How much a JSON text holds, told from its bytes: parsing costs by names and values far more than by length. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
/** The one bit by which an opening brace differs from an opening bracket. */
const BRACKET_TO_BRACE = 0x20;

/**
 * Whether JSON in UTF-8 holds more than `max` names and values below its outermost one: one for each comma, colon and opening bracket
 * outside texts, whatever it nests; so an empty list or object counts twice. Ends as soon as there are more. What is no JSON is counted
 * the same way.
 */
export function holdsMoreValuesThan(json: Uint8Array, max: number): boolean {
	let count = 0;
	for (let at = 0; at < json.length; at++) {
		const byte = json[at] as number;
		if (byte === QUOTE) at = endOfText(json, at);
		else if (byte === COMMA || byte === COLON || (byte | BRACKET_TO_BRACE) === OPENING_BRACE) {
			if (++count > max) return true;
		}
	}
	return false;
}

/** Where the text that begins at `start` has its closing quote; past the end where it has none. */
function endOfText(json: Uint8Array, start: number): number {
	let at = start + 1;
	while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
	return at;
}
