import type { Readable } from "node:stream";

/**
 * The lines of a stream of UTF-8, ended by a line feed alone or with a carriage return before it. `node:readline` ends them at U+2028 and
 * U+2029, too, which texts in JSON may hold as they are.
 */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
	// The parts of a line that has not ended: put together once, however many there are.
	let begun: string[] = [];
	for await (const chunk of input as AsyncIterable<Uint8Array>) {
		const [rest = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
		begun.push(rest);
		for (const next of others) {
			yield withoutReturn(begun.join(""));
			begun = [next];
		}
	}
	begun.push(decoder.decode());
	const last = begun.join("");
	if (last !== "") yield withoutReturn(last);
}

function withoutReturn(line: string): string {
	return line.endsWith("\r") ? line.slice(0, -1) : line;
}
