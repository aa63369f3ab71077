/** Secrets of the local server: from the environment, else from .dev.vars, where fresh ones are written if there are none. */
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { errorCode, Failure } from "./failure.ts";
import { DEV_VARS } from "./paths.ts";

const SECRETS = {
	OPERATOR_KEY: { bytes: 24, fault: (value: string) => (value.length < 16 ? "must have at least 16 characters" : null) },
	TOKEN_KEYS: {
		bytes: 32,
		fault: (value: string) =>
			value.split(",").every((key) => key.trim().length >= 32)
				? null
				: "must be secrets of at least 32 characters, with commas between them",
	},
} as const;

export type SecretName = keyof typeof SECRETS;

/** What is wrong with the value of a secret; null where nothing is. The Worker would answer 500 to everything. */
export function faultOfSecret(name: SecretName, value: string): string | null {
	return SECRETS[name].fault(value);
}

/** The variables in .dev.vars; none where there is no such file. */
export function readDevVars(file = DEV_VARS): Record<string, string> {
	try {
		const variables = Object.entries(parseEnv(readFileSync(file, "utf8")));
		return Object.fromEntries(variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
	} catch (error) {
		if (errorCode(error) === "ENOENT") return {};
		throw new Failure(`${file} cannot be read: ${String(error)}. Make it readable, or delete it to get fresh secrets.`);
	}
}

/**
 * The variables the local server runs with: those of .dev.vars, and above them the secrets in the environment. A secret that
 * stands in neither is made up and added to .dev.vars, which only its owner can read; one from the environment is never written.
 */
export function prepareVariables(
	environment: NodeJS.ProcessEnv,
	file = DEV_VARS,
): { variables: Record<string, string>; written: SecretName[] } {
	const variables = readDevVars(file);
	const written: SecretName[] = [];
	for (const name of Object.keys(SECRETS) as SecretName[]) {
		const given = environment[name]?.trim();
		if (given) variables[name] = given;
		const value = variables[name];
		if (value === undefined || value === "") {
			variables[name] = randomBytes(SECRETS[name].bytes).toString("base64url");
			written.push(name);
			continue;
		}
		const fault = faultOfSecret(name, value);
		if (fault !== null)
			throw new Failure(`${name} ${given ? "in the environment" : `in ${file}`} ${fault}. Change it, or remove it to get a fresh one.`);
	}
	if (written.length > 0) append(file, written, variables);
	return { variables, written };
}

function append(file: string, names: SecretName[], variables: Record<string, string>): void {
	const before =
		Object.keys(readDevVars(file)).length === 0 ? "# Secrets of the local server. Keep them out of version control.\n" : lines(file);
	writeFileSync(file, before + names.map((name) => `${name}=${variables[name]}\n`).join(""), { mode: 0o600 });
	chmodSync(file, 0o600);
}

function lines(file: string): string {
	const text = readFileSync(file, "utf8");
	return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
