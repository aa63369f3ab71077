/** Click ids as publishers, platforms and macros make them: anything. */
import fc from "fast-check";

const piece = fc.oneof(
	{ weight: 4, arbitrary: fc.string({ unit: "grapheme-ascii", maxLength: 12 }) },
	{ weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
	{
		weight: 2,
		arbitrary: fc.constantFrom(" ", "\t", "\r\n", "\u0000", "\u0007", "\u007f", "\u0085", "\u00a0", "\u2028", "\ufeff", "\u3000"),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			"\ud800",
			"\udc00",
			"😀",
			"é",
			"%",
			"%20",
			"%00",
			"%7B",
			"%2520",
			"+",
			"&",
			"=",
			"#",
			"{",
			"}",
			"[",
			"]",
			"__",
		),
	},
	{ weight: 1, arbitrary: fc.constantFrom("-", "0", "null", "(not set)", "00000000-0000-0000-0000-000000000000") },
	{ weight: 1, arbitrary: fc.constantFrom("{clickid}", "%7Bcid%7D", "[[cid]]", "%affid%", "#{x}", "__CLICK__", "{\u0001x}") },
	{ weight: 1, arbitrary: fc.integer({ min: 200, max: 1_100 }).map((length) => "a".repeat(length)) },
	{ weight: 1, arbitrary: fc.integer({ min: 300, max: 1_024 }).map((length) => "字".repeat(length)) },
);

export const anyClickId: fc.Arbitrary<string> = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));

/** The ways in which a value is written into a query. */
export const ENCODINGS: readonly ((text: string) => string)[] = [
	(text) => encodeURIComponent(text.toWellFormed()),
	(text) => new URLSearchParams([["x", text]]).toString().slice(2),
	(text) => [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
];
