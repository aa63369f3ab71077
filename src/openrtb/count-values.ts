/** How much a JSON text holds, told from its bytes: parsing costs by names, values and escapes far more than by length. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The one bit by which braces differ from brackets. */
const BRACKET_TO_BRACE = 0x20;

/** This many escapes of texts cost no more than a value. */
export const ESCAPES_A_VALUE = 8;
/** What no request nests, and what is nested deeper counts as so many. */
const USUAL_DEPTH = 32;
const DEEP_COUNTS = 4;
/**
 * Whether JSON in UTF-8 holds more than `max` names and values below its outermost one: one for each comma, colon and opening bracket
 * outside texts, so that an empty list or object counts twice; an opening bracket deeper than {@link USUAL_DEPTH} counts as four; and
 * {@link ESCAPES_A_VALUE} escapes in texts count as one. Ends after a text, or outside one, as soon as there are more. What is no JSON is
 * counted the same way.
 */
export function holdsMoreValuesThan(json: Uint8Array, max: number): boolean {
	const tooMuch = (max + 1) * ESCAPES_A_VALUE;
	let weight = 0;
	let depth = 0;
	for (let at = 0; at < json.length; at++) {
		const byte = json[at] as number;
		if (byte === QUOTE) {
			at++;
			while (at < json.length && json[at] !== QUOTE) {
				if (json[at] === BACKSLASH) {
					weight++;
					at += 2;
				} else at++;
			}
			if (weight >= tooMuch) return true;
		} else if (byte === COMMA || byte === COLON) {
			weight += ESCAPES_A_VALUE;
			if (weight >= tooMuch) return true;
		} else if ((byte | BRACKET_TO_BRACE) === OPENING_BRACE) {
			weight += ++depth > USUAL_DEPTH ? ESCAPES_A_VALUE * DEEP_COUNTS : ESCAPES_A_VALUE;
			if (weight >= tooMuch) return true;
		} else if ((byte | BRACKET_TO_BRACE) === CLOSING_BRACE) depth--;
	}
	return false;
}
