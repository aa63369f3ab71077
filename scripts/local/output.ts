/** What commands print: nothing that others have sent is obeyed by a terminal, and nothing is lost unnoticed. */
import { errorCode, Failure, reportFailure } from "./failure.ts";

/** What a terminal obeys, but for ends of lines and tabs, and what turns the order of letters around. */
const OBEYED = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes as JSON does, so that JSON stays what it is. @example escapeControls("a\u001b[2J") // "a\\u001b[2J" */
export function escapeControls(text: string): string {
	return text.replaceAll(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Has whatever is printed escaped, and a command whose output cannot be written end with 1. That nobody reads on, as `head`, is no failure. */
export function guardOutput(): void {
	for (const method of ["log", "error"] as const) {
		const print = console[method].bind(console);
		console[method] = (...printed: unknown[]) => print(...printed.map((one) => (typeof one === "string" ? escapeControls(one) : one)));
	}
	process.stdout.on("error", (error) => {
		const code = errorCode(error);
		if (code !== "EPIPE") reportFailure(new Failure(`Not all of the output could be written (${code ?? String(error)}).`));
	});
}
