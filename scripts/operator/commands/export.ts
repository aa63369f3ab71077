import { writeFile } from "node:fs/promises";
import * as v from "valibot";
import { errorCode, Failure } from "../../local/failure.ts";
import { escapeControls } from "../../local/output.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { fetchEntry, sectionOf } from "../entries.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type ExportOptions = ServerOptions & { output?: string };

/** `export`: the network, a section of it or one entry, as a network file. */
export const command: OperatorCommand = {
	name: "export",
	add(program) {
		withServerOptions(program.command("export"))
			.description("write the network as a network file that imports to no difference; without keys and secrets, which an import keeps")
			.argument("[section]", "one section, such as publishers (otherwise all but products, which come by feeds)")
			.argument("[id]", "one platform, publisher, brand or campaign, with every field; the others leave out defaults")
			.option("--output <file>", "where to write it (otherwise standard output)")
			.addHelpText(
				"after",
				"\nThe version that was read is printed behind it: `import --if-match VERSION` takes the file over only if nothing has changed since.",
			)
			.action(exportFile);
	},
};

async function exportFile(section: string | undefined, id: string | undefined, options: ExportOptions): Promise<void> {
	const { text, version } =
		section !== undefined && id !== undefined ? await entryFile(section, id, options) : await networkFile(section, options);
	if (options.output === undefined) process.stdout.write(escapeControls(text));
	else await save(options.output, text);
	if (version !== null) console.error(`Version ${version}`);
}

async function save(file: string, text: string): Promise<void> {
	try {
		await writeFile(file, text);
	} catch (error) {
		throw new Failure(`The network cannot be written to ${file}: ${errorCode(error) ?? String(error)}.`);
	}
}

async function networkFile(section: string | undefined, options: ExportOptions): Promise<{ text: string; version: string | null }> {
	const query = section === undefined ? "" : `?sections=${encodeURIComponent(section)}`;
	const answer = await callOperator(targetOf(options), `/operator/network${query}`, null);
	take(v.unknown(), answer, { names: { sections: "the section" } });
	return { text: answer.text, version: answer.etag?.replaceAll('"', "") ?? null };
}

async function entryFile(kind: string, id: string, options: ExportOptions): Promise<{ text: string; version: null }> {
	const section = sectionOf(kind);
	const { entry } = await fetchEntry(section, id, options);
	const { brand, ...campaign } = entry;
	const file = section === "campaigns" ? { brands: [{ domain: brand, campaigns: [campaign] }] } : { [section]: [entry] };
	return { text: `${JSON.stringify(file, null, 2)}\n`, version: null };
}
