import { readFileSync } from "node:fs";
import { errorCode, Failure } from "../local/failure.ts";
import { readDevVars } from "../local/secrets.ts";

/**
 * The operator key: from the key file, else OPERATOR_KEY in the environment, else .dev.vars. It is never an argument, which other
 * users of the machine could read.
 */
export function findKey(keyFile: string | undefined): { key: string; keySource: string } {
	if (keyFile !== undefined) return { key: readKeyFile(keyFile), keySource: keyFile };
	const given = process.env.OPERATOR_KEY?.trim();
	if (given) return sendable(given, "OPERATOR_KEY in the environment");
	const stored = readDevVars().OPERATOR_KEY;
	if (stored) return sendable(stored, ".dev.vars");
	throw new Failure(
		"There is no operator key. Name a file that holds it (--key-file FILE), or set OPERATOR_KEY in the environment.\n" +
			"For the local server, `npm start` writes one to .dev.vars.",
	);
}

/** @throws Failure where no header can hold the key */
function sendable(key: string, keySource: string): { key: string; keySource: string } {
	if (/^[\x20-\x7e]+$/.test(key)) return { key, keySource };
	throw new Failure(`The operator key from ${keySource} has line ends, or characters that are not ASCII: it cannot be sent.`);
}

function readKeyFile(file: string): string {
	let text: string;
	try {
		text = readFileSync(file, "utf8").trim();
	} catch (error) {
		throw new Failure(
			`The key file ${file} cannot be read (${errorCode(error) ?? String(error)}). Name a file that holds the operator key and nothing else.`,
		);
	}
	if (/^[\x21-\x7e]+$/.test(text)) return text;
	throw new Failure(`The key file ${file} must hold the operator key on one line, and nothing else.`);
}
