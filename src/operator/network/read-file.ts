/** Reads the entries of a network file. */
import { createHash } from "node:crypto";
import { suggest } from "../../http/suggest.ts";
import { type Given, type ImportRun, SETTING_NAMES, SETTINGS, type SettingName } from "./import-run.ts";
import { SECTIONS, type SectionName } from "./network-file.ts";
import { JsonStreamError, readJsonSections } from "./read-json-stream.ts";

const NOT_A_SECTION = "is not a section of the network file";
const SHAPES = { lists: Object.keys(SECTIONS), objects: SETTING_NAMES };
const SECTION_NAMES = [...SHAPES.lists, ...SHAPES.objects];

/** Yields the entries in the file's order, the network's own settings last. What is no section is warned of, what is no JSON a fault. */
export async function* readFile(run: ImportRun, file: AsyncIterable<Uint8Array>): AsyncGenerator<Given> {
	const unknownSections = new Set<string>();
	const settings: { [Name in SettingName]?: Record<string, unknown> | null } = {};
	try {
		for await (const { section, index, key, value } of readJsonSections(file, SHAPES)) {
			if (isSetting(section)) {
				if (key !== null) settings[section] = { ...settings[section], [key]: value };
				else settings[section] = value === null ? null : {};
			} else if (isSection(section)) {
				if (key !== null) yield { section, value, path: `${section}[${index}]` };
				// Elsewhere null clears: no section is cleared by a word.
				else if (value === null) run.note([{ path: section, message: "must be a list; leave it out to change nothing of it" }]);
			} else if (!unknownSections.has(section)) {
				unknownSections.add(section);
				run.warnings.addMade(() => ({ path: section, message: `${NOT_A_SECTION} and was ignored${suggest(section, SECTION_NAMES)}` }));
			}
		}
	} catch (error) {
		if (!(error instanceof JsonStreamError)) throw error;
		run.note([{ path: error.path, message: error.message }]);
	}
	if (Object.keys(settings).length > 0) yield { section: SETTINGS, value: settings, path: "" };
}

function isSection(name: string): name is SectionName {
	return Object.hasOwn(SECTIONS, name);
}

function isSetting(name: string): name is SettingName {
	return SETTING_NAMES.some((each) => each === name);
}

/** A body as it is read, and the SHA-256 of what was read of it, lower-case hex. */
export function hashWhileRead(body: ReadableStream<Uint8Array>): { bytes: AsyncIterable<Uint8Array>; hash: () => string } {
	const digest = createHash("sha256");
	async function* read(): AsyncGenerator<Uint8Array> {
		for await (const chunk of body) {
			digest.update(chunk);
			yield chunk;
		}
	}
	return { bytes: read(), hash: () => digest.digest("hex") };
}
