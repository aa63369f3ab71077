/** Tells values that nobody filled in: the macro of a template, sent literally. */

/** A macro's name begins with a letter or an underscore: `[123]` and `{5}` may be real values. */
const NAME = "[\\p{L}_][\\p{L}\\p{N}_ .:|-]{0,63}";

const FORMS: readonly [open: string, close: string][] = [
	["{", "}"],
	["{{", "}}"],
	["{{{", "}}}"],
	["${", "}"],
	["#{", "}"],
	["%{", "}"],
	["[", "]"],
	["[[", "]]"],
	["[[[", "]]]"],
	["<", ">"],
	["#", "#"],
	["##", "##"],
	["%", "%"],
	["%%", "%%"],
	["__", "__"],
	["!!!", "!!!"],
	["$", "$"],
	["@@", "@@"],
	["@", "@"],
	["~", "~"],
	["*|", "|*"],
	["$$", "$$"],
	["$(", ")"],
	["$[", "]"],
	["%(", ")s"],
	["{$", "}"],
	["{%", "%}"],
	["{!", "}"],
	["{[", "]}"],
	["[%", "%]"],
	["<%", "%>"],
	["<%=", "%>"],
];

const PLACEHOLDER = new RegExp(
	`^(?:${FORMS.map(([open, close]) => `${escapeSyntax(open)} ?${NAME}${escapeSyntax(close)}`).join("|")})$`,
	"u",
);
/** How some systems write a GUID, which is a value. */
const GUID = /^\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/i;
const ESCAPED_ASCII = /%([0-7][0-9a-f])/gi;
const LONGEST = 300;
/** A value that was encoded when it was sent, or once more on its way. */
const MAX_DECODINGS = 2;

/**
 * Whether a value is an unfilled placeholder: a name in one of the forms above, as it is or percent-encoded. Such a value counts as absent.
 * `(x)` is none: `(none)` and `(not set)` are values.
 * @param raw the value as it was sent, or decoded: `%x%` and its like can only be told from an escape before it is decoded
 */
export function isPlaceholder(raw: string): boolean {
	let text = raw.trim();
	if (!mayBegin(text.charCodeAt(0)) || text.length > LONGEST) return false;
	for (let decodings = 0; ; decodings++) {
		if (PLACEHOLDER.test(text)) return !GUID.test(text);
		if (decodings === MAX_DECODINGS) return false;
		const decoded = text.replace(ESCAPED_ASCII, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))).trim();
		if (decoded === text) return false;
		text = decoded;
	}
}

const BEGINNINGS: ReadonlySet<number> = new Set([...FORMS.map(([open]) => open.charCodeAt(0)), "%".charCodeAt(0)]);

/** Nearly every value is decided by its first character. */
function mayBegin(code: number): boolean {
	return BEGINNINGS.has(code);
}

function escapeSyntax(text: string): string {
	return text.replace(/[{}()[\]|*$]/g, "\\$&");
}
