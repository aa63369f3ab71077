import * as v from "valibot";
import { Failure } from "../local/failure.ts";

const place = v.object({ path: v.string(), message: v.string() });

const reportSchema = v.object({
	counts: v.record(v.string(), v.number()),
	book: v.object({ version: v.nullable(v.number()), complete: v.boolean(), shards_written: v.number() }),
	issued: v.array(v.object({ owner: v.string(), kind: v.string(), value: v.string() })),
	warnings: v.array(place),
	warning_count: v.optional(v.number()),
});

const faultsSchema = v.object({ error: v.string(), faults: v.array(place), fault_count: v.number() });

export type ImportReport = v.InferOutput<typeof reportSchema>;
export type ImportFaults = v.InferOutput<typeof faultsSchema>;

/** Reads the answer to an import that was taken over. @throws Failure where it is no such answer */
export function readImportReport(body: unknown): ImportReport {
	return read(reportSchema, body);
}

/** Reads the answer to an import that was refused. @throws Failure where it is no such answer */
export function readFaults(body: unknown): ImportFaults {
	return read(faultsSchema, body);
}

function read<Output>(schema: v.GenericSchema<unknown, Output>, body: unknown): Output {
	const result = v.safeParse(schema, body);
	if (result.success) return result.output;
	throw new Failure(
		`The server's answer is not one this CLI knows: ${JSON.stringify(body).slice(0, 500)}\nIs the server of the same version as the CLI?`,
	);
}

/** Warnings that are shown; more would bury the rest. `--json` has all that the server lists. */
const MAX_WARNINGS = 20;

/** The report as text for people. */
export function describeReport({ counts, book, issued, warnings, warning_count }: ImportReport): string {
	const imported = Object.entries(counts).filter(([, count]) => count > 0);
	const lines =
		imported.length === 0
			? ["The file holds nothing."]
			: ["Imported:", ...imported.map(([name, count]) => `  ${String(count).padStart(8)}  ${name.replaceAll("_", " ")}`)];
	const version = book.version === null ? "not published yet" : `version ${book.version}`;
	lines.push(
		`Campaign book: ${version}${book.complete ? "" : ", not complete: the rest follows within a minute"} (${book.shards_written} shards written)`,
	);
	if (issued.length > 0) {
		lines.push(
			"Issued, and shown only this once:",
			...issued.map(({ owner, kind, value }) => `  ${owner}  ${kind.replaceAll("_", " ")}: ${value}`),
		);
	}
	const count = warning_count ?? warnings.length;
	if (count > 0) lines.push(`${count} ${count === 1 ? "warning" : "warnings"}:`, ...describePlaces(warnings.slice(0, MAX_WARNINGS), count));
	return lines.join("\n");
}

/** A line a place, and one for how many more there are. */
export function describePlaces(places: readonly { path: string; message: string }[], count: number): string[] {
	const lines = places.map(({ path, message }) => `  ${path === "" ? "(the file)" : path}: ${message}`);
	return count > places.length ? [...lines, `  … and ${count - places.length} more`] : lines;
}
