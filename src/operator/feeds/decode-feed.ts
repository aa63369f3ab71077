/** The text of a feed, whatever its encoding: UTF-8, or UTF-16 as spreadsheets save it. */

/** Bytes that tell which. */
const TELLING_BYTES = 4;

/** Decodes chunks as they come. A byte order mark is left out. */
export async function* decodeFeed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	let head: number[] | null = [];
	let decoder = new TextDecoder();
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
