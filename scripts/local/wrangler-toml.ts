/** What wrangler.toml says, however its TOML is written. Pure. */
import { parse, TomlError, type TomlTable } from "smol-toml";
import { Failure } from "./failure.ts";

/** The first lines of the file, and what stands in `[env.<name>]`. */
export type Section = { environment: string | null; table: TomlTable };

/** The file's sections, the one without a name first. @throws Failure where it is no TOML */
export function readSections(toml: string): Section[] {
	const root = parseToml(toml);
	const named = Object.entries(isTable(root.env) ? root.env : {});
	return [{ environment: null, table: root }, ...named.flatMap(([environment, table]) => (isTable(table) ? [{ environment, table }] : []))];
}

/** The tables of an array of them, such as `[[d1_databases]]`; none where there is no such array. */
export function tablesOf(table: TomlTable, name: string): TomlTable[] {
	const value = table[name];
	return Array.isArray(value) ? value.filter(isTable) : [];
}

export function isTable(value: unknown): value is TomlTable {
	return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The whole file. @throws Failure where it is no TOML */
export function parseToml(toml: string): TomlTable {
	try {
		return parse(toml);
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		throw new Failure(`wrangler.toml cannot be read: ${error.message}`);
	}
}
