import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { Failure } from "../local/failure.ts";
import { findLocalOrigin } from "../local/running.ts";

const FOLDER = join(import.meta.dirname, "commands");

/**
 * What a file in `commands/` exports as `command`: it adds itself to the program. A new command is a new file there, and nothing else.
 */
export type OperatorCommand = { name: string; add: (program: Command) => void };

/**
 * Adds the command that was asked for to the program, where a file in `commands/` has its name: most of what a command takes is loading
 * the others. Else, as for help, all of them, by file name.
 */
export async function addCommands(program: Command, asked: string | undefined): Promise<void> {
	const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".ts")).sort();
	const own = `${asked}.ts`;
	if (files.includes(own)) await addFrom(own, program);
	if (program.commands.some((command) => command.name() === asked)) return;
	for (const file of files.filter((file) => file !== own)) await addFrom(file, program);
}

async function addFrom(file: string, program: Command): Promise<void> {
	const module: unknown = await import(pathToFileURL(join(FOLDER, file)).href);
	if (!isCommandModule(module)) throw new Error(`${file} exports no command`);
	module.command.add(program);
}

function isCommandModule(module: unknown): module is { command: OperatorCommand } {
	return (
		typeof module === "object" &&
		module !== null &&
		"command" in module &&
		typeof module.command === "object" &&
		module.command !== null &&
		"add" in module.command
	);
}

/** Options of every command that talks to a server. */
export type ServerOptions = { url?: string; keyFile?: string; json?: boolean };

/** Adds the options of {@link ServerOptions} to a command. */
export function withServerOptions(command: Command): Command {
	return command
		.option("--url <url>", "address of the server (otherwise the one that runs in this folder, else PORT of this machine)")
		.option("--key-file <file>", "file that holds the operator key (otherwise OPERATOR_KEY in the environment, else .dev.vars)")
		.option("--json", "print the server's answer as JSON");
}

/** The values that an option takes, in words. @example oneOf(["clicks", "postbacks", "callbacks"]) // "clicks, postbacks or callbacks" */
export function oneOf(values: readonly string[]): string {
	// Not Intl.ListFormat, whose first use takes a twentieth of what a command does.
	return [values.slice(0, -1).join(", "), ...values.slice(-1)].filter((part) => part !== "").join(" or ");
}

/** The origin in `--url`; the local server's without one. @throws Failure where it is no http(s) address */
export function readOrigin(url: string | undefined): string {
	if (url === undefined) return findLocalOrigin(process.env);
	const parsed = URL.parse(url);
	if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
		throw new Failure(`--url is ${JSON.stringify(url)}, but must be an address such as https://your-network.example`);
	}
	return parsed.origin;
}
