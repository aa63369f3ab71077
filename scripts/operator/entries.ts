/** Entries of the network file on a server: their names on the command line, and one as it stands. */
import * as v from "valibot";
import { segmentOf } from "../../src/lib/path-segment.ts";
import { ENTRY_SECTIONS, type EntrySection, fileEntrySchema } from "../../src/operator/network/entry-answers.ts";
import { Failure } from "../local/failure.ts";
import { callOperator } from "./call-operator.ts";
import { oneOf, type ServerOptions } from "./command.ts";
import { take } from "./take-answer.ts";
import { targetOf } from "./target.ts";

export type Entry = v.InferOutput<typeof fileEntrySchema>;

/** What a command calls an entry. */
export const KINDS = oneOf(ENTRY_SECTIONS.map((section) => section.slice(0, -1)));

/** `campaign` and `campaigns` alike. @throws Failure where it is no kind */
export function sectionOf(kind: string): EntrySection {
	const section = ENTRY_SECTIONS.find((name) => name === kind || name.slice(0, -1) === kind);
	if (section === undefined) throw new Failure(`There is no kind of entry ${JSON.stringify(kind)}. It is ${KINDS}.`);
	return section;
}

export function pathOf(section: EntrySection, id: string): string {
	return `/operator/${section}/${segmentOf(id)}`;
}

/** An entry as it stands, and its ETag. @throws Failure where there is none */
export async function fetchEntry(section: EntrySection, id: string, options: ServerOptions): Promise<{ entry: Entry; etag: string }> {
	const answer = await callOperator(targetOf(options), pathOf(section, id), null);
	return { entry: take(fileEntrySchema, answer), etag: answer.etag ?? "*" };
}

/** The text of a field's value as JSON has it: as its schema takes it, and null for none. */
export function readValue(schema: v.GenericSchema | undefined, text: string): unknown {
	if (text === "" || text === "null") return null;
	if (schema === undefined || v.safeParse(schema, text).success) return text;
	try {
		const value: unknown = JSON.parse(text);
		// JSON can write no such number: null, which would clear the field, would be sent.
		return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY ? text : value;
	} catch (error) {
		if (error instanceof SyntaxError) return text;
		throw error;
	}
}
