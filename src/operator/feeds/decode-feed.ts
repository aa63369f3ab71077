/** The text of a feed: in UTF-8, in UTF-16 as spreadsheets save it, or in the encoding that is named. */

/** Bytes that tell which. */
const TELLING_BYTES = 4;

/** Whether text can be read in an encoding of this name, as the Encoding Standard has them. */
export function isEncoding(name: string): boolean {
	try {
		return new TextDecoder(name).encoding !== "";
	} catch (error) {
		if (error instanceof RangeError) return false;
		throw error;
	}
}

/** Decodes chunks as they come. A byte order mark is left out. @param encoding null: its first bytes tell */
export async function* decodeFeed(chunks: AsyncIterable<Uint8Array>, encoding: string | null): AsyncGenerator<string> {
	let head: number[] | null = encoding === null ? [] : null;
	let decoder = new TextDecoder(encoding ?? "utf-8");
	for await (const chunk of chunks) {
		let bytes = chunk;
		if (head !== null) {
			if (head.length + chunk.length < TELLING_BYTES) {
				head.push(...chunk);
				continue;
			}
			bytes = new Uint8Array(head.length + chunk.length);
			bytes.set(head);
			bytes.set(chunk, head.length);
			decoder = new TextDecoder(encodingOf(bytes));
			head = null;
		}
		const text = decoder.decode(bytes, { stream: true });
		if (text !== "") yield text;
	}
	const end = decoder.decode(new Uint8Array(head ?? []));
	if (end !== "") yield end;
}

/** A text of ASCII, as column names and JSON begin, has every other byte zero in UTF-16, with a byte order mark or without. */
export function encodingOf([first, second, third, fourth]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
	if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && fourth === 0)) return "utf-16le";
	return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && third === 0) ? "utf-16be" : "utf-8";
}
