/** Reads `{"section": [entry, …], …}` from a stream, an entry at a time, so that a file's size costs no memory. */
import { JSONParser, TokenType } from "@streamparser/json";

export type StreamedEntry = {
	section: string;
	index: number;
	/** The name of an entry of a section that is an object, and the place of one of a list; null where a section begins, or is one value. */
	key: string | null;
	value: unknown;
};

/** The stream holds no such document. `path` names the section where there is one to blame. */
export class JsonStreamError extends Error {
	override readonly name = "JsonStreamError";
	readonly path: string;

	constructor(path: string, message: string) {
		super(message);
		this.path = path;
	}
}

/** Sections by what they are; each may be null, too. */
type Shapes = { lists: readonly string[]; objects: readonly string[] };

/**
 * Yields every section, and then every entry of it, in the file's order. A list that is null has no entries. `$schema` may be a text, which says nothing.
 * @param shapes those that are known: what is named otherwise may be anything
 * @throws JsonStreamError where the text is not JSON, its root is no object, or a section that is known is of another shape
 */
export async function* readJsonSections(stream: AsyncIterable<Uint8Array>, shapes: Shapes): AsyncGenerator<StreamedEntry> {
	let entries: StreamedEntry[] = [];
	let failure: JsonStreamError | null = null;
	const parser = new JSONParser({ paths: ["$.*.*"], keepStack: false, stringBufferSize: 64 * 1024 });
	const checkShape = shapeChecker(shapes, (section, value) => entries.push({ section, index: 0, key: null, value }));
	parser.onValue = ({ key, value, stack }) => {
		entries.push({ section: String(stack[1]?.key), index: Number(key), key: String(key), value });
	};
	parser.onToken = ({ token, value }) => {
		failure ??= checkShape(token, value);
	};
	parser.onError = (error) => {
		failure ??= new JsonStreamError("", `is not JSON: ${error.message}`);
	};
	for await (const chunk of stream) {
		if (parser.isEnded) {
			// Behind the closing brace only white space may follow.
			if (chunk.some((byte) => !WHITE_SPACE.has(byte))) throw new JsonStreamError("", "is not JSON: something follows the closing brace");
			continue;
		}
		parser.write(chunk);
		if (failure !== null) throw failure;
		const ready = entries;
		entries = [];
		yield* ready;
	}
	if (!parser.isEnded) throw new JsonStreamError("", "is not JSON: it ends too early");
}

/** By which an editor knows what the file is. */
const SCHEMA = "$schema";

const WHITE_SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Follows the tokens down to the sections: the root must be an object, and each section that is known null, or of its shape. */
function shapeChecker(
	{ lists, objects }: Shapes,
	begin: (section: string, value: object | null) => void,
): (token: TokenType, value: unknown) => JsonStreamError | null {
	let depth = 0;
	let section: string | null = null;
	let awaitsValue = false;
	return (token, value) => {
		if (depth === 0 && token !== TokenType.LEFT_BRACE) return new JsonStreamError("", "must be an object of sections");
		if (depth === 1 && awaitsValue) {
			awaitsValue = false;
			if (section === SCHEMA && (token === TokenType.STRING || token === TokenType.NULL)) return null;
			if (section === null) return null;
			if (objects.includes(section)) {
				if (token !== TokenType.LEFT_BRACE && token !== TokenType.NULL) return new JsonStreamError(section, "must be an object");
			} else if (lists.includes(section) && token !== TokenType.LEFT_BRACKET && token !== TokenType.NULL) {
				return new JsonStreamError(section, "must be a list");
			}
			begin(section, token === TokenType.LEFT_BRACE ? {} : token === TokenType.LEFT_BRACKET ? [] : null);
		} else if (depth === 1 && token === TokenType.STRING) {
			section = String(value);
		} else if (depth === 1 && token === TokenType.COLON) {
			awaitsValue = true;
		}
		if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth++;
		if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth--;
		return null;
	};
}
