/** Reads entries of a network file by their section's schema, and says what is wrong with them and where. */
import * as v from "valibot";
import type { Fault } from "../../http/errors.ts";
import { describeIssue, placeOf, suggestFor } from "../../http/read-input.ts";
import { isObject } from "../../lib/json.ts";
import type { FileEntry } from "./export-entry.ts";
import { type Entries, SECTIONS, type SectionName } from "./network-file.ts";

const schemas: { [Name in SectionName]: v.GenericSchema<unknown, Entries[Name]> } = SECTIONS;

/** Lays the fields given over those stored: an absent one keeps what is stored, null clears it. What is no entry stays as it is. */
export function mergeEntry(stored: FileEntry | null, given: unknown): unknown {
	return stored === null || !isObject(given) ? given : { ...stored, ...given };
}

/**
 * Reads one entry of a section.
 * @param path where the entry stands in the file, such as `brands[3]`
 */
export function readEntry<Name extends SectionName>(
	section: Name,
	value: unknown,
	path: string,
): { entry: Entries[Name] } | { faults: Fault[] } {
	const schema: v.GenericSchema<unknown, Entries[Name]> = schemas[section];
	const result = v.safeParse(schema, value);
	if (result.success) return { entry: result.output };
	return { faults: result.issues.flatMap((issue) => faultsOf(issue, path, schema)) };
}

/** Reads one of the settings of the whole network. */
export function readSettings(
	schema: v.GenericSchema<unknown, object | null>,
	value: unknown,
	path: string,
): { settings: object | null } | { faults: Fault[] } {
	const result = v.safeParse(schema, value);
	if (result.success) return { settings: result.output };
	return { faults: result.issues.flatMap((issue) => faultsOf(issue, path, schema)) };
}

/**
 * Of what may be a word or an object, an object's faults are those inside it.
 * @param above where the issue's path begins in what `schema` is of
 */
function faultsOf(issue: v.BaseIssue<unknown>, path: string, schema: object, above: readonly unknown[] = []): Fault[] {
	const place = path + placeOf(issue);
	const inside = issue.type === "union" ? (issue.issues ?? []).filter((part) => part.path !== undefined) : [];
	if (inside.length === 0) return [{ path: place, message: `${messageOf(issue)}${suggestFor(issue, schema, above)}` }];
	const keys = [...above, ...(issue.path ?? []).map(({ key }) => key)];
	return inside.flatMap((part) => faultsOf(part, place, schema, keys));
}

function messageOf(issue: v.BaseIssue<unknown>): string {
	return issue.kind === "schema" && issue.received === "undefined" ? "is required" : describeIssue(issue);
}
