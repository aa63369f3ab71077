import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { JSONParser } from "@streamparser/json";
import { errorCode, Failure } from "../local/failure.ts";

/**
 * Reads a JSON file, or standard input for `-`.
 * @param what the file should be, for messages: "a network file"
 * @throws Failure where it cannot be read, is empty or is no JSON
 */
export async function readJsonInput(file: string, what: string): Promise<{ bytes: Buffer; value: unknown }> {
	const name = file === "-" ? "Standard input" : file;
	const bytes = await readBytes(file, what);
	// A byte order mark is no JSON, but editors put it there.
	const content = bytes.subarray(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
	const text = content.toString("utf8");
	if (text.trim() === "") throw new Failure(`${name} is empty. It should be ${what}.`);
	try {
		return { bytes: content, value: JSON.parse(text) };
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		const line = /\(line \d+/.test(error.message) ? null : findFaultyLine(text);
		throw new Failure(
			`${name} is not valid JSON${line === null ? "" : ` at line ${line}`}: ${error.message}\nCorrect it and try again; nothing was sent.`,
		);
	}
}

/** Reads a file, or standard input for `-`. @throws Failure where it cannot be read */
export async function readBytes(file: string, what: string): Promise<Buffer> {
	if (file === "-") return buffer(process.stdin);
	try {
		return await readFile(file);
	} catch (error) {
		const code = errorCode(error);
		const why =
			code === "ENOENT"
				? "there is no such file"
				: code === "EISDIR"
					? "it is a folder"
					: code === "EACCES"
						? "no permission"
						: String(error);
		throw new Failure(`${file} cannot be read: ${why}. Name ${what}, or - for standard input.`);
	}
}

/** The line at which a text stops being JSON; not every message of JSON.parse says so. */
function findFaultyLine(text: string): number | null {
	let faulty = false;
	const parser = new JSONParser({ paths: ["$.*.*"], keepStack: false });
	parser.onValue = () => {};
	parser.onError = () => {
		faulty = true;
	};
	for (const [index, line] of text.split("\n").entries()) {
		parser.write(`${line}\n`);
		if (faulty) return index + 1;
	}
	return null;
}
